"""Signing in to a server over HTTP (OAuth 2.1), in the MCP host: nothing of it is parsed in the app's own process."""
