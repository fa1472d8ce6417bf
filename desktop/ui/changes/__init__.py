"""What was changed in a thread, beside it."""
