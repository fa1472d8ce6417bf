"""What was changed in a thread, and undoing it: shown first, then done by the one way in which files are changed."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import BinaryIO, Protocol

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.files.changes import ABSENT, ChangeConflict, ChangedFile, ChangeOrigin, FileChange, KeptChange
from desktop.domain.files.undo import ThreadChanges, UndoConflict, UndoneFile, UndoPreview
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import GuardedFiles
from desktop.safety.changes.states import state_of
from desktop.services.changes.lines import MAX_TEXT, counts
from desktop.services.changes.overview import against_beginning, undone_since
from desktop.services.changes.recording import KeepingRecorder
from desktop.services.changes.undoing import AtPath, FileHistory, FileUndo, Read
from desktop.store.changes import ChangeRepository, KeptAmount
from desktop.store.kept_files import KeptFiles

BY_PERSON = ("you", "undo")
"""Who asks for an undo, in the place of agent and tool."""
LOGGED_PATHS = 50
PREVIEW_TEXT = 20_000_000
"""Bytes of all texts that a preview holds."""
SHOWN_TEXT = 400_000
"""Bytes of a text that a preview shows."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """An undo that a person looks at."""

    preview: UndoPreview
    """What it would do."""
    changes: tuple[FileChange, ...]
    """The changes that it consists of."""
    contents: PlannedContents
    """What the files get."""
    origin: ChangeOrigin
    """Whose changes these are: the person's."""


class PlannedContents:
    """What files get by an undo: put together from lines, or kept."""

    def __init__(self, kept: KeptFiles) -> None:
        self._kept = kept
        self._made: dict[str, bytes] = {}

    def add(self, digest: str, content: bytes) -> None:
        """One that is not kept yet."""
        self._made[digest] = content

    def open(self, digest: str) -> BinaryIO:
        """A content. Blocks. Raises StoreError where it is not kept any more."""
        made = self._made.get(digest)
        return self._kept.open(digest) if made is None else io.BytesIO(made)


class UndoLog(Protocol):
    """The activity log, as far as an undo needs it."""

    async def add(self, *, entry: AuditEntry) -> int | None:
        """Write an entry down; its number."""
        ...

    def settle(self, *, number: int, outcome: str) -> object:
        """Write down how it ended."""
        ...


class ChangesService:
    """Implements what the Changes view and the settings need."""

    def __init__(
        self, changes: ChangeRepository, kept: KeptFiles, recorder: KeepingRecorder, files: GuardedFiles, log: UndoLog
    ) -> None:
        self._changes = changes
        self._kept = kept
        self._recorder = recorder
        self._files = files
        self._log = log

    def on_done(self, listener: Callable[[KeptChange], None]) -> Callable[[], None]:
        """Called after each change, of calls and of undos; returns what ends that."""
        return self._recorder.on_done(listener)

    async def of_thread(self, thread_id: str) -> list[KeptChange]:
        """All that was changed in a thread, the oldest first."""
        return await self._changes.of_thread(thread_id=thread_id)

    async def overview(self, thread_id: str) -> ThreadChanges:
        """All that was changed in a thread, with what became of it."""
        records = await self._changes.of_thread(thread_id=thread_id)
        amount = await self._changes.amount()
        paths = await asyncio.to_thread(against_beginning, records, self._reader())
        limits = self._recorder.limits
        days = limits.keep_s / 86_400
        return ThreadChanges(tuple(records), undone_since(records), paths, amount.size, limits.most_bytes, days)

    async def amount(self) -> KeptAmount:
        """How much is kept."""
        return await self._changes.amount()

    async def clear(self) -> None:
        """Nothing is kept any more of what was changed until now."""
        await self._changes.let_go(before=float("inf"), most=0)
        await self._recorder.sweep()

    # -- undoing ------------------------------------------------------------------------------------------------------

    async def plan(self, change_ids: Sequence[str]) -> UndoPlan:
        """What undoing these changes would do now. Raises NotFound where one of them is not there any more."""
        asked = await self._changes.get(change_ids=change_ids)
        if not asked or len(asked) != len(set(change_ids)):
            raise NotFound("What is to be undone is not there any more.")
        paths = list({file.change.path: None for record in asked for file in record.files})
        history = await self._changes.touching(paths=paths, since=asked[0].number)
        return await asyncio.to_thread(self._planned, asked, history, paths)

    async def undo(self, plan: UndoPlan) -> tuple[tuple[ChangeConflict, ...], str]:
        """Do what was looked at, or say what changed meanwhile; and the id of the change that the undo is. The activity
        log has it as the person's act. Raises KnownError where it cannot be done."""
        number = await self._log.add(entry=_entry(plan))
        outcome = "failed"
        try:
            made = await self._recorder.make(plan.changes, plan.contents, plan.origin, plan.preview.change_ids)
            outcome = "failed, the files had changed" if made[0] else "done"
            return made
        finally:
            if number is not None:
                self._log.settle(number=number, outcome=outcome)

    def _planned(self, asked: Sequence[KeptChange], history: Sequence[KeptChange], paths: Sequence[str]) -> UndoPlan:
        undone = frozenset(record.change_id for record in asked)
        project = asked[-1].origin.project
        files = self._files.within(WorkPlace(project))
        read = self._reader()
        by_path: dict[str, list[tuple[KeptChange, ChangedFile]]] = {path: [] for path in paths}
        for record in history:
            for file in record.files:
                by_path[file.change.path].append((record, file))
        contents, room = PlannedContents(self._kept), [PREVIEW_TEXT]
        known = {file.change.before.digest for record in history for file in record.files}
        undos, shown = list[FileUndo](), dict[str, UndoneFile]()
        for path in paths:  # one after the other, so that no more than two contents are held at a time
            one = _undo(FileHistory(path, by_path[path], undone, read), files, path)
            if one.then.state.digest not in known and one.now.state != one.then.state and one.then.content is not None:
                contents.add(one.then.state.digest, one.then.content)
            shown[path] = _shown(one, room)
            undos.append(replace(one, now=replace(one.now, content=None), then=replace(one.then, content=None)))
        undos = possible(undos)
        changes = [FileChange(u.path, u.now.state, u.then.state) for u in undos if u.now.state != u.then.state]
        files_shown = tuple(_as_possible(shown[one.path], one) for one in undos)
        ids = tuple(record.change_id for record in asked)
        first = asked[0].origin
        thread = first.above[0] if first.above else first.thread_id
        origin = ChangeOrigin(thread_id=thread, chain=BY_PERSON, project=project)
        return UndoPlan(UndoPreview(ids, files_shown), tuple(changes), contents, origin)

    def _reader(self) -> Read:
        return lru_cache(maxsize=8)(self._read)

    def _read(self, digest: str) -> bytes | None:
        """A content that is what its name says, or None."""
        try:
            with self._kept.open(digest) as stream:
                content = stream.read()
        except (KnownError, OSError, EOFError):
            return None
        return content if hashlib.sha256(content).hexdigest() == digest else None


def _entry(plan: UndoPlan) -> AuditEntry:
    """An undo as a line of the activity log."""
    paths = tuple(change.path.encode("utf-8", "backslashreplace").decode() for change in plan.changes)
    return AuditEntry(
        at=time.time(),
        run_id="",
        thread_id=plan.origin.thread_id,
        call_id=new_id(),
        chain=("Changes",),
        tool=BY_PERSON[1],
        category=Category.WRITE.value,
        decision="allow_once",
        by="user",
        digest="",
        summary=json.dumps({"path": ", ".join(paths[:5])}, ensure_ascii=False),
        paths=paths[:LOGGED_PATHS],
    )


def _undo(history: FileHistory, files: GuardedFiles, path: str) -> FileUndo:
    """What is to become of a path. Blocks."""
    try:
        state = state_of(path)
    except OSError as error:
        return _left(path, AtPath(ABSENT, None), f"It cannot be read: {error.strerror or error}.")
    if state is None:
        return _left(path, AtPath(ABSENT, None), "There is something else at its place now, such as a pipe.")
    if state.kind != "file":
        return history.undo(AtPath(state, b""))
    try:
        with files.open_read(path) as stream:
            at = os.fstat(stream.fileno()).st_mtime
            content = stream.read(MAX_TEXT + 1)
    except KnownError as error:
        return _left(path, AtPath(state, None), str(error))
    except OSError as error:
        return _left(path, AtPath(state, None), f"It cannot be read: {error.strerror or error}.")
    whole = hashlib.sha256(content).hexdigest() == state.digest
    return history.undo(AtPath(state, content if whole else None, at))


def _left(path: str, now: AtPath, why: str) -> FileUndo:
    return FileUndo(path, now, now, (UndoConflict(0, 0, (), why),))


def possible(undos: Sequence[FileUndo]) -> list[FileUndo]:
    """The same, without removing a folder that holds what stays, and without making anything in a folder that is not
    there. Blocks."""
    by_path = {one.path: one for one in undos}
    for path in sorted(by_path, reverse=True):
        one = by_path[path]
        if one.now.state.kind == "folder" and one.then.state.kind != "folder" and (stays := _stays(path, by_path)):
            by_path[path] = _left(path, one.now, f"It holds {stays}, which stays.")
    for path in sorted(by_path):
        one = by_path[path]
        if one.then.state.kind != "absent" and one.now.state != one.then.state and (why := _no_folder(path, by_path)):
            by_path[path] = _left(path, one.now, why)
    return [by_path[path] for path in sorted(by_path)]


def _stays(folder: str, by_path: Mapping[str, FileUndo]) -> str:
    """Something in a folder that is there after the undo, or ""."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return "something that cannot be read"
    for name in names:
        one = by_path.get(os.path.join(folder, name))
        if one is None or one.then.state.kind != "absent":
            return name
    return ""


def _no_folder(path: str, by_path: Mapping[str, FileUndo]) -> str:
    above = os.path.dirname(path)
    one = by_path.get(above)
    there = os.path.isdir(above) and not os.path.islink(above) if one is None else one.then.state.kind == "folder"
    return "" if there else f"Its folder {above} is not there any more."


def _as_possible(shown: UndoneFile, one: FileUndo) -> UndoneFile:
    """What is shown of a file once it is known whether its change is possible."""
    if one.then.state == shown.then:
        return shown
    text = shown.now_text
    return replace(shown, then=one.then.state, then_text=text, added=0, removed=0, conflicts=one.conflicts)


def _shown(one: FileUndo, room: list[int]) -> UndoneFile:
    """As a preview shows it; ``room`` are the bytes of text that it may still hold."""
    added, removed = counts(one.now.content or b"", one.then.content or b"")
    room[0] -= len(one.now.content or b"") + len(one.then.content or b"")
    now, then = (_text(one.now), _text(one.then)) if room[0] >= 0 else (None, None)
    return UndoneFile(one.path, one.now.state, one.then.state, now, then, added, removed, one.conflicts)


def _text(found: AtPath) -> str | None:
    if found.state.kind != "file":
        return ""
    if found.content is None or len(found.content) > SHOWN_TEXT or b"\0" in found.content:
        return None
    try:
        return found.content.decode()
    except UnicodeDecodeError:
        return None
