"""The Chats page: the list of threads, the transcript, and the composer."""
