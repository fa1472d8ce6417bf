"""The rows of a list of models: painted, under the names of their connections."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from desktop.presenter.common.model_rows import ModelRow, ModelRows
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.rows import Index, RowDelegate

ROW, HEADING = 48, 26
"""Pixels at 100 %."""
AT_ONCE_S = 0.004
"""Seconds of a search that other work waits for."""


class ModelRowsList(QAbstractListModel):
    """Models with their headings; ``found`` after each search that came to its end. A long one lets other work in
    between."""

    found = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ModelRow] = []
        self.current = ""
        self.source = ModelRows((), lambda name: name)
        self.text = ""
        self._search: Iterator[list[ModelRow] | None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)

    @property
    def searching(self) -> bool:
        """Whether a search is under way."""
        return self._search is not None

    def show_models(self, source: ModelRows, current: str) -> None:
        """Show other models; what is sought stays."""
        self.source, self.current = source, current
        self.find(self.text)

    def find(self, text: str) -> None:
        """Look for models; the list stays as it is until there is an answer."""
        self.text, self._search = text, self.source.find(text)
        self._go_on()

    def _go_on(self) -> None:
        end = time.monotonic() + AT_ONCE_S
        while self._search is not None and time.monotonic() < end:
            rows = next(self._search)
            if rows is not None:
                self._search = None
                self.beginResetModel()
                self.rows = rows
                self.endResetModel()
                self.found.emit()
        if self._search is None:
            self._timer.stop()
        else:
            self._timer.start()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """Models and headings."""
        return len(self.rows)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Headings are there to be read."""
        both = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return both if self.rows[index.row()].can else Qt.ItemFlag.ItemIsEnabled

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """All that a row says, for a screen reader; the whole name in the tooltip."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{row.said}, in use" if row.can and row.ref == self.current else row.said
        return None


class ModelDelegate(RowDelegate):
    """Name and price, what it can below them; headings in small letters."""

    inset = 2

    def __init__(self, model: ModelRowsList) -> None:
        super().__init__()
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A heading is lower."""
        return QSize(theme().px(100), theme().px(ROW if self._model.rows[index.row()].can else HEADING))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A heading has no fill of its own."""
        row = self._model.rows[index.row()]
        if row.can:
            super().paint(painter, option, index)
            return
        t, rect = theme(), QRect(option.rect)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        room = rect.adjusted(t.px(10), t.px(4), -t.px(8), 0)
        words = elided(row.heading or row.note, "small", room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), words)

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one model."""
        t, row = theme(), self._model.rows[index.row()]
        left, right = box.x() + t.px(8), box.right() - t.px(8)
        upper = QRect(left, box.y() + t.px(5), right - left, t.px(20))
        lower = QRect(left, box.y() + t.px(24), right - left, t.px(18))
        if not row.facts and not (row.price or row.warning):
            upper = QRect(left, box.y(), right - left, box.height())
        end = self._at_the_end(painter, upper, row)
        tick = t.px(22) if row.ref == self._model.current else 0
        role = "code" if row.ref else "body"
        name = elided(row.name, role, end - left - tick, middle=True)
        painter.setFont(t.font(role))
        painter.setPen(t.color("text-2" if row.warning else "text"))
        painter.drawText(upper, int(Qt.AlignmentFlag.AlignVCenter), name)
        if tick:
            side, x = t.metric("icon-small"), left + QFontMetrics(t.font(role)).horizontalAdvance(name) + t.px(8)
            glyph(painter, QRect(x, upper.y(), side, upper.height()), "allow", "allow", side)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        facts = elided(row.facts, "small", lower.width())
        painter.drawText(lower, int(Qt.AlignmentFlag.AlignVCenter), facts)

    def _at_the_end(self, painter: QPainter, room: QRect, row: ModelRow) -> int:
        """What it costs, or why it is of no use; where that begins."""
        t = theme()
        words, token = (row.warning, "ask") if row.warning else (row.price, "text-2")
        if not words:
            return room.right()
        painter.setFont(t.font("small"))
        painter.setPen(t.color(token))
        side = t.metric("icon-badge") if row.warning else 0
        most = room.width() - t.px(90) if row.warning else room.width() * 3 // 5
        words = elided(words, "small", most - side)
        width = painter.fontMetrics().horizontalAdvance(words)
        spot = QRect(room.right() - width, room.y(), width + 1, room.height())
        painter.drawText(spot, int(Qt.AlignmentFlag.AlignVCenter), words)
        if not side:
            return spot.left() - t.px(8)
        glyph(painter, QRect(spot.left() - side - t.px(6), room.y(), side, room.height()), "failed", "ask", side)
        return spot.left() - side - t.px(14)
