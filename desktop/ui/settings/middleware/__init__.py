"""Settings, Middleware."""
