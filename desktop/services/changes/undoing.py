"""What undoing would make of each file: pure, given what was kept and how the files are now.

The changes of a file are taken out from the newest to the oldest. Where the file is just as a change left it, it gets
what it was before; where its text went on since, the change's lines are taken out where nobody touched them, and every
place that stays is named, with who changed it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from desktop.domain.files.changes import ChangedFile, FileState, KeptChange
from desktop.domain.files.undo import LaterChange, UndoConflict
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.services.changes.lines import Hunk, LeftLines, hunks, lines_of, take_out, touches

Read = Callable[[str], bytes | None]
"""The content of a digest; None where it is not kept, or not what it was."""


@dataclass(frozen=True, slots=True)
class AtPath:
    """What is at a path."""

    state: FileState
    """Its state."""
    content: bytes | None
    """What a file holds; None where it cannot be read, or is too long."""
    at: float = 0.0
    """When it was changed last."""


@dataclass(frozen=True, slots=True)
class FileUndo:
    """What is to become of a path."""

    path: str
    """The place."""
    now: AtPath
    """How it is."""
    then: AtPath
    """How it is to be."""
    conflicts: tuple[UndoConflict, ...]
    """What stays."""


class FileHistory:
    """The changes of one path from the oldest one that is undone on, of whatever thread, each with its record."""

    def __init__(
        self, path: str, records: Sequence[tuple[KeptChange, ChangedFile]], undone: frozenset[str], read: Read
    ) -> None:
        self._path = path
        self._undone = undone
        self._read = read
        self._records = records

    def undo(self, now: AtPath) -> FileUndo:
        """Take out all that is to be undone."""
        found, conflicts = now, list[UndoConflict]()
        for number in range(len(self._records) - 1, -1, -1):
            if self._records[number][0].change_id in self._undone:
                found, left = self._without(number, found)
                conflicts += left
        return FileUndo(self._path, now, found, tuple(conflicts))

    def _without(self, number: int, found: AtPath) -> tuple[AtPath, list[UndoConflict]]:
        record, file = self._records[number]
        before, after = file.change.before, file.change.after
        if found.state == before:
            return found, []
        if why := _cannot(record, file):
            return found, [UndoConflict(0, 0, (), why)]
        if found.state == after:
            content = self._read(before.digest) if before.kind == "file" else b""
            if content is None:
                return found, [UndoConflict(0, 0, (), _GONE)]
            return AtPath(before, content), []
        if before.kind == after.kind == found.state.kind == "file":
            return self._merged(number, found, before, after)
        return found, [UndoConflict(0, 0, self._later(number, found))]

    def _merged(
        self, number: int, found: AtPath, before: FileState, after: FileState
    ) -> tuple[AtPath, list[UndoConflict]]:
        """The text without the change, line by line; and its rights."""
        conflicts = list[UndoConflict]()
        mode = found.state.mode
        if before.mode != after.mode:
            if mode == after.mode:
                mode = before.mode
            elif mode != before.mode:
                conflicts.append(UndoConflict(0, 0, self._later(number, found), "Its rights were changed again."))
        state, content = found.state, found.content
        if found.state.digest == after.digest:
            state, content = before, self._read(before.digest)
            if content is None:
                return found, [UndoConflict(0, 0, (), _GONE)]
        elif before.digest not in (after.digest, found.state.digest):
            texts = self._texts(before, after, content)
            if texts is None:
                return found, [*conflicts, UndoConflict(0, 0, self._later(number, found))]
            taken = take_out(*texts)
            conflicts += [self._conflict(number, found, left) for left in taken.left]
            content = b"".join(taken.lines)
            state = FileState("file", mode, len(content), hashlib.sha256(content).hexdigest())
        return AtPath(replace(state, mode=mode), content, found.at), conflicts

    def _texts(
        self, before: FileState, after: FileState, content: bytes | None
    ) -> tuple[list[bytes], list[bytes], list[bytes]] | None:
        """The lines before, after and now; None where one of them is no text or not kept."""
        found = list[list[bytes]]()
        for one in (self._read(before.digest), self._read(after.digest), content):
            lines = None if one is None else lines_of(one)
            if lines is None:
                return None
            found.append(lines)
        return found[0], found[1], found[2]

    def _conflict(self, number: int, found: AtPath, left: LeftLines) -> UndoConflict:
        later = self._later(number, found, left.change)
        return UndoConflict(left.first, left.last, later)

    # -- who changed it since -----------------------------------------------------------------------------------------

    def _later(self, number: int, now: AtPath, lines: Hunk | None = None) -> tuple[LaterChange, ...]:
        """Who changed these lines of what a change left, or anything of it, since."""
        named = list[LaterChange]()
        region = lines
        for step in self._steps(number, now):
            touched = True
            if lines is not None:
                region, touched = _followed(region, step, self._read)
            if touched and step.later.by not in self._undone:
                named.append(step.later)
        return tuple(named)

    def _steps(self, number: int, now: AtPath) -> Iterator[_Step]:
        """What happened to the file after a change, one step after the other; between two changes that do not follow
        each other somebody else was at work."""
        state = self._records[number][1].change.after
        for record, file in self._records[number + 1 :]:
            if file.change.before != state:
                yield _Step(state, file.change.before, LaterChange("", (), 0.0))
            later = LaterChange(record.change_id, record.origin.chain, record.at)
            yield _Step(file.change.before, file.change.after, later)
            state = file.change.after
        if state != now.state:
            yield _Step(state, now.state, LaterChange("", (), now.at), now.content)


@dataclass(frozen=True, slots=True)
class _Step:
    """A file became another one."""

    before: FileState
    after: FileState
    later: LaterChange
    content: bytes | None = None
    """What it became, where that is not kept."""


def _followed(region: Hunk | None, step: _Step, read: Read) -> tuple[Hunk | None, bool]:
    """Where lines are after a step, and whether it touched them. None: nobody can say where they are."""
    if step.before.digest == step.after.digest:
        return region, False
    old, new = read(step.before.digest), step.content if step.content is not None else read(step.after.digest)
    before, after = (None if one is None else lines_of(one) for one in (old, new))
    if region is None or before is None or after is None:
        return None, True
    touched, shift, end_shift = False, 0, 0
    for other in hunks(before, after):
        if touches(region, other):
            touched, end_shift = True, other.new_end - other.end
            region = Hunk(min(region.start, other.start), max(region.end, other.end), 0, 0)
        elif other.end <= region.start:
            shift = end_shift = other.new_end - other.end
    start = region.start + shift
    return Hunk(start, max(start, region.end + end_shift), 0, 0), touched


_GONE = "What it was before is not kept any more, or is damaged."
_NOT_KEPT = {
    "too big": "It is too long to be kept.",
    "too many": "The call changed too many files to keep them.",
    "a key": "It holds keys or passwords, which are kept nowhere.",
    "no room": "There was no room to keep it.",
    "unreadable": "It could not be read, so it was not kept.",
}


def _cannot(record: KeptChange, file: ChangedFile) -> str:
    """Why a change cannot be undone at all, as a sentence, or ""."""
    if file.not_kept:
        return _NOT_KEPT[file.not_kept]
    needs = "file" in (file.change.before.kind, file.change.after.kind)
    return "It is too old: what it was before is not kept any more." if needs and not record.kept else ""
