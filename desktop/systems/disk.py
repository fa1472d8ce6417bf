"""What can be asked of the disk on this system: rights of an open file, all that waits to be written, long names."""

from __future__ import annotations

import os
import sys


def set_mode(descriptor: int, mode: int) -> None:
    """The rights of an open file; nothing on Windows, where its folder says who may do what. Raises OSError."""
    if sys.platform != "win32":
        os.fchmod(descriptor, mode)


def sync_all() -> None:
    """All that waits is on the disks. Windows has no such call for a person's program: there each file was written
    down by itself. Blocks."""
    if sys.platform != "win32":
        os.sync()


def longest_name(folder: str) -> int:
    """Bytes of the longest name there (Windows: units of UTF-16, of which no character has more than bytes)."""
    if sys.platform == "win32":
        return 255
    return os.pathconf(folder, "PC_NAME_MAX")
