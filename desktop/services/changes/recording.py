"""Keeps what calls change: what was there is on the disk, and written down, before anything is written.

A record is *begun* before its files are touched and *done* when they were. One that was begun and of which nobody heard
is looked at by the next start: the files themselves say whether it was made.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import stat
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, Protocol, TypeVar

from desktop.domain.errors import BoundaryViolation, CannotBeUndone, KnownError, ToolFailure
from desktop.domain.files.changes import (
    ABSENT,
    MOST_KEPT,
    TOO_MANY,
    ChangeApplier,
    ChangeConflict,
    ChangedFile,
    ChangeOrigin,
    Contents,
    FileChange,
    FileState,
    KeptChange,
    NotKept,
)
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, GuardedFiles, WriteOutcome
from desktop.domain.tools import ToolCallContext
from desktop.safety.boundary.opening import remove_halves
from desktop.safety.changes.states import state_of
from desktop.services.changes.lines import counts
from desktop.store.changes import ChangeRepository
from desktop.store.kept_files import KeptFiles

T = TypeVar("T")
FILE_CAP, CALL_CAP = 32_000_000, 256_000_000
"""Bytes of one content, and bytes of all contents of one call, that are kept."""
NOT_KEPT: Mapping[NotKept, str] = {
    "too big": "a file is too big to be kept for undoing",
    "too many": TOO_MANY,
    "a key": "a file holds a key, and is kept nowhere",
    "no room": "it is more than is kept for undoing",
    "unreadable": "what is there cannot be read, so it cannot be kept for undoing",
}
"""Why a call cannot be undone, in words that go on in a sentence."""
RECENT_S = 3 * 86_400.0
"""What was changed since then is not let go of for a call that nobody was asked about."""
PUSHES_OUT = (
    "keeping what was there would let go of what is kept of the last three days, so that that could not be undone any "
    "more (Undo and changes, in Settings, has the limit)"
)
_SINGLY = 16
"""Of more contents than that the disk is told once to write them all."""


class KeepLimits(Protocol):
    """How much is kept, as the settings say it now."""

    @property
    def most_bytes(self) -> int:
        """Bytes on the disk that all contents together may take."""
        ...

    @property
    def keep_s(self) -> float:
        """Seconds for which contents are kept."""
        ...


class PlacedApplier(ChangeApplier, Protocol):
    """An applier that can be bound to the place of a call."""

    def within(self, place: WorkPlace) -> ChangeApplier:
        """The same, with the boundary of a place."""
        ...


@dataclass(frozen=True, slots=True)
class Keeping:
    """What a recorder is made of."""

    changes: ChangeRepository
    """The records."""
    kept: KeptFiles
    """The contents."""
    applier: PlacedApplier
    """Makes changes."""
    files: GuardedFiles
    """Reads files behind the boundary."""
    limits: KeepLimits
    """How much is kept."""
    holds_keys: Callable[[str, bytes], bool]
    """Whether a file is one for keys, whose content is kept nowhere."""


Spawn = Callable[[Coroutine[Any, Any, Any], str], "asyncio.Task[Any]"]


class KeepingRecorder:
    """Implements ``domain.file_changes.ChangeRecorder``. ``spawn`` starts an owned task."""

    def __init__(self, keeping: Keeping, spawn: Spawn) -> None:
        self._keeping = keeping
        self._spawn = spawn
        self._one = asyncio.Lock()
        self._listeners: list[Callable[[KeptChange], None]] = []

    @property
    def limits(self) -> KeepLimits:
        """How much is kept, as the settings say it now."""
        return self._keeping.limits

    def on_done(self, listener: Callable[[KeptChange], None]) -> Callable[[], None]:
        """Called after each change that was made; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def write(
        self, files: GuardedFiles, path: str, data: bytes, *, expected: str | None, context: ToolCallContext
    ) -> WriteOutcome:
        """Replace a file's content at once, as ``files.write_atomic``; what was there can be had back."""
        found = await asyncio.to_thread(_about_to_write, files, path, data, expected)
        if found is None and context.at_edge and files.explain(path, Access.WRITE).allowed:
            raise CannotBeUndone(NOT_KEPT["unreadable"])
        if found is None:  # it is refused, in the words of who refuses it
            return await asyncio.to_thread(files.write_atomic, path, data, expected=expected)
        changes, images, identity = found
        record = await self._begin(changes, images, origin_of(context), (), whole=context.at_edge)
        return await self._to_its_end(record, lambda: files.write_atomic(path, data, expected=identity), bool)

    async def commit(
        self, changes: Sequence[FileChange], contents: Contents, context: ToolCallContext, summary: str = ""
    ) -> tuple[ChangeConflict, ...]:
        """Make all the changes or none; what was there can be had back."""
        conflicts, _ = await self.make(changes, contents, origin_of(context, summary), (), whole=context.at_edge)
        return conflicts

    async def who_left(self, states: Mapping[str, FileState]) -> Mapping[str, tuple[str, ...]]:
        """Whose calls left these paths as they are, as far as that is kept."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(states, ())
        for record in await self._keeping.changes.touching(paths=list(states), since=0):
            for file in record.files:
                is_left = record.phase == "done" and file.change.after == states[file.change.path]
                found[file.change.path] = record.origin.chain if is_left else ()
        return found

    async def make(
        self,
        changes: Sequence[FileChange],
        contents: Contents,
        origin: ChangeOrigin,
        undoes: Sequence[str],
        *,
        whole: bool = False,
    ) -> tuple[tuple[ChangeConflict, ...], str]:
        """The same for changes of any origin, with the id of the change that was made; ``undoes``: the ids of those
        that it undoes. ``whole``: only if all of it can be undone, else CannotBeUndone."""
        place = WorkPlace(origin.project)
        files, applier = self._keeping.files.within(place), self._keeping.applier.within(place)
        wanted = [change for change in changes if change.before != change.after]
        if not wanted:
            return (), ""
        record = await self._begin(wanted, _Sources(files, contents), origin, undoes, whole=whole)
        conflicts = await self._to_its_end(record, lambda: applier.apply(wanted, contents), lambda found: not found)
        return conflicts, "" if conflicts else record.change_id

    async def _to_its_end(self, record: KeptChange, work: Callable[[], T], made: Callable[[T], bool]) -> T:
        """Make a change that was begun, and write down how that ended, also where nobody waits for it any more."""

        async def to_its_end() -> T:
            try:
                found = await asyncio.to_thread(work)
            except (KnownError, OSError):
                await self._keeping.changes.drop(change_id=record.change_id)
                raise
            if made(found):
                await self._done(record)
            else:
                await self._keeping.changes.drop(change_id=record.change_id)
            return found

        return await asyncio.shield(self._spawn(to_its_end(), "changes: a change is made"))

    # -- keeping ------------------------------------------------------------------------------------------------------

    async def _begin(
        self,
        changes: Sequence[FileChange],
        sources: _Sources,
        origin: ChangeOrigin,
        undoes: Sequence[str],
        *,
        whole: bool = False,
    ) -> KeptChange:
        async with self._one:
            images = _Images(self._keeping, sources)
            files = await asyncio.to_thread(images.keep, changes)
            if whole and (why := await self._not_whole(files, images.stored)):
                await self._forget(images.stored)
                raise CannotBeUndone(why)
            record = KeptChange(new_id(), time.time(), files, origin, tuple(undoes), "begun")
            try:
                await self._keeping.changes.begin(record=record, contents=images.stored)
            except asyncio.CancelledError:  # it may be written down all the same, and is not made
                self._spawn(self._keeping.changes.drop(change_id=record.change_id), "changes: one is not made")
                raise
        return record

    async def _not_whole(self, files: Sequence[ChangedFile], stored: Mapping[str, int]) -> str:
        """Why a call that nobody was asked about cannot be undone as a whole, or takes that from an earlier one; or
        ""."""
        lost = next((one for one in files if one.not_kept), None)
        if lost is not None:
            return f"{NOT_KEPT[lost.not_kept]} ({lost.change.path})"
        changes, most, new = self._keeping.changes, self._keeping.limits.most_bytes, sum(stored.values())
        if (await changes.amount()).size + new <= most:
            return ""
        return PUSHES_OUT if await changes.taken_since(at=time.time() - RECENT_S) + new > most else ""

    async def _forget(self, stored: Mapping[str, int]) -> None:
        """What was kept for a change that is not made goes, unless another one needs it."""
        known = await self._keeping.changes.known()
        await asyncio.to_thread(self._keeping.kept.remove, [digest for digest in stored if digest not in known])

    async def _done(self, record: KeptChange) -> None:
        files = await asyncio.to_thread(_as_made, record.files)
        await self._keeping.changes.done(change_id=record.change_id, files=files)
        for listener in tuple(self._listeners):
            listener(record)
        await self.make_room(but=record.change_id)

    async def make_room(self, *, but: str = "") -> None:
        """Let go of what is too old, and of the oldest where there is too much."""
        limits, changes = self._keeping.limits, self._keeping.changes
        amount, before = await changes.amount(), time.time() - limits.keep_s
        if amount.size > limits.most_bytes or (amount.oldest is not None and amount.oldest < before):
            await changes.let_go(before=before, most=limits.most_bytes, but=but)
            await self.sweep()

    async def sweep(self) -> None:
        """Remove the contents that nothing needs any more."""
        async with self._one:
            unused = await self._keeping.changes.unused()
            gone = await asyncio.to_thread(self._keeping.kept.remove, unused)
            await self._keeping.changes.forget(digests=gone)

    async def tidy(self) -> None:
        """Once a start: remove what nothing needs, and what nobody knows of and is older than anything that is kept."""
        await self.sweep()
        async with self._one:
            known, before = await self._keeping.changes.known(), time.time() - self._keeping.limits.keep_s
            kept = self._keeping.kept
            await asyncio.to_thread(lambda: kept.remove(kept.stray(known, before)))

    async def settle(self) -> None:
        """Find out of the records that were begun whether they were made. Before the first call."""
        for record in await self._keeping.changes.begun():
            if await asyncio.to_thread(_was_made, record):
                await self._keeping.changes.done(
                    change_id=record.change_id, files=await asyncio.to_thread(_as_made, record.files)
                )
            else:
                await self._keeping.changes.drop(change_id=record.change_id)


def origin_of(context: ToolCallContext, summary: str = "") -> ChangeOrigin:
    """Whose changes those of a call are."""
    meta = context.meta
    return ChangeOrigin(
        meta.thread_id,
        meta.above,
        meta.run_id,
        meta.call,
        context.call_id,
        context.chain,
        meta.project,
        summary,
        asked=not context.unasked and not context.at_edge,
    )


class _Sources:
    """Where contents come from before they are kept: real files for what was, ``contents`` for what comes."""

    def __init__(self, files: GuardedFiles, contents: Contents) -> None:
        self._files, self._contents = files, contents

    def before(self, change: FileChange) -> BinaryIO:
        return self._files.open_read(change.path)

    def after(self, change: FileChange) -> BinaryIO:
        return self._contents.open(change.after.digest)


class _OneFile(_Sources):
    """The two contents of a single file, both read already."""

    def __init__(self, before: bytes | None, after: bytes) -> None:
        self._before, self._after = before, after

    def before(self, change: FileChange) -> BinaryIO:
        if self._before is None:
            raise ToolFailure("It is too long to be kept.")
        return io.BytesIO(self._before)

    def after(self, change: FileChange) -> BinaryIO:
        return io.BytesIO(self._after)


class _Images:
    """Keeps the contents of one change set, within the limits. Blocks."""

    def __init__(self, keeping: Keeping, sources: _Sources) -> None:
        self._keeping, self._sources = keeping, sources
        self._left = min(CALL_CAP, keeping.limits.most_bytes)
        self.stored: dict[str, int] = {}

    def keep(self, changes: Sequence[FileChange]) -> tuple[ChangedFile, ...]:
        """What is kept of each change. Raises ToolFailure where the disk cannot take it: then nothing is changed."""
        if len(changes) > MOST_KEPT:
            return tuple(ChangedFile(change, not_kept="too many") for change in changes[:MOST_KEPT])
        many = len(changes) > _SINGLY
        try:
            found = tuple(self._kept(change, lasting=not many) for change in changes)
            if many:
                self._keeping.kept.settle()
        except OSError as error:
            raise ToolFailure(
                f"Nothing was changed: what was there could not be kept first ({error.strerror or error}).",
                code="changes.not_kept",
                next_step="Make room on the disk that holds Assent's data.",
            ) from error
        return found

    def _kept(self, change: FileChange, *, lasting: bool) -> ChangedFile:
        before, why = self._image(change, change.before, self._sources.before, lasting=lasting)
        if before is None:
            return ChangedFile(change, not_kept=why or "unreadable")
        after: bytes | None = before
        why_after: NotKept = ""
        if change.after.digest != change.before.digest or change.after.kind != change.before.kind:
            after, why_after = self._image(change, change.after, self._sources.after, lasting=lasting)
        if after is None:
            return ChangedFile(change, not_kept=why_after or "unreadable")
        added, removed = counts(before, after)
        return ChangedFile(change, added, removed)

    def _image(
        self, change: FileChange, state: FileState, source: Callable[[FileChange], BinaryIO], *, lasting: bool
    ) -> tuple[bytes | None, NotKept]:
        """The content of one side, kept; None and why, where it is not."""
        if state.kind != "file":
            return b"", ""
        if state.size > FILE_CAP:
            return None, "too big"
        try:
            with source(change) as stream:
                content = stream.read(FILE_CAP + 1)
        except (KnownError, OSError):
            return None, "unreadable"
        if hashlib.sha256(content).hexdigest() != state.digest:
            return None, "unreadable"
        if self._keeping.holds_keys(change.path, content):
            return None, "a key"
        if state.digest not in self.stored:
            if len(content) > self._left:
                return None, "no room"
            self._left -= len(content)
            self.stored[state.digest] = self._keeping.kept.keep(state.digest, content, lasting=lasting)
        return content, ""


def _about_to_write(
    files: GuardedFiles, path: str, data: bytes, expected: str | None
) -> tuple[list[FileChange], _OneFile, str] | None:
    """What writing a file will change, what was in it, and which file that was; None where it will be refused."""
    verdict = files.explain(path, Access.WRITE)
    if not verdict.allowed or (expected is not None and expected != verdict.identity):
        return None
    target = verdict.resolved
    digest = hashlib.sha256(data).hexdigest()
    if verdict.identity == "absent":
        above = [FileChange(folder, ABSENT, FileState("folder", 0o755)) for folder in _missing_above(target)]
        made = FileChange(target, ABSENT, FileState("file", 0o644, len(data), digest))
        return [*above, made], _OneFile(b"", data), verdict.identity
    try:
        with files.open_read(target) as stream:
            status = os.fstat(stream.fileno())
            content, size, found = _read(stream)
    except BoundaryViolation:
        return None
    except (ToolFailure, OSError):  # it can be written and not be read, or is none; who writes it says which
        unread = [FileChange(target, FileState("file"), FileState("file", 0, len(data), digest))]
        return unread, _OneFile(None, data), verdict.identity
    mode = stat.S_IMODE(status.st_mode)
    before = FileState("file", mode, size, found)
    after = FileState("file", mode & 0o777, len(data), digest)
    return [FileChange(target, before, after)], _OneFile(content, data), verdict.identity


def _read(stream: BinaryIO) -> tuple[bytes | None, int, str]:
    """A content (None where it is too long to be kept), its bytes and its digest."""
    found, size, pieces = hashlib.sha256(), 0, list[bytes]()
    while piece := stream.read(1 << 20):
        found.update(piece)
        size += len(piece)
        if size <= FILE_CAP:
            pieces.append(piece)
    return (b"".join(pieces) if size <= FILE_CAP else None), size, found.hexdigest()


def _missing_above(path: str) -> list[str]:
    """The folders that have to be made for a path, the topmost first."""
    found, here = list[str](), os.path.dirname(path)
    while not os.path.lexists(here):
        found.append(here)
        here = os.path.dirname(here)
    return found[::-1]


def _as_made(files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The rights of what was made, which depend on the system's usual ones."""
    found = []
    for one in files:
        after = one.change.after
        if one.change.before.kind == "absent" and after.kind in ("file", "folder"):
            with suppress(OSError):
                mode = stat.S_IMODE(os.lstat(one.change.path).st_mode)
                if mode != after.mode:
                    found.append(_with_mode(one, mode))
    return found


def _with_mode(one: ChangedFile, mode: int) -> ChangedFile:
    after = one.change.after
    state = FileState(after.kind, mode, after.size, after.digest, after.target)
    change = FileChange(one.change.path, one.change.before, state, one.change.renamed_from)
    return ChangedFile(change, one.added, one.removed, one.not_kept)


def _was_made(record: KeptChange) -> bool:
    """Whether a change that was begun was made: unless everything is as it was before. What was not whole then goes."""
    for folder in {os.path.dirname(one.change.path) for one in record.files}:
        remove_halves(folder)
    return any(not _is_still(one.change.path, one.change.before) for one in record.files)


def _is_still(path: str, before: FileState) -> bool:
    try:
        return state_of(path) == before
    except OSError:
        return False
