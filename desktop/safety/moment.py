"""The disk during one judgement: each name is looked at once, however many paths lead through it.

A judgement of many paths (a command with its words, the lists of the boundary) asks for the same folders again and
again. What is used in the end is opened at the handle, whatever was seen here (R-FS-9).
"""

from __future__ import annotations

import os
import re
import stat
import sys

from desktop.safety import paths
from desktop.safety.paths import Identity

_UNPLAIN = re.compile(r"//|/\.\.?(?:/|\Z)")
_PLATFORM: str = sys.platform


class Moment:
    """Made for one judgement and forgotten with it; blocking."""

    __slots__ = ("_lines", "_states")

    def __init__(self) -> None:
        self._states: dict[str, os.stat_result | None] = {}
        self._lines: dict[str, frozenset[Identity]] = {}

    def status(self, path: str) -> os.stat_result | None:
        """Of the name itself, no link followed; None where nothing is to be seen."""
        if path not in self._states:
            try:
                self._states[path] = os.lstat(path)
            except (OSError, ValueError):
                self._states[path] = None
        return self._states[path]

    def resolve(self, path: str, base: str) -> str:
        """As ``paths.resolve``. Raises PathProblem."""
        full = paths.absolute(path, base)
        if _PLATFORM != "linux" or _UNPLAIN.search(full) or not self._without_links(full):
            return paths.resolve(path, base)
        return full.rstrip("/") or "/"

    def _without_links(self, path: str) -> bool:
        """Whether none of the names on the way is a link, so that nothing has to be followed."""
        at = path.find("/", 1)
        while True:
            status = self.status(path if at < 0 else path[:at])
            if status is None:
                return True  # nothing is there, so nothing is below it
            if stat.S_ISLNK(status.st_mode):
                return False
            if at < 0:
                return True
            at = path.find("/", at + 1)

    def line(self, path: str) -> frozenset[Identity]:
        """Identities of a resolved path and of all above it, as far as they exist."""
        if path not in self._lines:
            status = self.status(path)
            own = frozenset(() if status is None else (paths.identity_of(status),))
            above = os.path.dirname(path)
            self._lines[path] = own if above == path else own | self.line(above)
        return self._lines[path]
