"""The activity log: every call and decision, newest first, with a filter. Arguments only as a redacted summary."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer
from PySide6.QtGui import QPainter, QShowEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.permission import AuditEntry
from desktop.presenter.approvals import ApprovalsViewModel
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge, elided, state
from desktop.ui.widgets.containers import EmptyState
from desktop.ui.widgets.fields import Field
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

ENTRY = int(Qt.ItemDataRole.UserRole)
FILTER_PAUSE = 200
BY = {
    "user": "You",
    "rule": "A rule",
    "remembered": "You, for this run",
    "no_handler": "Nobody to ask",
    "cancelled": "The run ended",
    "closed": "Assent closed",
    "setting": "A setting",
    "boundary": "The boundary",
    "blocklist": "The blocklist",
    "allowed tools": "Its list of tools",
    "visibility": "Not shown to it",
    "limit": "A limit",
    "schema": "Wrong arguments",
    "unknown tool": "No such tool",
    "pipeline": "Assent",
}
STATES = {"allowed": "allow", "refused": "deny", "denied": "deny"}
TIME, DECISION, TOOL, CATEGORY, OUTCOME, WHO = 104, 96, 124, 76, 128, 124


class ActivityModel(QAbstractListModel):
    """Entries as rows."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[AuditEntry, ...] = ()

    def set_entries(self, entries: Sequence[AuditEntry]) -> None:
        """Replace all."""
        self.beginResetModel()
        self._entries = tuple(entries)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The record under ``ENTRY``."""
        entry = self._entries[index.row()]
        if role == ENTRY:
            return entry
        words = f"{entry.tool} {entry.summary}"
        if role == Qt.ItemDataRole.DisplayRole:
            return words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            came = f", {entry.outcome}" if entry.outcome else ""
            return f"{when(entry.at)}, {decision_word(entry.decision)} by {who(entry)}{came}: {words}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(shown_line(line) for line in (words, *details(entry)) if line)
        return None


def details(entry: AuditEntry) -> list[str]:
    """Everything else that is known of a call, a line each."""
    named = (("original", "The model had asked for"), ("edited", "Edited to"), ("reason", "Reason"),
             ("raised_because", "Raised to admin"))  # fmt: skip
    more = [f"{words}: {entry.extra[name]}" for name, words in named if entry.extra.get(name)]
    return [*entry.paths[:8], " › ".join(entry.chain), *more]


def who(entry: AuditEntry) -> str:
    """By whom or what it was decided."""
    if entry.category == "read" and entry.by == "setting":
        return "Reads run"
    return BY.get(entry.by, shown_line(entry.by))


def decision_word(decision: str) -> str:
    """A stored choice in a word."""
    if decision == "allow_edited":
        return "edited"
    return "denied" if decision.startswith("deny") else "allowed" if decision.startswith("allow") else decision


def when(at: float) -> str:
    """Local time; the date too unless it is today."""
    then, now = time.localtime(at), time.localtime()
    pattern = "%H:%M:%S" if then[:3] == now[:3] else "%d %b %H:%M"
    return time.strftime(pattern, then)


class ActivityDelegate(RowDelegate):
    """Time, decision, tool, category, what, what came of it, who."""

    height = 36

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """One line of columns."""
        t = theme()
        entry: AuditEntry = index.data(ENTRY)
        x, height = box.x() + t.px(12), box.height()

        def write(text: str, width: int, role: str, token: str, *, weight: int | None = None) -> None:
            painter.setFont(t.font(role, weight))
            painter.setPen(t.color(token))
            painter.drawText(QRect(x, box.y(), width, height), _LEFT, elided(text, role, width, weight=weight))

        write(when(entry.at), t.px(TIME) - t.px(8), "small", "text-2")
        x += t.px(TIME)
        word = decision_word(entry.decision)
        state(painter, QRect(x, box.y(), t.px(DECISION), height), STATES.get(word, word), word)
        x += t.px(DECISION)
        write(shown_line(entry.tool), t.px(TOOL) - t.px(8), "code", "text", weight=500)
        x += t.px(TOOL)
        badge(painter, QRect(x, box.y(), t.px(CATEGORY), height), entry.category)
        x += t.px(CATEGORY)
        rest = max(t.px(40), box.right() - x - t.px(OUTCOME) - t.px(WHO) - t.px(8))
        write(shown_line(entry.summary), rest, "code", "text-2")
        x += rest + t.px(8)
        failed = entry.outcome.startswith("failed")
        write(shown_line(entry.outcome), t.px(OUTCOME) - t.px(8), "small", "failed" if failed else "text-2")
        x += t.px(OUTCOME)
        write(who(entry), t.px(WHO) - t.px(12), "small", "text-2")


class Activity(QWidget):
    """Filter and list; reads again each time it is shown."""

    def __init__(self, approvals: ApprovalsViewModel) -> None:
        super().__init__()
        self._approvals = approvals
        column = Column(self, spacing=0)
        bar = sized(pane("plain"), height=56)
        row = Row(bar, margins=(24, 0, 24, 0))
        self.filter = sized(Field("Filter", hint="Find a tool, path or decision", icon="search"), width=320)
        row.addWidget(self.filter)
        row.addStretch(1)
        self.count = Text("", "small", "3")
        row.addWidget(self.count)
        column.addWidget(bar)
        column.addWidget(_heads())
        self.model = ActivityModel()
        self.list = RowList("Activity", ActivityDelegate())
        self.list.setModel(self.model)
        column.addWidget(self.list, 1)
        self._empty = EmptyState("activity", "Nothing here yet", "Each call and each decision will be listed here.")
        column.addWidget(self._empty, 1)
        self._empty.hide()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(FILTER_PAUSE)
        self._pause.timeout.connect(self._ask)
        self.filter.textChanged.connect(self._later)
        approvals.activity_loaded.connect(self._show)

    def showEvent(self, event: QShowEvent) -> None:
        """Read what is there now."""
        super().showEvent(event)
        self._ask()

    def _later(self) -> None:
        self._pause.start()

    def _ask(self) -> None:
        self._approvals.query(self.filter.text().strip())

    def _show(self, entries: tuple[AuditEntry, ...]) -> None:
        self.model.set_entries(entries)
        self.count.setText(f"{len(entries):,} shown" if entries else "")
        self._empty.setVisible(not entries)
        self.list.setVisible(bool(entries))


def _heads() -> QWidget:
    heads = sized(pane("header"), height=32)
    row = Row(heads, margins=(20, 0, 8, 0), spacing=0)
    for title, width in (("Time", TIME), ("Decision", DECISION), ("Tool", TOOL), ("Category", CATEGORY)):
        row.addWidget(sized(Text(title, "caption", "3"), width=width))
    row.addWidget(Text("What", "caption", "3"), 1)
    row.addWidget(sized(Text("Outcome", "caption", "3"), width=OUTCOME))
    row.addWidget(sized(Text("By", "caption", "3"), width=WHO))
    return heads


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
