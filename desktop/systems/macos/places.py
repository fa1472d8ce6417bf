"""What macOS says of a place."""

from __future__ import annotations

import fcntl
import os
import sys

if sys.platform != "darwin":
    raise ImportError("for macOS alone")

IGNORES_CASE = True
"""How names are compared where nothing says."""
_GET_PATH, _LONGEST = 50, 1024  # F_GETPATH, PATH_MAX


def marked_caseless(folder: str) -> bool:  # noqa: ARG001 - as on other systems
    """No folder has a mark of its own: a whole volume compares names one way."""
    return False


def kernel_path(descriptor: int) -> str | None:
    """The path that the kernel itself knows for an open descriptor, or None where it does not say."""
    try:
        raw: bytes = fcntl.fcntl(descriptor, _GET_PATH, bytes(_LONGEST))
    except OSError:
        return None
    return os.fsdecode(raw.split(b"\0", 1)[0])
