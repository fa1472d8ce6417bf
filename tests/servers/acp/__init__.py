"""Agents of the Agent Client Protocol for the tests: one on the official library, and one that breaks every rule."""
