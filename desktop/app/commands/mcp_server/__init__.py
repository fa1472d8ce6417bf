"""``assent mcp``: an MCP server with the skills and agents that a person has chosen, for other programs."""
