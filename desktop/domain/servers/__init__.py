"""What MCP servers offer, ask, and want to be signed in to."""
