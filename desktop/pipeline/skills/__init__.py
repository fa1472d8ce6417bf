"""Calls of skills: where their code runs, what it may ask for, and the middleware around it."""
