"""The results of a chat: their cards in the transcript, and the panel beside it."""
