"""What undoing would do, as it is shown before it is done; and which changes belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from desktop.domain.files.changes import FileState, KeptChange, folders_above
from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LaterChange:
    """Who changed something since."""

    by: str
    """The id of the change; "": nobody whose change is kept, so a person by hand, or another program."""
    chain: tuple[str, ...]
    """Who asked for it: agent, skills, tool; empty where ``by`` is."""
    at: float
    """When; of what was done by hand the time that the file has, 0 where nobody knows."""


@dataclass(frozen=True, slots=True)
class UndoConflict:
    """Something that stays as it is, because it was changed since."""

    first: int
    """The first line, as the file is now, from 1; 0: the whole file."""
    last: int
    """The last one; smaller than ``first`` where the lines are gone."""
    later: tuple[LaterChange, ...]
    """Who changed it, the first one first."""
    why: str = ""
    """What is the matter where that is no line, as a sentence."""


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """One path in an undo."""

    path: str
    """The place."""
    now: FileState
    """How it is."""
    then: FileState
    """How it is after the undo; the same where nothing is set back."""
    now_text: str | None
    """Its text now; None where it is none, or too long to be shown."""
    then_text: str | None
    """Its text after the undo; None likewise."""
    added: int
    """Lines that come by the undo."""
    removed: int
    """Lines that go."""
    conflicts: tuple[UndoConflict, ...]
    """What stays as it is."""


_COMES_OR_GOES = {"absent", "folder"}


@dataclass(frozen=True, slots=True)
class UndoPreview:
    """What undoing some changes would do, as the files are now."""

    change_ids: tuple[str, ...]
    """The changes that are undone."""
    files: tuple[UndoneFile, ...]
    """The paths that they touched."""

    @property
    def changed(self) -> tuple[UndoneFile, ...]:
        """The files that would be others then, and the folders of which no file in them tells."""
        found = [file for file in self.files if file.now != file.then]
        told = folders_above(file.path for file in found)
        return tuple(one for one in found if one.path not in told or {one.now.kind, one.then.kind} != _COMES_OR_GOES)

    @property
    def does_something(self) -> bool:
        """Whether any file would be another one then."""
        return any(file.now != file.then for file in self.files)

    @property
    def conflicts(self) -> int:
        """How many places stay as they are."""
        return sum(len(file.conflicts) for file in self.files)

    @property
    def standing_on(self) -> tuple[str, ...]:
        """The ids of later changes because of which something stays."""
        found = {later.by: None for file in self.files for one in file.conflicts for later in one.later if later.by}
        return tuple(found)


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """One path of a thread, against its beginning."""

    path: str
    """The place."""
    beginning: FileState
    """How it was before the first change."""
    last: FileState
    """How the last change left it."""
    now: FileState | None
    """How it is; None where that is something else, or was not looked at."""
    now_at: float
    """When it was changed last, where that was not by the last change; else 0."""
    added: int
    """Lines that came since the beginning, or by the changes where that cannot be told."""
    removed: int
    """Lines that went."""
    change_ids: tuple[str, ...]
    """The changes that touched it, the oldest first."""


@dataclass(frozen=True, slots=True)
class ThreadChanges:
    """All that was changed in a thread."""

    records: tuple[KeptChange, ...]
    """The changes, the oldest first."""
    undone: Mapping[str, float]
    """Which of them are undone, and since when."""
    paths: tuple[ChangedPath, ...]
    """What they touched."""
    size: int
    """Bytes that are kept of all threads together."""
    most: int
    """How many may be."""
    days: float
    """For how long."""


def standing(records: Sequence[KeptChange]) -> set[str]:
    """The ids of the changes that are not undone, of calls and of undos."""
    found = {record.change_id for record in records}
    for record in reversed(records):
        if record.change_id in found:
            found -= set(record.undoes)
    return found


def of_agent(records: Sequence[KeptChange], thread_id: str) -> list[str]:
    """The ids of all that an agent changed, and those that worked for it, and that stands."""
    return _standing_calls(records, lambda one: one.origin.thread_id == thread_id or thread_id in one.origin.above)


def of_run(records: Sequence[KeptChange], run_id: str) -> list[str]:
    """The ids of all that a run changed and that stands."""
    return _standing_calls(records, lambda one: one.origin.run_id == run_id)


def since(records: Sequence[KeptChange], number: int) -> list[str]:
    """The ids of what calls changed from this change on and that stands."""
    return _standing_calls(records, lambda one: one.number >= number)


def _standing_calls(records: Sequence[KeptChange], fits: Callable[[KeptChange], bool]) -> list[str]:
    stands = standing(records)
    return [one.change_id for one in records if one.change_id in stands and not one.undoes and fits(one)]
