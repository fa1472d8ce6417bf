"""What calls change of a person's files: states, changes, where they come from, and who carries them out or writes them
down.

A change set says of each path how it was and how it shall be; of a rename that is two changes. Paths are absolute and
have no link above their last part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from desktop.domain.safety import GuardedFiles, WriteOutcome
    from desktop.domain.tools import ToolCallContext

StateKind = Literal["absent", "file", "folder", "link"]


@dataclass(frozen=True, slots=True)
class FileState:
    """What is at a path, as far as it counts for undoing: two equal states are the same for a person."""

    kind: StateKind
    """What it is."""
    mode: int = 0
    """The rights of a file or folder, as ``stat.S_IMODE`` gives them; 0 for the others."""
    size: int = 0
    """Bytes of a file."""
    digest: str = ""
    """SHA-256 of a file's content, in hex."""
    target: str = ""
    """Where a link leads, as it is written in it."""


ABSENT = FileState("absent")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path, before and after."""

    path: str
    """Absolute; no part above the last one is a link."""
    before: FileState
    """How it was."""
    after: FileState
    """How it is to be, or was when the call was over."""
    renamed_from: str = ""
    """Where the content was before, for whoever shows it; that place has a change of its own."""


def folders_above(paths: Iterable[str]) -> set[str]:
    """Every folder in which one of the paths lies, however deep. A folder that came or went with what is in it is not
    counted beside that."""
    found = set[str]()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


@dataclass(frozen=True, slots=True)
class ChangeOrigin:
    """Whose change it is."""

    thread_id: str = ""
    """The thread in which the agent works whose call it was."""
    above: tuple[str, ...] = ()
    """The threads of those that this agent works for, the person's own first."""
    run_id: str = ""
    """The run."""
    call: str = ""
    """The call's name in the run's log."""
    call_id: str = ""
    """The call's id in the thread."""
    chain: tuple[str, ...] = ()
    """Who asked: agent, skills, tool."""
    project: str = ""
    """The project folder of the call, or ""."""
    summary: str = ""
    """What the call is about, such as a command; "" where its files say enough."""
    asked: bool = False
    """Whether a person was asked about the call."""


@dataclass(frozen=True, slots=True)
class ChangeConflict:
    """Why a change was not made: the place is not as the change set says it was. Nothing at all was changed."""

    path: str
    """The place."""
    expected: FileState
    """How it should have been."""
    found: FileState | None
    """How it is; None where that cannot be read or is nothing that a change can name, such as a pipe."""
    why: str
    """What is the matter, as a sentence."""


MOST_KEPT = 20_000
"""Changes of one call that are kept for undoing; of one with more, nothing is."""
TOO_MANY = "these are more files than are kept for undoing"
NotKept = Literal["", "too big", "too many", "a key", "no room", "unreadable"]
"""Why the content of a file was not kept, so that its change cannot be undone."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One change of a kept record, with what a list says of it."""

    change: FileChange
    """The change."""
    added: int = 0
    """Lines that came; 0 where it is no text."""
    removed: int = 0
    """Lines that went."""
    not_kept: NotKept = ""
    """Why its content was not kept; "": it was, or there is none."""


ChangePhase = Literal["begun", "done"]


@dataclass(frozen=True, slots=True)
class KeptChange:
    """What one call, or one undo, changed, as it is kept."""

    change_id: str
    """Its id."""
    at: float
    """When, in seconds since the epoch."""
    files: tuple[ChangedFile, ...]
    """What it changed, by path."""
    origin: ChangeOrigin
    """Whose it is."""
    undoes: tuple[str, ...] = ()
    """The ids of what it undid; empty: a call did it."""
    phase: ChangePhase = "done"
    """``begun``: it was about to be made when it was last heard of."""
    kept: bool = True
    """Whether the contents are still there; they go after some time, and where there is no room."""
    number: int = 0
    """Its place in the order of all changes."""


class Contents(Protocol):
    """Gives the bytes of the files of a change set."""

    def open(self, digest: str) -> BinaryIO:
        """The content with this SHA-256, to be read once. Blocks. Raises KnownError where it is not there."""
        ...


class ChangeApplier(Protocol):
    """Makes all the changes of a set or none, also over the end of the process. Every method blocks."""

    def apply(self, changes: Sequence[FileChange], contents: Contents) -> tuple[ChangeConflict, ...]:
        """Make the changes; no conflicts: all are made, any: none is. Raises BoundaryViolation for a path that may not
        be written, and ToolFailure for what the disk says; then nothing was changed, either."""
        ...


class ChangeRecorder(Protocol):
    """Keeps what calls change, so that it can be undone on a later day: what was there is on the disk before anything
    is written. Everything that writes a person's files for a call goes through it."""

    async def write(
        self, files: GuardedFiles, path: str, data: bytes, *, expected: str | None, context: ToolCallContext
    ) -> WriteOutcome:
        """Replace a file's content at once, as ``files.write_atomic``. Raises what that raises."""
        ...

    async def commit(
        self, changes: Sequence[FileChange], contents: Contents, context: ToolCallContext, summary: str = ""
    ) -> tuple[ChangeConflict, ...]:
        """Make all the changes or none, as ``ChangeApplier.apply``. Raises what that raises."""
        ...

    async def who_left(self, states: Mapping[str, FileState]) -> Mapping[str, tuple[str, ...]]:
        """Whose calls left these paths as they are: the chain of each; () where no call did."""
        ...
