"""Agent definitions as files: read, checked, written, and found by name."""
