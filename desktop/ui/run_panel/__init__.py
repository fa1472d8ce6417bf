"""The Run panel: the agents of a thread's run, beside the thread."""
