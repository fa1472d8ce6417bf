"""Every event of a run, in order: filtered by text and type, copied one by one or all together."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QFrame

from desktop.domain.runs.traces import TYPES, TraceEntry
from desktop.domain.text.words import count_words
from desktop.presenter.trace.panel import TraceViewModel
from desktop.presenter.trace.words import event_words, moment
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import Combo, Field
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, RowDelegate
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

ENTRY = int(Qt.ItemDataRole.UserRole)
PAUSE = 150
"""Milliseconds after a keystroke before the events are searched."""
SHOWN = 200
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_TONES = {"error": "failed", "retry": "ask", "tool-waiting": "ask"}


class EventModel(QAbstractListModel):
    """The list of the view-model; ``follow`` after it grew or was replaced."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[TraceEntry] = []
        self._count = 0

    def follow(self, entries: list[TraceEntry]) -> None:
        """The same list with more at its end, or another one."""
        if entries is not self._entries or len(entries) < self._count:
            self.beginResetModel()
            self._entries, self._count = entries, len(entries)
            self.endResetModel()
        elif len(entries) > self._count:
            self.beginInsertRows(QModelIndex(), self._count, len(entries) - 1)
            self._count = len(entries)
            self.endInsertRows()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """The number of events that are shown."""
        return 0 if parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The entry under ``ENTRY``."""
        entry = self._entries[index.row()]
        if role == ENTRY:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            who = f" of {entry.agent}" if entry.agent else ""
            return shown_line(f"{moment(entry.at)} {entry.type}{who}: {event_words(entry)}"[:SHOWN])
        return None


class EventDelegate(RowDelegate):
    """Time, type, who, what."""

    height = 28
    inset = 8

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one event."""
        t = theme()
        entry: TraceEntry = index.data(ENTRY)
        x = box.x() + t.px(8)
        painter.setFont(t.font("mono-small"))
        painter.setPen(t.color("text-3"))
        clock = moment(entry.at)
        painter.drawText(QRect(x, box.y(), t.px(90), box.height()), _LEFT, clock)
        x += QFontMetrics(t.font("mono-small")).horizontalAdvance(clock) + t.px(8)
        failed = entry.type == "tool-result" and entry.data.get("isError")
        painter.setFont(t.font("small", 500))
        painter.setPen(t.color("failed" if failed else _TONES.get(entry.type, "text")))
        painter.drawText(QRect(x, box.y(), t.px(104), box.height()), _LEFT, entry.type)
        x += t.px(104)
        room = QRect(x, box.y(), max(0, box.right() - t.px(8) - x), box.height())
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        agent = f"{entry.agent}: " if entry.agent and entry.ancestor + entry.call else ""
        words = shown_line(f"{agent}{event_words(entry)}"[:SHOWN])
        painter.drawText(room, _LEFT, elided(words, "small", room.width()))


class EventRows(FixedRows):
    """``chosen`` (entry) follows the current line, ``copy_wanted`` (entry) by Ctrl+C."""

    chosen = Signal(object)
    copy_wanted = Signal(object)

    def __init__(self, model: EventModel) -> None:
        super().__init__("Events of the run", EventDelegate())
        model.setParent(self)
        self.setModel(model)
        self.selectionModel().currentChanged.connect(self._moved)

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(now.data(ENTRY))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies the line."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            self.copy_wanted.emit(self.currentIndex().data(ENTRY))
        else:
            super().keyPressEvent(event)


class EventsView(QFrame):
    """The view of events: filter, count, list. ``chosen`` (entry) for what shows below."""

    chosen = Signal(object)

    def __init__(self, trace: TraceViewModel) -> None:
        super().__init__()
        self._trace = trace
        self.setProperty("pane", "plain")
        self.field = Field("Find in the events", hint="Find in the events", icon="search")
        self.types = Combo("Type of event", quiet=True)
        self.types.fill([("All types", ""), *((kind, kind) for kind in TYPES)])
        self.count = Text("", "small", "3")
        self.copy_all = IconButton("copy", "Copy all that show as JSON Lines", side=24)
        self.model = EventModel()
        self.list = EventRows(self.model)
        column = Column(self, margins=(0, 8, 0, 0), spacing=6)
        first, second = Row(margins=(16, 0, 16, 0), spacing=8), Row(margins=(16, 0, 12, 0), spacing=8)
        first.addWidget(self.field, 1)
        second.addWidget(self.types)
        second.addWidget(self.count)
        second.addStretch(1)
        second.addWidget(self.copy_all)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.list, 1)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(lambda: trace.filter_events(text=self.field.text()))
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.types.currentIndexChanged.connect(lambda _: trace.filter_events(kind=str(self.types.currentData() or "")))
        self.copy_all.clicked.connect(lambda: trace.copy(trace.events, count_words(len(trace.events), "event")))
        self.list.copy_wanted.connect(lambda entry: trace.copy([entry], "The event"))
        self.list.chosen.connect(self.chosen)
        trace.events_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the events as they are now. At the end of a run under way the list stays at its end."""
        end = self.list.at_end and self._trace.live
        self.model.follow(self._trace.events)
        self.list.updateGeometries()
        if end:
            self.list.verticalScrollBar().setValue(self.list.verticalScrollBar().maximum())
        self.count.setText(count_words(len(self._trace.events), "event"))
        self.count.updateGeometry()
        self.copy_all.setEnabled(bool(self._trace.events))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes to the list, Escape empties the search."""
        if event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        elif event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
        else:
            super().keyPressEvent(event)
