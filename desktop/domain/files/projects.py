"""Project folders as a person meets them: chosen, listed, looked into."""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ProjectFolder:
    """A folder that somebody named, as the disk is now."""

    given: str
    """As it was named."""
    path: str
    """Where it really is, absolute; "" for what is no path."""
    closed: str = ""
    """Why no thread can work in it, as words after its name; "": one can."""

    @property
    def is_link(self) -> bool:
        """Whether it was named by a link."""
        return bool(self.path) and self.path != self.given


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One of the folders that were used before."""

    folder: ProjectFolder
    """As it is now."""
    threads: int = 0
    """How many chats work in it."""
    used_at: float = 0.0
    """When it was last used, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class FolderOffer:
    """Something that a folder brings with it."""

    kind: str
    """``instructions``, ``skills``, ``agents`` or ``servers``."""
    title: str
    """What it is and how much of it."""
    where: str = ""
    """The file or folder in the project that it stands in."""
    note: str = ""
    """What that means."""


@dataclass(frozen=True, slots=True)
class ProjectLook:
    """A folder before it is used."""

    row: ProjectRow
    """The folder."""
    brought: tuple[FolderOffer, ...] = ()
    """What it brings; nothing of that starts by itself."""


InstructionState = Literal["told", "changed", "new", "too big", "not text", "a link outside", "closed"]
"""``told``: it is as the person saw it. ``changed`` and ``new``: not told until they look. The rest is never told."""


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """AGENTS.md or CLAUDE.md of a project folder, or of a folder in it."""

    name: str
    """Its path in the project."""
    state: InstructionState
    """Whether it is told to models."""
    size: int = 0
    """Bytes."""
    text: str = ""
    """What it says now."""
    digest: str = ""
    """Names exactly this content."""
    before: str | None = None
    """What it said when the person saw it; None: they did not."""
    why: str = ""
    """Why it cannot be told, as words after its name."""
