"""Text as a person reads it, as it may be shown, and as it is searched."""
