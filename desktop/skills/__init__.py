"""Skill files: their format, names, and reading a library of them with problems reported."""
