"""Settings, MCP servers."""
