"""The Chats page without widgets: the open thread, the list of threads, and the composer."""
