"""Looking for files and lines in a whole tree: where the boundary lets a search go, and what it says of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, PathVerdict


@dataclass(frozen=True, slots=True)
class SearchArea:
    """One tree, or one file, at one moment."""

    root: str
    """Absolute, with every link followed."""
    top: str
    """The allowed folder that holds it."""
    closed: tuple[str, ...] = ()
    """Paths below it that are closed."""
    closed_objects: tuple[tuple[int, int], ...] = ()
    """Device and inode of what is closed, whatever it is called there."""
    left_out: bytes = b""
    """What the person has git leave out everywhere, as such a list is written."""


@dataclass(frozen=True, slots=True)
class FoundPath:
    """What a search came to. ``device`` and ``inode`` are those of the file that it read; None: it read none."""

    path: str
    """Absolute."""
    device: int | None = None
    inode: int | None = None


class SearchBoundary(Protocol):
    """The boundary for what goes through a tree by itself. Every method but ``within`` blocks."""

    def within(self, place: WorkPlace) -> SearchBoundary:
        """The same for calls that are made there."""
        ...

    def explain(self, path: str, access: Access) -> PathVerdict:
        """Judge the root."""
        ...

    def area(self, path: str) -> SearchArea:
        """Where a search from here may go. Raises BoundaryViolation, and ToolFailure where nothing is."""
        ...

    def vouched(self, found: Sequence[FoundPath]) -> list[bool]:
        """Whether each may be shown: it lies where it seems to, is the file that was read, and may be read."""
        ...
