"""Settings, Filesystem boundaries."""
