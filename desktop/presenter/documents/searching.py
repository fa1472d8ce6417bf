"""What is looked for in the document that is shown, and at which of its places the person is."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.files.documents import FoundPart


class DocumentSearch:
    """``words`` are "" while nothing is looked for."""

    def __init__(self, words: str = "", found: Sequence[FoundPart] = (), near: int = 1) -> None:
        self.words = words
        self._found = tuple(found)
        self._part = next((at for at, one in enumerate(self._found) if one.part >= near), 0)
        self._at = 0

    @property
    def count(self) -> int:
        """How many places there are."""
        return sum(one.count for one in self._found)

    @property
    def place(self) -> int:
        """The number of the one that the person is at, from 1; 0 where there is none."""
        return sum(one.count for one in self._found[: self._part]) + self._at + 1 if self._found else 0

    @property
    def part(self) -> int:
        """The part it stands in; 0 where there is none."""
        return self._found[self._part].part if self._found else 0

    def at_in(self, part: int) -> int:
        """The number of the place among those of a part, from 0; -1 where it is in another."""
        return self._at if part == self.part else -1

    @property
    def line(self) -> int:
        """The line that it stands in."""
        lines = self._found[self._part].lines if self._found else ()
        return lines[min(self._at, len(lines) - 1)] if lines else 1

    def before(self, line: int) -> int:
        """How many places of the part lie before a line: they are not shown where the part begins with it."""
        lines = self._found[self._part].lines if self._found else ()
        return sum(one < line for one in lines)

    def step(self, forward: bool) -> None:
        """On to the next place, or back to the one before; round at the ends."""
        if not self._found:
            return
        self._at += 1 if forward else -1
        if not 0 <= self._at < self._found[self._part].count:
            self._part = (self._part + (1 if forward else -1)) % len(self._found)
            self._at = 0 if forward else self._found[self._part].count - 1
