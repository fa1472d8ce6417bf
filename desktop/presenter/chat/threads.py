"""The list of threads: grouped by day, pinned first, searched, renamed, deleted with undo."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from desktop.domain.errors import AssentError
from desktop.domain.ids import new_id
from desktop.domain.runs.events import Event, MessageOpened, RunEnded, RunStarted, ThreadChanged
from desktop.domain.text.hidden_characters import without_hidden
from desktop.domain.text.words import count_words
from desktop.domain.threads import ThreadJob, ThreadRecord
from desktop.presenter.chat.snippets import readable
from desktop.presenter.chat.thread_lines import PROJECT, ThreadRow, arrange
from desktop.presenter.common.exporting import write_whole, zip_of
from desktop.presenter.transcript.live_threads import LiveThreads

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.chats.service import ConversationService


class ThreadRole(IntEnum):
    """Roles of the thread list beside ``DisplayRole`` (the title or the group's name)."""

    ID = Qt.ItemDataRole.UserRole + 1
    KIND = Qt.ItemDataRole.UserRole + 2
    STATE = Qt.ItemDataRole.UserRole + 3
    TIME = Qt.ItemDataRole.UserRole + 4
    PINNED = Qt.ItemDataRole.UserRole + 5
    NOTE = Qt.ItemDataRole.UserRole + 6
    ICON = Qt.ItemDataRole.UserRole + 7
    JOB = Qt.ItemDataRole.UserRole + 8
    UNFOLDED = Qt.ItemDataRole.UserRole + 9
    INSIDE = Qt.ItemDataRole.UserRole + 10
    AGENT = Qt.ItemDataRole.UserRole + 11


class ThreadListModel(QAbstractListModel):
    """Rows for a ``QListView`` with uniform sizes; moves nothing that did not change."""

    def __init__(self, board: LiveThreads, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._board = board
        self._rows: list[ThreadRow] = []
        self._places: dict[str, int] = {}
        board.state_changed.connect(self.refresh_state)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's
        """How many lines, headers included."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line's text or one of ``ThreadRole``."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == ThreadRole.STATE:
            return self._board.mark_of((row.thread_id,) if row.thread_id else row.runs) or row.state
        read = _READ.get(role)
        return read(row) if read is not None else None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Headers can be neither selected nor focused."""
        row = self._rows[index.row()] if index.isValid() else ThreadRow("")
        if not row.thread_id and not row.job_id:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def show(self, rows: list[ThreadRow]) -> None:
        """Take new rows; the same rows in the same order only repaint where they differ."""
        self._places = {run: i for i, row in enumerate(rows) for run in row.runs}  # a folded run is where its job is
        self._places.update((row.key, i) for i, row in enumerate(rows) if row.thread_id or row.job_id)
        if [row.key for row in rows] == [row.key for row in self._rows]:
            changed = [i for i, (a, b) in enumerate(zip(self._rows, rows, strict=True)) if a != b]
            self._rows = rows
            for i in changed:
                self.dataChanged.emit(self.index(i), self.index(i))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def place(self, thread_id: str) -> int:
        """The row of a thread, or of a job by its ``job_key``; -1: it is not listed."""
        return self._places.get(thread_id, -1)

    def beside(self, thread_ids: Collection[str]) -> str:
        """The thread below the last of these in the list, else the one above the first, else ""."""
        listed = [row.thread_id for row in self._rows if row.thread_id]
        places = [at for at, one in enumerate(listed) if one in thread_ids]
        if not places:
            return ""
        beside = [*listed[places[-1] + 1 : places[-1] + 2], *reversed(listed[: places[0]])]
        return next((one for one in beside if one not in thread_ids), "")

    def refresh_state(self, thread_id: str) -> None:
        """Repaint one thread's state glyph."""
        row = self.place(thread_id)
        if row >= 0:
            self.dataChanged.emit(self.index(row), self.index(row))


_READ: dict[int, Callable[[ThreadRow], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda row: row.title,
    Qt.ItemDataRole.AccessibleTextRole: lambda row: row.spoken,
    ThreadRole.ID: lambda row: row.thread_id,
    ThreadRole.KIND: lambda row: "thread" if row.thread_id else "job" if row.job_id else "header",
    ThreadRole.TIME: lambda row: row.time_text,
    ThreadRole.PINNED: lambda row: row.pinned,
    ThreadRole.NOTE: lambda row: row.note,
    ThreadRole.ICON: lambda row: row.icon,
    ThreadRole.AGENT: lambda row: row.agent,
    ThreadRole.JOB: lambda row: row.job_id,
    ThreadRole.UNFOLDED: lambda row: row.is_open,
    ThreadRole.INSIDE: lambda row: row.inside,
}


UNDONE = 20
"""So many of the latest can be taken back."""
_DONE = {
    "delete": "deleted",
    "archive": "archived",
    "restore": "back in the list",
    "pin": "pinned",
    "unpin": "unpinned",
}


def _named(done: Sequence[ThreadRecord], wanted: int) -> str:
    if wanted == 1:
        return f"“{(done[0].title or 'New chat')[:60]}”"
    return f"{wanted:,} chats" if len(done) == wanted else f"{len(done):,} of {wanted:,} chats"


def _begins(event: Event) -> bool:
    """The first message of an answer: its thread is the latest now, also where nobody wrote before it."""
    return isinstance(event, MessageOpened) and event.round_number <= 1


async def _all_open(_projects: Sequence[str]) -> Mapping[str, str]:
    """Where nobody looks at folders."""
    return {}


class ThreadsViewModel(QObject):
    """Everything a person does with the list of threads."""

    hits_changed = Signal(str, object)
    open_requested = Signal(str)
    rearranged = Signal()
    said = Signal(str, str)
    """what was done to one or several threads, and what takes it back"""
    left = Signal(object, str)
    """the threads that left the list, and the one that stood next to them (or "")"""
    came_back = Signal(object)
    """the threads that are in the list again, because that was taken back"""
    news_changed = Signal(str)
    """a few words at the foot of the list, or """ ""
    news_wanted = Signal()
    """the person wants to see what those are about"""

    def __init__(self, service: ConversationService, bridge: Bridge, board: LiveThreads) -> None:
        super().__init__()
        self._service = service
        self._bridge = bridge
        self._board = board
        self._model = ThreadListModel(board, self)
        self._threads: dict[str, ThreadRecord] = {}
        self._unfolded: set[str] = set()
        self._going: set[str] = set()
        self._undo: dict[str, tuple[str, tuple[ThreadRecord, ...]]] = {}
        self._search = 0
        self._reading = False
        self._read_again = False
        self._looking = False
        self.closed: Mapping[str, str] = {}
        """Why folders that chats work in cannot be used now."""
        self.closed_of: Callable[[Sequence[str]], Awaitable[Mapping[str, str]]] = _all_open
        self.news = ""
        """A few words at the foot of the list."""
        self.loaded = False
        """The list was read: before, it is not known whether there is any chat."""

    def model(self) -> ThreadListModel:
        """The rows for the view."""
        return self._model

    @property
    def threads(self) -> tuple[ThreadRecord, ...]:
        """All threads that are not deleted."""
        return tuple(self._threads.values())

    def tell_news(self, words: str) -> None:
        """Show these words at the foot of the list."""
        if words != self.news:
            self.news = words
            self.news_changed.emit(words)

    def take(self, events: tuple[Event, ...]) -> None:
        """Reread the list when a thread changed or was written in; many changes in a row cost one reading."""
        if any(isinstance(event, ThreadChanged | RunStarted | RunEnded) or _begins(event) for event in events):
            self.refresh()

    def refresh(self) -> None:
        """Read the list; while one reading is under way, another one follows it."""
        if self._reading:
            self._read_again = True
            return
        self._reading = True
        self._bridge.spawn(self._refresh(), name="read threads")

    async def _refresh(self) -> None:
        try:
            records = await self._service.threads()
        finally:
            self._reading = False
        self._threads = {one.thread_id: one for one in records if one.thread_id not in self._going}
        self.loaded = True
        self._show()
        self._look_at_projects()
        if self._read_again:
            self._read_again = False
            self.refresh()

    def _show(self) -> None:
        self._model.show(arrange(list(self._threads.values()), unfolded=self._unfolded, closed=self.closed))
        self.rearranged.emit()

    def unfold(self, job_id: str, is_open: bool) -> None:
        """Show what stands below a line, or put it away: the runs of a job, the chats of a folder, older ones."""
        turned = is_open is not job_id.startswith(PROJECT)
        (self._unfolded.add if turned else self._unfolded.discard)(job_id)
        self._show()

    def _look_at_projects(self) -> None:
        """Look which folders cannot be used any more, beside the list: a disk may take its time to answer."""
        paths = tuple({one.project for one in self._threads.values() if one.project})
        if (not paths and not self.closed) or self._looking:
            return

        async def work() -> None:
            self._looking = True
            try:
                closed = await self.closed_of(paths)
            finally:
                self._looking = False
            if closed != self.closed:
                self.closed = closed
                self._show()

        self._bridge.spawn(work(), name="look at the project folders")

    def job_of(self, thread_id: str) -> ThreadJob | None:
        """The job whose run a thread is, or None."""
        record = self._threads.get(thread_id)
        return record.job if record is not None else None

    def editor_of(self, thread_id: str) -> str:
        """The editor that made a thread, or ""."""
        record = self._threads.get(thread_id)
        return record.editor if record is not None else ""

    def has_job(self, job_id: str) -> bool:
        """Whether this job, which has threads, was not deleted."""
        return any(one.job.job_id == job_id and not one.job.deleted for one in self.threads if one.job is not None)

    def search(self, text: str) -> None:
        """Full text over all threads; an overtaken search shows nothing."""
        self._search += 1
        number = self._search

        async def work() -> None:
            hits = await self._service.search(text) if text.strip() else ()
            if number == self._search:
                self.hits_changed.emit(text, tuple(readable(hit) for hit in hits))

        self._bridge.spawn(work(), name="search threads")

    def open(self, thread_id: str) -> None:
        """Ask the shell to show a thread."""
        self.open_requested.emit(thread_id)

    def rename(self, thread_id: str, title: str) -> None:
        """Set the title that a person chose; it is never replaced by an automatic one."""
        clean = " ".join(without_hidden(title).split())[:200]
        if clean and thread_id in self._threads:
            self._change(replace(self._threads[thread_id], title=clean))
            self._bridge.spawn(self._service.rename(thread_id, clean), name="rename thread")

    def pin(self, thread_id: str, pinned: bool) -> None:
        """Keep a thread on top, or let it go back to its day."""
        if thread_id in self._threads:
            self._change(replace(self._threads[thread_id], pinned=pinned))
            self._bridge.spawn(self._service.pin(thread_id, pinned), name="pin thread")

    def delete(self, thread_id: str) -> None:
        """Delete one thread, as ``act`` deletes several."""
        self.act("delete", (thread_id,))

    def act(self, what: str, thread_ids: Sequence[str]) -> None:
        """delete | archive | restore | pin | unpin several threads, or one; ``undo`` takes it back. What is deleted
        leaves the list at once; a run in it is stopped, and the sentence says so."""
        records = tuple(self._threads[one] for one in thread_ids if one in self._threads)
        if not records:
            return
        ids = tuple(record.thread_id for record in records)
        beside = self._model.beside(ids)
        working = len({*ids}.intersection(self._board.running_threads)) if what == "delete" else 0
        if what == "delete":
            self._going.update(ids)
            self._threads = {key: record for key, record in self._threads.items() if key not in self._going}
            self._show()
        self._bridge.spawn(self._act(what, records, working), name=f"{what} threads")
        if what in ("delete", "archive"):
            self.left.emit(ids, beside)

    async def _act(self, what: str, records: Sequence[ThreadRecord], working: int) -> None:
        """What was done is told and can be taken back, also where another one of them failed, which is told too."""
        work = (self._one(what, record.thread_id) for record in records)
        try:
            outcomes = await asyncio.gather(*work, return_exceptions=True)
        finally:
            self._going.difference_update(record.thread_id for record in records)
            self.refresh()
        done = tuple(one for one, outcome in zip(records, outcomes, strict=True) if outcome is None)
        if done:
            stopped = f", {count_words(working, 'run')} stopped" if working else ""
            self.said.emit(f"{_named(done, len(records))} {_DONE[what]}{stopped}", self._undo_of(what, done))
        for outcome in outcomes:
            if outcome is not None:
                raise outcome

    def _undo_of(self, what: str, records: tuple[ThreadRecord, ...]) -> str:
        token = f"{what} {new_id()}"
        self._undo[token] = (what, records)
        while len(self._undo) > UNDONE:
            del self._undo[next(iter(self._undo))]
        return token

    async def _one(self, what: str, thread_id: str) -> None:
        service = self._service
        if what == "delete":
            await service.delete(thread_id)
        elif what in ("archive", "restore"):
            await service.archive(thread_id, what == "archive")
        else:
            await service.pin(thread_id, what == "pin")

    def undo(self, token: str) -> None:
        """Take back what ``act`` did."""
        what, records = self._undo.pop(token, ("", ()))
        if what:
            self._bridge.spawn(self._take_back(what, records), name=f"undo {what}")

    async def _take_back(self, what: str, records: Sequence[ThreadRecord]) -> None:
        """Each as it was, one that was pinned before stays pinned. Where some of it fails, the rest is done all the
        same, and another undo goes on with what is left."""
        outcomes = await asyncio.gather(*(self._back(what, one) for one in records), return_exceptions=True)
        self.refresh()
        back = tuple(one for one, outcome in zip(records, outcomes, strict=True) if outcome is None)
        if back and what in ("delete", "archive"):
            self.came_back.emit(tuple(record.thread_id for record in back))
        left = tuple(one for one in records if one not in back)
        if left:
            self.said.emit(f"{_named(left, len(left))} could not be brought back", self._undo_of(what, left))
        for outcome in outcomes:
            if outcome is not None:
                raise outcome

    async def _back(self, what: str, record: ThreadRecord) -> None:
        if what == "delete":
            await self._service.undo_delete(record.thread_id)
        elif what in ("archive", "restore"):
            await self._service.archive(record.thread_id, record.archived)
        else:
            await self._service.pin(record.thread_id, record.pinned)

    def export(self, thread_ids: Sequence[str], path: str) -> None:
        """A zip file with each of them as Markdown."""
        titles = [(one, self._threads[one].title) for one in thread_ids if one in self._threads]
        self._bridge.spawn(self._export(titles, path), name="export threads", on_error=self._failed)

    async def _export(self, titles: Sequence[tuple[str, str]], path: str) -> None:
        texts = [(title, await self._service.export(thread_id, "md")) for thread_id, title in titles]
        await asyncio.to_thread(write_whole, path, await asyncio.to_thread(zip_of, texts))
        self.said.emit(f"{len(texts):,} chats exported", "")

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice, "")

    def is_archived(self, thread_id: str) -> bool:
        """Whether a thread is archived, and so out of the list by days."""
        record = self._threads.get(thread_id)
        return record is not None and record.archived

    def _change(self, record: ThreadRecord) -> None:
        self._threads[record.thread_id] = record
        self._show()
