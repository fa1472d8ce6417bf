"""With which computers a command talks."""
