"""How what happens in the runtime reaches the window, and how questions reach the person."""
