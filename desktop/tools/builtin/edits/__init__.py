"""Changes of parts of a text file: finding them, making them, and the version that they are bound to. Pure."""
