"""Where Linux's ways of holding a process are not: ``sandbox-exec`` on macOS, and on Windows nothing yet."""
