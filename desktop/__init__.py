"""Assent: a native desktop app that hosts an LLM agent runtime in its own process."""

__version__ = "0.1.0"
