"""A window of messages on its way to the library, and an answer on its way back: what stands where."""
