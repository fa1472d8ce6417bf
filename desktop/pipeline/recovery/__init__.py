"""Calls of which an earlier process may have made some already."""
