"""Keys in the system's keyring, and keeping them out of everything that is written or said."""
