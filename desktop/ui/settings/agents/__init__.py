"""Settings, Agents."""
