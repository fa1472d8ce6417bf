"""Pipes with a name in a folder, to which a program joins that was told the name."""

from __future__ import annotations

import errno
import os
import sys


def make_pipe(path: str | os.PathLike[str]) -> None:
    """Make one that only this person can open. Raises OSError: on Windows always, which has none in folders."""
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, "Windows has no pipes in folders", str(path))
    os.mkfifo(path, 0o600)
