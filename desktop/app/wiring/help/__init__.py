"""Help wired to the window, and what a report of a problem may say."""
