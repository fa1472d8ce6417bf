"""Settings, Assent for other apps."""
