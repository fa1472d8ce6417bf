"""What runs in the model host: litellm, model streams, and the search for local model servers.

Only ``__main__`` is started, and only in a child; nothing here is imported by the app process.
"""
