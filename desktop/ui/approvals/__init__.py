"""Requests that wait for a person: the inbox, the dialog over the thread, and the activity log."""
