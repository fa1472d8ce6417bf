"""Linux and macOS: what both do the same way."""
