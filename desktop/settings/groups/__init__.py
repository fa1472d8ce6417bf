"""The settings, one module a group. A key's first part is its module: ``tools.bash.timeout_s`` is in ``tools.py``."""
