"""Readers of OpenDocument: texts, spreadsheets, presentations."""
