"""What was changed in a thread, and undoing it, as a person sees it."""
