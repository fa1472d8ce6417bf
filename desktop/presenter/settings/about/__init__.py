"""Settings, About."""
