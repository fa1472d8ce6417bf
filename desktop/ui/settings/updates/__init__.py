"""Settings, Updates."""
