"""Finds files by name and lines by expression in a folder tree, in a process of its own."""
