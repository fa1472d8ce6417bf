"""Which names a ``.gitignore`` leaves out, and which a search's globs take: the last line that fits decides.

The lines come from files that anybody may have written; they are matched in linear time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import re2

from desktop.workers.file_search import limits
from desktop.workers.file_search.globs import GlobLine, braces, read_glob, read_line

FILE_NAME = ".gitignore"


class GlobList:
    """Lines in their order."""

    def __init__(self, lines: Iterable[GlobLine]) -> None:
        self._lines = list(lines)
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1  # bytes
        options.dot_nl, options.never_nl, options.log_errors = True, False, False
        options.max_mem = limits.EXPRESSION_MEMORY
        self._set = re2.Set.FullMatchSet(options)
        for line in self._lines:
            self._set.Add(b"(?s)" + line.expression)
        if self._lines:
            self._set.Compile()

    @classmethod
    def of_file(cls, data: bytes) -> GlobList:
        """The list in the bytes of a ``.gitignore``."""
        lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")[: limits.IGNORE_LINES]
        return cls(found for line in lines if (found := read_line(line)) is not None)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def decides(self, path: str, *, is_folder: bool) -> bool | None:
        """What the last line that fits says of a path: False where it begins with ``!``, else True; None where none
        fits."""
        found = self._set.Match(_bytes(path)) if self._lines else None
        if not found:
            return None
        fitting = [at for at in found if is_folder or not self._lines[at].folders_only]
        return not self._lines[max(fitting)].negated if fitting else None


class WantedPaths:
    """The globs of a search: ``*.py``, ``src/**``, ``!*.min.js``. Without one that takes files, all are taken."""

    def __init__(self, globs: Sequence[str]) -> None:
        lines = [line for glob in globs for line in _lines_of(glob)]
        self._list = GlobList(lines)
        self._all = all(glob.startswith("!") for glob in globs)

    def takes(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether a file at this path, from the folder of the search on, is looked at."""
        if not self._list:
            return self._all
        found = self._list.decides(path, is_folder=is_folder)
        return self._all if found is None else found


def _lines_of(glob: str) -> Iterable[GlobLine]:
    negated = glob.startswith("!")
    for one in braces(glob.removeprefix("!").removeprefix("./")):
        found = read_glob(_bytes(one), negated=negated)
        if found is not None:
            yield found


def _bytes(path: str) -> bytes:
    data = os.fsencode(path)
    return data.replace(b"\\", b"/") if os.sep != "/" else data
