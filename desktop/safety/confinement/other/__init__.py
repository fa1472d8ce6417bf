"""Where Linux's ways of holding a process are not: ``sandbox-exec`` on macOS, on Windows nothing that is relied on."""
