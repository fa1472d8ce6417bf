"""Markdown split into blocks while it streams."""
