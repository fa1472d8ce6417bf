"""A thread as items to be drawn: from what is stored, and from an answer while it is written."""
