"""Help: what is read, what is found, what is new, and the report of a problem."""
