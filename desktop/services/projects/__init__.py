"""The folders that threads work in."""
