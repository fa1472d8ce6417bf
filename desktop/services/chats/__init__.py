"""A chat: messages go in, a run answers them, and what agents did stays to be looked at."""
