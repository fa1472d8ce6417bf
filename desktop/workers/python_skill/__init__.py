"""The worker of Python code skills that are not the library's: one confined process a call (R-SK-14)."""
