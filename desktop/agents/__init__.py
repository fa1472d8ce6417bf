"""The round loop and what a model gets to see of a conversation."""
