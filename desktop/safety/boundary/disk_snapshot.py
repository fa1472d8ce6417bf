"""The disk during one judgement: each name is looked at once, however many paths lead through it.

A judgement of many paths (a command with its words, the lists of the boundary) asks for the same folders again and
again. What is used in the end is opened at the handle, whatever was seen here (R-FS-9).
"""

from __future__ import annotations

import os
import re
import stat
from functools import lru_cache

from desktop.safety.boundary import paths
from desktop.safety.boundary.paths import Identity
from desktop.systems import current

_UNPLAIN = re.compile(r"//|/\.\.?(?:/|\Z)")
_PLAIN = re.compile(r"(?:\.?[\w+@%,=:\-][\w.+@%,=:\-]*/)*\.?[\w+@%,=:\-][\w.+@%,=:\-]*", re.ASCII)
"""What most words are: relative, nothing to be expanded, every part a name."""
MAX_NAMES = 100
_REMEMBERED = 200
"""Characters of the longest text whose absolute path is remembered."""
_UNSEEN = object()


class StatCache:
    """Made for one judgement and forgotten with it; blocking."""

    __slots__ = ("_bases", "_direct", "_gone", "_lines", "_states")

    def __init__(self) -> None:
        self._gone = "\0"
        self._bases: dict[str, bool] = {}
        self._direct: dict[str, bool] = {}
        self._states: dict[str, os.stat_result | None] = {}
        self._lines: dict[str, frozenset[Identity]] = {}

    def status(self, path: str) -> os.stat_result | None:
        """The state of the name itself, no link followed; None where nothing can be seen."""
        found = self._states.get(path, _UNSEEN)
        if found is _UNSEEN:
            found = self._states[path] = None if path.startswith(self._gone) else status_of(path)
        return found  # type: ignore[return-value]

    @property
    def gone(self) -> str:
        """A folder that is not there, with a slash, so that nothing is below it; the last that was looked for."""
        return self._gone

    def resolve(self, path: str, base: str) -> str:
        """The path resolved as ``paths.resolve`` does. Raises PathProblem."""
        if plain := self.plain(path, base):
            return plain
        bare = _bare(path, base)
        return bare if bare and self._without_links(bare) else paths.resolve(path, base)

    def real(self, path: str) -> str:
        """The absolute path with links resolved, as ``paths.real`` gives it."""
        bare = _bare(path, os.sep)
        return bare if bare and self._without_links(bare) else paths.real(path)

    def plain(self, path: str, base: str) -> str:
        """The place of a relative path that leads just where it says, as nearly all of a command's words do, or ""."""
        whole = self._bases.get(base)
        if whole is None:
            whole = base.startswith("/") and base != "/" and _UNPLAIN.search(f"{base}/") is None
            whole = self._bases[base] = current.LINUX and whole
        if not whole or len(path) > paths.MAX_PATH_TEXT or _PLAIN.fullmatch(path) is None:
            return ""
        full = f"{base}/{path}"
        return full if full.count("/") <= MAX_NAMES and self._without_links(full) else ""

    @staticmethod
    def is_deep(path: str) -> bool:
        """Whether a path has more names than are gone through one by one."""
        return path.count("/") > MAX_NAMES

    def _without_links(self, path: str) -> bool:
        """Whether none of the names on the way is a link, so that nothing has to be followed."""
        if path.startswith(self._gone):
            return True
        found = self._direct.get(path)
        if found is None:
            above = path.rpartition("/")[0]
            if above and not self._without_links(above):
                found = False
            else:
                status = self.status(path)
                if status is None and not path.startswith(self._gone):
                    self._gone = f"{path}/"
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


def _bare(path: str, base: str) -> str:
    """The absolute path that a text is, when each of its names is one on the disk; "" where ``paths`` has to think.
    Raises PathProblem."""
    at_home = path.startswith("~")
    home = os.environ.get("HOME", "") if at_home else ""
    if len(path) > _REMEMBERED or (at_home and not (home and path[1:2] in ("", "/"))):
        return _written.__wrapped__(path, base, home)
    return _written(path, base, home)


@lru_cache(maxsize=256)
def _written(path: str, base: str, home: str) -> str:  # noqa: ARG001 - what ``~`` stands for
    """The path made absolute by text alone, for entries of the lists, which are the same each time."""
    full = paths.absolute(path, base)
    bare = full.rstrip("/")
    plain = current.LINUX and not StatCache.is_deep(bare) and not _UNPLAIN.search(full)
    return bare if plain else ""


def status_of(path: str) -> os.stat_result | None:
    """What is there now, links not followed; None where nothing is."""
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None
