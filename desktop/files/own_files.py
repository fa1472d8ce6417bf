"""Whether the files of this program are still those that it was started from: a package manager or an installer may
exchange them while it runs. What is in memory goes on; what is started from now on would be of another version.

Loaded before the first paint, so it imports next to nothing.
"""

from __future__ import annotations

import os

from desktop import __file__ as package_file
from desktop.domain.errors import KnownError

_MOST = 4096
"""Bytes of it that are read."""


class OwnFiles:
    """Made at the start. Looks at one file that every version brings anew."""

    def __init__(self, file: str | os.PathLike[str] = package_file) -> None:
        self.file = file
        self._was, self._said = _identity(file), _text(file)

    def exchanged(self) -> KnownError | None:
        """What to tell where they are others by now, or gone. Takes microseconds."""
        if _identity(self.file) == self._was or self._renumbered():
            return None
        return KnownError(
            "Assent's own files were exchanged or removed while it ran, by an update perhaps. This is still the version"
            " before, so nothing new is run: half of it would be of the other one.",
            next_step="Restart Assent. Chats and drafts are kept.",
            code="app.exchanged",
        )

    def _renumbered(self) -> bool:
        """Whether it is the same under another number: some disks, of a network or of a stick, keep none for long, and
        programs that save space put one file in the place of its copy."""
        now = _identity(self.file)
        return bool(now) and now[2:] == self._was[2:] and _text(self.file) == self._said

    def check(self) -> None:
        """Raises KnownError where they are others by now."""
        error = self.exchanged()
        if error is not None:
            raise error


def _identity(file: str | os.PathLike[str]) -> tuple[int, ...]:
    """Of this very file; nothing where it is gone."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _text(file: str | os.PathLike[str]) -> bytes:
    """What it says: its version, among a few words."""
    try:
        with open(file, "rb") as opened:
            return opened.read(_MOST)
    except OSError:
        return b""
