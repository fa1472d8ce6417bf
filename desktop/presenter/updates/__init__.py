"""Settings, Updates: how they stand, in words, and what a person can do."""
