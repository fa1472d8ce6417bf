"""Settings, Keyring."""
