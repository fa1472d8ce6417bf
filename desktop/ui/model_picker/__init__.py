"""Choosing a model: the list of all of them, what is known of one, and the button that opens it."""
