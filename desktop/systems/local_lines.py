"""Lines between two programs of one person on one computer, found by a path in a folder that only they can open."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.local_lines import connect, is_too_long, listen, other_end, own_user, reach, streams
else:
    from desktop.systems.posix.local_lines import connect, is_too_long, listen, other_end, own_user, reach, streams

__all__ = ["connect", "is_too_long", "listen", "other_end", "own_user", "reach", "streams"]
