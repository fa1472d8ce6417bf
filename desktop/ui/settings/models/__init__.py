"""Settings, Models and keys."""
