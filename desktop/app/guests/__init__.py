"""What the app does for programs that come in by the door, a module a kind."""
