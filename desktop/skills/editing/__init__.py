"""Editing skill files: change one key and leave every other byte as it was; save without losing anybody's work."""
