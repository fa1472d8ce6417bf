"""The pipes that a process was started with, or that it opened by a descriptor, as asyncio's streams."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.inherited_pipes import reader_of, writer_of
else:
    from desktop.systems.posix.inherited_pipes import reader_of, writer_of

__all__ = ["reader_of", "writer_of"]
