"""The YAML at the head of a skill file, with the place of every value."""
