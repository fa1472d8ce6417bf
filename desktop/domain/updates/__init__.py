"""New versions of Assent: their numbers, and what each may do. Pure."""
