"""Agents that are written in code: their place in the run, and what they do."""
