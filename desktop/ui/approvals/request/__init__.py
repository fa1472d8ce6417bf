"""One request: what a call will do, and its answers."""
