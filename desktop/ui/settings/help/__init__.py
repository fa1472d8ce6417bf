"""Settings, Help."""
