"""Folders of this process among the system's temporary files. Each is held while it is used, so that a later start
takes away what an Assent that was killed left there, and touches nothing that one in use still needs.

Blocks for milliseconds, but for what a folder holds when it is removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from types import TracebackType
from typing import Self

from desktop.files.holding import alone, hold
from desktop.systems.people import is_ours

PREFIX = "assent-run-"
"""How their names begin, which is all that tells them from what other programs keep beside them."""
FRESH_S = 60.0
"""Seconds for which a folder is left alone: another Assent may have made it and not hold it yet."""


class TemporaryFolder:
    """A new, private folder. ``use`` is a word of its name, for whoever looks what lies there."""

    def __init__(self, use: str) -> None:
        """Raises OSError."""
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{use}-"))
        self._held: int | None = None
        with contextlib.suppress(OSError):
            self._held = hold(self.path)

    def close(self) -> None:
        """Remove it with all that is in it; once removed, this does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def remove_left_behind(fresh_s: float = FRESH_S) -> None:
    """Take away those of this person that no process holds any more. Where folders cannot be held, all stay."""
    try:
        entries = list(os.scandir(tempfile.gettempdir()))
    except OSError:
        return
    before = time.time() - fresh_s
    for entry in entries:
        if entry.name.startswith(PREFIX):
            with contextlib.suppress(OSError):
                _remove(entry, before)


def _remove(entry: os.DirEntry[str], before: float) -> None:
    found = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode) and is_ours(found.st_uid) and found.st_mtime < before:
        with alone(entry.path):
            shutil.rmtree(entry.path, ignore_errors=True)
