"""What can be asked of the disk on this system: rights of an open file, all that waits to be written, long names."""

from __future__ import annotations

import os
import sys

_LEADS_ELSEWHERE = 0x20000000
"""In the tag of a place on a disk of Windows: its name stands for another place."""


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


def is_junction(path: str | os.PathLike[str]) -> bool:
    """Whether a place only leads to another one although Python takes it for a folder of its own: on Windows a
    junction, or a disk that is mounted there. Its own content is elsewhere, and nobody's to remove with it."""
    if sys.platform != "win32":
        return False
    try:
        return bool(os.lstat(path).st_reparse_tag & _LEADS_ELSEWHERE)
    except OSError:
        return False
