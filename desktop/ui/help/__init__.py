"""The Help panel at the right of the window, and the report of a problem."""
