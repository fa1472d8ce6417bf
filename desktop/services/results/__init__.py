"""Results of a chat: which there are, their versions, and opening them in a process of their own."""
