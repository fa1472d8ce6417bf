"""What a command does in a copy of the folders that it may write, before a person takes it over.

``desktop/safety/outcomes`` makes the copies and reads them; tools meet them through the protocols here. Blocking
methods say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import BinaryIO, Literal, Protocol

from desktop.domain.files.changes import FileChange
from desktop.domain.files.copied_folders import CopyKind, LaidCopy
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass

LeftOutKind = Literal["special", "name", "setuid", "linked"]
"""Why something is not taken over as it is: a pipe, socket or device; a name that is no text; a program that would run
as somebody else; several names of one file, which become files of their own."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a command left that cannot be taken over as it is."""

    path: str
    """Where it would be; escaped where it is no text."""
    kind: LeftOutKind
    """Why."""


@dataclass(frozen=True, slots=True)
class LineFigures:
    """How many lines of a file are new and how many are gone, as a person would count them."""

    added: int
    """New lines."""
    removed: int
    """Lines that are gone."""


@dataclass(frozen=True, slots=True)
class ChangeSides:
    """The texts of a file before and after, as far as they can be shown."""

    before: str = ""
    """The real file now; "" where there is none."""
    after: str = ""
    """The file in the copy; "" where there is none."""
    why: str = ""
    """Why they are not shown, as the end of a sentence (``is not text``), or ""."""
    was: str | None = None
    """The real file when the copy was made, where somebody else changed it since and its text was kept."""


@dataclass(frozen=True, slots=True)
class OutcomeReading:
    """What a command did to the files of its copy."""

    changes: tuple[FileChange, ...] = ()
    """All its changes, by path; a folder stands before what is in it."""
    meanwhile: frozenset[str] = frozenset()
    """Those of them whose real file somebody else changed since the copy was made: ``before`` is what it is now."""
    saved_at: Mapping[str, float] = field(default_factory=dict)
    """When that was, by the file's own time, where it is still there."""
    left_out: tuple[LeftOut, ...] = ()
    """What is not taken over."""
    beyond: int = 0
    """How many more entries there are than can be looked at: then nothing of it can be taken over."""
    raised: str = ""
    """Why taking it over is admin, or ""."""
    figures: Mapping[str, LineFigures] = field(default_factory=dict)
    """By path, for texts; others are not shown line by line."""
    uncounted: bool = False
    """Whether there was too much to count the lines of all."""


@dataclass(frozen=True, slots=True)
class CommandTraces:
    """What a command did beside its files, as those say who confine it. Names are the command's own."""

    left: tuple[str, ...] | None = None
    """The processes of it that were alive when it ended, and were ended; None: nobody counted them."""
    hosts: tuple[str, ...] | None = None
    """The computers that it asked for; None: nobody listened."""
    more: bool = False
    """Whether it asked for more of them."""


class NoCopy(Exception):
    """Why no copy can be made here, as a sentence for the request."""


class CommandCopy(LaidCopy, Protocol):
    """A copy for one command. All methods block. Whoever made it drops it."""

    @property
    def kind(self) -> CopyKind:
        """How it is made."""
        ...

    @property
    def made_at(self) -> float:
        """Seconds since the epoch."""
        ...

    def began(self) -> bool:
        """Whether the command started in the copy; if not, nothing of it ran."""
        ...

    def read(self, *, shown: bool = True) -> OutcomeReading:
        """What the command did, once it has ended. Not ``shown``: it was allowed beforehand, so nobody looks at each
        change, and there may be more. Raises ToolFailure for what the disk says."""
        ...

    def traces(self) -> CommandTraces:
        """What else is known of the command, once it has ended."""
        ...

    def look_again(self, reading: OutcomeReading) -> OutcomeReading:
        """The same, if no real file that it is about changed since; else with what they are now."""
        ...

    def open(self, digest: str) -> BinaryIO:
        """Implements ``Contents``: a file as the command left it."""
        ...

    def sides(self, change: FileChange) -> ChangeSides:
        """The texts of a changed file, read anew."""
        ...

    def drop(self) -> None:
        """Remove it. Never raises: what cannot be removed goes at the next start."""
        ...


class CommandCopies(Protocol):
    """Makes copies for commands."""

    def refusal(self, place: WorkPlace, *, grants: bool = True) -> str:
        """Why none can be made for a command there now, as a sentence, or "". Blocks, the first time for some tens of
        milliseconds."""
        ...

    def make(self, place: WorkPlace, *, grants: bool = True, cache: str = "") -> CommandCopy:
        """A new copy of the folders that a command may write. Not ``grants``: without those opened for this session.
        ``cache``: whose cache is copied, too, and never kept. Raises NoCopy. Blocks."""
        ...
