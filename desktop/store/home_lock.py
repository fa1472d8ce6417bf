"""One Assent a home: a lock that the system lets go of when its process dies, however it dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from desktop.domain.errors import HomeInUse
from desktop.store.failures import from_os

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class HomeLock:
    """``acquire`` before the store is opened, ``release`` after it is closed. Blocks for microseconds."""

    def __init__(self, home: Path) -> None:
        self._path = home / "data" / "in-use"
        self._file: int | None = None

    def acquire(self) -> None:
        """Raises HomeInUse when another process has the home, HomeNotWritable when it cannot be written."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise from_os(error, self._path) from error
        try:
            _lock(file)
        except OSError as error:
            os.close(file)
            raise HomeInUse(
                f"Assent is already running with the home folder {self._path.parent.parent}.",
                next_step="Use the window that is open, or start with another folder: --home DIR.",
            ) from error
        self._file = file

    def release(self) -> None:
        """Let others have the home. Safe to call twice."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def _lock(file: int) -> None:
    """Raises OSError when somebody else holds it."""
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
