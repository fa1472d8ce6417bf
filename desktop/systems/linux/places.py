"""What Linux says of a place."""

from __future__ import annotations

import fcntl
import os
import struct
import sys

if sys.platform != "linux":
    raise ImportError("for Linux alone")

IGNORES_CASE = False
"""How names are compared where nothing says."""
_GET_FLAGS, _CASEFOLD = 0x80086601, 0x40000000  # FS_IOC_GETFLAGS, FS_CASEFOLD_FL


def marked_caseless(folder: str) -> bool:
    """Whether a folder of its own has the mark (ext4, f2fs, tmpfs) that its names are compared without case."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        raw: bytes = fcntl.ioctl(descriptor, _GET_FLAGS, bytes(8))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return bool(struct.unpack("q", raw)[0] & _CASEFOLD)


def kernel_path(descriptor: int) -> str | None:
    """The path that the kernel itself knows for an open descriptor, or None where it does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
