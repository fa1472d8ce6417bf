"""Folders of this process among the system's temporary files. Each is held while it is used, so that a later start
takes away what an Assent that was killed left there, and touches nothing that one in use still needs.

Blocks for milliseconds, but for what a folder holds when it is removed."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import time
from types import TracebackType
from typing import Self

from desktop.files.holding import alone, hold
from desktop.files.removing import remove_tree
from desktop.systems.people import is_ours

PREFIX = "assent-run-"
"""How their names begin."""
_MADE_NAME = re.compile(rf"{PREFIX}[a-z]+-[a-z0-9_]{{8}}")
"""A whole name as it is made here. Together with the rights of such a folder it tells them from what a person keeps
beside them, who may well call a folder ``assent-run-notes``."""
_MADE_MODE = 0o700
FRESH_S = 60.0
"""Seconds for which a folder is left alone: another Assent may have made it and not hold it yet."""


class TemporaryFolder:
    """A new, private folder. ``use`` is a word of its name, in small letters, for whoever looks what lies there."""

    def __init__(self, use: str) -> None:
        """Raises OSError."""
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{use}-"))
        self._held: int | None = None
        with contextlib.suppress(OSError):
            self._held = hold(self.path)

    def close(self) -> None:
        """Remove it with all that is in it; once removed, this does nothing."""
        remove_tree(self.path)
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
        if _MADE_NAME.fullmatch(entry.name):
            with contextlib.suppress(OSError):
                _remove(entry, before)


def _remove(entry: os.DirEntry[str], before: float) -> None:
    found = entry.stat(follow_symlinks=False)
    made_here = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == _MADE_MODE and is_ours(found.st_uid)
    if made_here and found.st_mtime < before:
        with alone(entry.path):
            remove_tree(entry.path)
