"""Connections to what asks other computers (models, searches): tried before they are kept, changed, deleted."""
