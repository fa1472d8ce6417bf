"""A lock on an open file that ends with its process, however that ends; and reading and writing at a place of it."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.file_lock import ask, read_at, share, take, write_at
else:
    from desktop.systems.posix.file_lock import ask, read_at, share, take, write_at

__all__ = ["ask", "read_at", "share", "take", "write_at"]
