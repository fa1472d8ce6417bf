"""The round loop and what a model gets to see of a conversation (semantics.md 21, 23)."""
