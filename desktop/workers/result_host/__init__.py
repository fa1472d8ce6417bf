"""Reads and draws what the calls of a chat wrote, in a process of its own that reaches nothing."""
