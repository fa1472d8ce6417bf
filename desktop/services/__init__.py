"""What a person can do, and what happens for it: one room a subject; below them stand the agents that work."""
