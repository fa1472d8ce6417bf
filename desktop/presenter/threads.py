"""The list of threads: grouped by day, pinned first, searched, renamed, deleted with undo."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from desktop.domain.events import Event, MessageOpened, RunEnded, RunStarted, ThreadChanged
from desktop.domain.threads import ThreadRecord
from desktop.presenter.run_board import RunBoard
from desktop.presenter.snippets import readable

if TYPE_CHECKING:
    from desktop.conversation.service import ConversationService
    from desktop.presenter.bridge import Bridge


class ThreadRole(IntEnum):
    """Roles of the thread list beside ``DisplayRole`` (the title or the group's name)."""

    ID = Qt.ItemDataRole.UserRole + 1
    KIND = Qt.ItemDataRole.UserRole + 2
    STATE = Qt.ItemDataRole.UserRole + 3
    TIME = Qt.ItemDataRole.UserRole + 4
    PINNED = Qt.ItemDataRole.UserRole + 5
    NOTE = Qt.ItemDataRole.UserRole + 6


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: a group's header (``thread_id`` empty) or a thread; ``note`` stands under its title,
    ``state`` counts while no run of it is known."""

    title: str
    thread_id: str = ""
    time_text: str = ""
    pinned: bool = False
    note: str = ""
    state: str = ""


def group_of(at: float, now: datetime.datetime) -> str:
    """Today, Yesterday, Last 7 days, then the month by name and, for other years, the year."""
    then = datetime.datetime.fromtimestamp(at)
    days = (now.date() - then.date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days < 7:
        return "Last 7 days"
    return then.strftime("%B") if then.year == now.year else then.strftime("%B %Y")


def time_text(at: float, now: datetime.datetime) -> str:
    """The clock today, the weekday this week, else the date."""
    then = datetime.datetime.fromtimestamp(at)
    days = (now.date() - then.date()).days
    if days <= 0:
        return then.strftime("%H:%M")
    return then.strftime("%a") if days < 7 else then.strftime("%d %b")


def arrange(threads: Sequence[ThreadRecord], now: datetime.datetime | None = None) -> list[Row]:
    """Rows with headers: pinned first, then by day, newest first."""
    moment = now or datetime.datetime.now()
    newest = sorted(threads, key=lambda t: t.updated_at, reverse=True)
    rows: list[Row] = []
    group = ""
    for thread in sorted(newest, key=lambda t: not t.pinned):
        name = "Pinned" if thread.pinned else group_of(thread.updated_at, moment)
        if name != group:
            rows.append(Row(name))
            group = name
        rows.append(
            Row(thread.title or "New chat", thread.thread_id, time_text(thread.updated_at, moment), thread.pinned)
        )
    return rows


class ThreadListModel(QAbstractListModel):
    """Rows for a ``QListView`` with uniform sizes; moves nothing that did not change."""

    def __init__(self, board: RunBoard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._board = board
        self._rows: list[Row] = []
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
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (row.title, row.state, row.note) if part)
        if role == ThreadRole.ID:
            return row.thread_id
        if role == ThreadRole.KIND:
            return "thread" if row.thread_id else "header"
        if role == ThreadRole.STATE:
            return (self._board.state(row.thread_id).mark or row.state) if row.thread_id else ""
        if role == ThreadRole.TIME:
            return row.time_text
        if role == ThreadRole.NOTE:
            return row.note
        return row.pinned if role == ThreadRole.PINNED else None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Headers can be neither selected nor focused."""
        if not index.isValid() or not self._rows[index.row()].thread_id:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def show(self, rows: list[Row]) -> None:
        """Take new rows; the same rows in the same order only repaint where they differ."""
        if [r.thread_id or r.title for r in rows] == [r.thread_id or r.title for r in self._rows]:
            changed = [i for i, (a, b) in enumerate(zip(self._rows, rows, strict=True)) if a != b]
            self._rows = rows
            for i in changed:
                self.dataChanged.emit(self.index(i), self.index(i))
            return
        self.beginResetModel()
        self._rows = rows
        self._places = {row.thread_id: i for i, row in enumerate(rows) if row.thread_id}
        self.endResetModel()

    def place(self, thread_id: str) -> int:
        """The row of a thread, or -1."""
        return self._places.get(thread_id, -1)

    def refresh_state(self, thread_id: str) -> None:
        """Repaint one thread's state glyph."""
        row = self.place(thread_id)
        if row >= 0:
            self.dataChanged.emit(self.index(row), self.index(row))


def _begins(event: Event) -> bool:
    """The first message of an answer: its thread is the latest now, also where nobody wrote before it."""
    return isinstance(event, MessageOpened) and event.round_number <= 1


class ThreadsViewModel(QObject):
    """Everything a person does with the list of threads."""

    hits_changed = Signal(str, object)
    open_requested = Signal(str)
    deleted = Signal(str, str)
    rearranged = Signal()

    def __init__(
        self, service: ConversationService, bridge: Bridge, board: RunBoard, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._bridge = bridge
        self._board = board
        self._model = ThreadListModel(board, self)
        self._threads: dict[str, ThreadRecord] = {}
        self._search = 0
        self._reading = False
        self._read_again = False

    def model(self) -> ThreadListModel:
        """The rows for the view."""
        return self._model

    @property
    def threads(self) -> tuple[ThreadRecord, ...]:
        """All threads that are not deleted."""
        return tuple(self._threads.values())

    def take(self, events: tuple[Event, ...]) -> None:
        """Reread the list when a thread changed or was written in; many changes in a row cost one reading."""
        if any(isinstance(event, ThreadChanged | RunStarted | RunEnded) or _begins(event) for event in events):
            self.refresh()

    def refresh(self) -> None:
        """Read the list; while one reading is under way, another one is remembered, not started."""
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
        self._threads = {record.thread_id: record for record in records}
        self._show()
        if self._read_again:
            self._read_again = False
            self.refresh()

    def _show(self) -> None:
        self._model.show(arrange(list(self._threads.values())))
        self.rearranged.emit()

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
        """A person's title; never replaced by an automatic one."""
        clean = " ".join(title.split())[:200]
        if clean and thread_id in self._threads:
            self._change(replace(self._threads[thread_id], title=clean))
            self._bridge.spawn(self._service.rename(thread_id, clean), name="rename thread")

    def pin(self, thread_id: str, pinned: bool) -> None:
        """Keep a thread on top, or let it go back to its day."""
        if thread_id in self._threads:
            self._change(replace(self._threads[thread_id], pinned=pinned))
            self._bridge.spawn(self._service.pin(thread_id, pinned), name="pin thread")

    def delete(self, thread_id: str) -> None:
        """Take it from the list at once; ``undo_delete`` brings it back until the app is closed."""
        record = self._threads.pop(thread_id, None)
        if record is None:
            return
        self._show()
        self._bridge.spawn(self._service.delete(thread_id), name="delete thread")
        self.deleted.emit(thread_id, record.title or "New chat")

    def undo_delete(self, thread_id: str) -> None:
        """Bring a deleted thread back."""

        async def work() -> None:
            await self._service.undo_delete(thread_id)
            self.refresh()

        self._bridge.spawn(work(), name="undo delete")

    def _change(self, record: ThreadRecord) -> None:
        self._threads[record.thread_id] = record
        self._show()
