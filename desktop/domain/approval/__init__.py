"""How grave a call is, what a person is asked of it and says, and what was written down of that."""
