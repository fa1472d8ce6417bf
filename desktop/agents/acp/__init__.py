"""The provider of agents of other makers: a turn of a chat runs in their program, and what they ask for is a call."""
