"""Help in the app: its pages, a search in them, what is new, and the report of a problem."""
