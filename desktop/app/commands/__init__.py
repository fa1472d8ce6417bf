"""Commands without a window: ``run``, ``--check``, ``audit-check``."""
