"""YAML as a text: read with the place of each value, under limits, and changed by one key with every other byte kept.

Importing this room is quick; PyYAML (40 ms, 1.4 MB) is loaded by the first text that needs it: use a thread.
"""
