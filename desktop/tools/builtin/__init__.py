"""The tools that come with Assent: files and ``bash``."""
