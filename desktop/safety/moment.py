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
MAX_NAMES = 100
_UNSEEN = object()
_PLATFORM: str = sys.platform


class Moment:
    """Made for one judgement and forgotten with it; blocking."""

    __slots__ = ("_direct", "_lines", "_states")

    def __init__(self) -> None:
        self._direct: dict[str, bool] = {}
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
        bare = full.rstrip("/")
        plain = _PLATFORM == "linux" and bare and not self.is_deep(bare) and not _UNPLAIN.search(full)
        return bare if plain and self._without_links(bare) else paths.resolve(path, base)

    @staticmethod
    def is_deep(path: str) -> bool:
        """Whether a path has more names than are gone through one by one."""
        return path.count("/") > MAX_NAMES

    def _without_links(self, path: str) -> bool:
        """Whether none of the names on the way is a link, so that nothing has to be followed."""
        found = self._direct.get(path)
        if found is None:
            above = path.rpartition("/")[0]
            if above and not self._without_links(above):
                found = False
            elif above and self._states.get(above, _UNSEEN) is None:
                self._states[path], found = None, True  # nothing is there, so nothing is below it
            else:
                status = self.status(path)
                found = status is None or not stat.S_ISLNK(status.st_mode)
            self._direct[path] = found
        return found

    def line(self, path: str) -> frozenset[Identity]:
        """Identities of a resolved path and of all above it, as far as they exist."""
        if self.is_deep(path):
            return frozenset(paths.existing_identities(path))
        if path not in self._lines:
            status = self.status(path)
            own = frozenset(() if status is None else (paths.identity_of(status),))
            above = os.path.dirname(path)
            self._lines[path] = own if above == path else own | self.line(above)
        return self._lines[path]
