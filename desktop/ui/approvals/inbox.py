"""The list of what waits, of all runs, oldest first."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QHideEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QFrame, QStyleOptionViewItem

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.text.outside import named
from desktop.presenter.approvals.call_words import asks_words
from desktop.presenter.approvals.outcome_words import brief_words
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line, waited
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

REQUEST = int(Qt.ItemDataRole.UserRole)
SUMMARY_LIMIT = 300
FOLDED = re.compile(r"(\n|\t| )(?:[\s\u2800]{3,})")
"""A gap that would take the whole line."""


def summary(request: PermissionRequest) -> str:
    """One line that tells calls of the same tool apart: the path, the command, or the first argument."""
    for name in ("path", "command", "url", *(("says",) if asks_words(request) else ())):
        value = request.arguments.get(name)
        if isinstance(value, str):
            return shown_line(FOLDED.sub(r"\1 … ", value[: SUMMARY_LIMIT * 10])[:SUMMARY_LIMIT])
    for value in request.arguments.values():
        return shown_line(str(value)[:SUMMARY_LIMIT])
    return ""


class InboxModel(QAbstractListModel):
    """The requests as rows."""

    def __init__(self, thread_title: Callable[[str], str], titles: Mapping[str, str]) -> None:
        super().__init__()
        self._requests: tuple[PermissionRequest, ...] = ()
        self._thread_title, self._titles = thread_title, titles

    def set_requests(self, requests: Sequence[PermissionRequest]) -> None:
        """Show other requests."""
        self.beginResetModel()
        self._requests = tuple(requests)
        self.endResetModel()

    def row_of(self, request_id: str) -> int:
        """The row of a request, or -1."""
        return next((i for i, r in enumerate(self._requests) if r.request_id == request_id), -1)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """The number of waiting requests."""
        return 0 if parent.isValid() else len(self._requests)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The record under ``REQUEST``; words for a screen reader."""
        request = self._requests[index.row()]
        if role == REQUEST:
            return request
        if role == Qt.ItemDataRole.DisplayRole:
            return asks_words(request) or request.tool
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(summary(request))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            since = waited(time.time() - request.asked_at)
            called = asks_words(request) or request.tool
            return f"{request.category} call {called}, {summary(request)}, {self.origin(request)}, waits {since}"
        return None

    def origin(self, request: PermissionRequest) -> str:
        """The agent and the thread that a request comes from."""
        agent = self._titles.get(request.chain[0], request.chain[0]) if request.chain else ""
        code = f"code {request.place.partition(':')[0]}" if request.place else ""
        if request.is_outcome:
            return brief_words(request)
        whose = named(one.whose for one in request.outside) if request.outside else ""
        outside = f"follows text of {whose or 'outside'}" if request.follows else ""
        parts = (outside, agent, code, self._thread_title(request.seen_in))
        return shown_line(", ".join(part for part in parts if part))

    def tick(self) -> None:
        """Waiting times have grown."""
        if self._requests:
            self.dataChanged.emit(self.index(0), self.index(len(self._requests) - 1))


class InboxDelegate(RowDelegate):
    """Glyph of the category, tool and waiting time, summary, origin."""

    height = 80

    def __init__(self, model: InboxModel) -> None:
        super().__init__()
        self._model = model

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Boxes of 76 with 4 between."""
        option.rect = option.rect.adjusted(0, 0, 0, -theme().px(4))
        super().paint(painter, option, index)

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one request in three lines."""
        t = theme()
        request: PermissionRequest = index.data(REQUEST)
        line, left, right = t.px(20), box.x() + t.px(35), box.right() - t.px(9)
        top = box.y() + t.px(8)
        side = t.px(16)
        category = request.category.value
        glyph(painter, QRect(box.x() + t.px(9), top + t.px(3), side, line), category, category, side)
        since = waited(time.time() - request.asked_at)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        painter.drawText(QRect(left, top, right - left, line), _RIGHT, since)
        room = right - left - QFontMetrics(t.font("small")).horizontalAdvance(since) - t.px(8)
        painter.setFont(t.font("code", 500))
        painter.setPen(t.color("text"))
        asks = asks_words(request)
        if asks:
            painter.setFont(t.font("body", 500))
        tool = elided(asks or shown_line(request.tool), "body" if asks else "code", room, weight=500)
        painter.drawText(QRect(left, top, room, line), _LEFT, tool)
        width = right - left
        painter.setFont(t.font("code"))
        painter.setPen(t.color("text-2"))
        text = elided(summary(request), "code", width, middle="path" in request.arguments)
        painter.drawText(QRect(left, top + line, width, line), _LEFT, text)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-3"))
        origin = elided(self._model.origin(request), "small", width)
        painter.drawText(QRect(left, top + 2 * line, width, line), _LEFT, origin)


class Inbox(QFrame):
    """The list of waiting requests. ``picked`` carries the request that the person went to."""

    picked = Signal(object)

    def __init__(self, thread_title: Callable[[str], str], titles: Mapping[str, str]) -> None:
        """``titles`` are what a person reads of agents, by their names."""
        super().__init__()
        self.setProperty("pane", "list")
        column = Column(self, spacing=0)
        heads = sized(pane("plain"), height=36)
        row = Row(heads, margins=(16, 6, 16, 0))
        row.addWidget(Text("Oldest first", "caption", "3"))
        row.addStretch(1)
        row.addWidget(Text("waiting", "caption", "3"))
        column.addWidget(heads)
        self.model = InboxModel(thread_title, titles)
        self.list = RowList("Requests that wait", InboxDelegate(self.model))
        self.list.setModel(self.model)
        self.list.selectionModel().currentChanged.connect(self._moved)
        column.addWidget(self.list, 1)
        foot = pane("footer")
        words = "Nothing here becomes real until you answer. Waiting does not use up a run's time."
        Column(foot, margins=(16, 15, 16, 15)).addWidget(Paragraph(words, "small", "2"))
        column.addWidget(foot)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self.model.tick)

    def set_requests(self, requests: Sequence[PermissionRequest], current: str) -> None:
        """Show these and mark ``current``."""
        self.list.selectionModel().blockSignals(True)
        self.model.set_requests(requests)
        row = self.model.row_of(current)
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row))
        self.list.selectionModel().blockSignals(False)
        self.list.viewport().update()

    def _moved(self, index: QModelIndex) -> None:
        request = index.data(REQUEST) if index.isValid() else None
        if request is not None:
            self.picked.emit(request)

    def showEvent(self, event: QShowEvent) -> None:
        """Count only while seen."""
        self._clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the clock while the list is hidden."""
        self._clock.stop()


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)
