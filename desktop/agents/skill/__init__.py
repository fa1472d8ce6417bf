"""The library's ``agent`` skill and its provider: what an agent may use, and what it has promised."""
