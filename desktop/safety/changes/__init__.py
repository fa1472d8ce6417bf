"""Changes of a person's files that are made whole or not at all, and undone."""
