"""The names of columns over painted rows, where the rows draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.scaling import sized

Heads = Iterable[tuple[QRect, str, Qt.AlignmentFlag]]
"""(where, name, left or right) of each column; no width: there is no room for it."""


class ColumnHeads(QWidget):
    """28 pixels, over a line. ``place`` says where the columns of a box are; ``inset``: how far rows stand in, in
    pixels at 100 %."""

    def __init__(self, rows: QAbstractItemView, place: Callable[[QRect], Heads], inset: int) -> None:
        super().__init__()
        self._rows, self._place, self._inset = rows, place, inset
        rows.verticalScrollBar().rangeChanged.connect(lambda *_: self.update())
        sized(self, height=28)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Where the rows have their columns, a scroll bar beside them left out."""
        t = theme()
        painter = QPainter(self)
        bar = self.width() - self._rows.viewport().width() if self._rows.isVisible() else 0
        box = self.rect().adjusted(t.px(self._inset), 0, -t.px(self._inset) - bar, -t.px(4))
        painter.setFont(t.font("caption"))
        painter.setPen(t.color("text-2"))
        for rect, name, side in self._place(box):
            if rect.width():
                flags = int(Qt.AlignmentFlag.AlignVCenter | side | Qt.TextFlag.TextSingleLine)
                painter.drawText(rect.adjusted(0, 0, 0, -t.px(8)), flags, name)
        painter.fillRect(QRect(box.x(), box.bottom(), box.width(), 1), t.color("border"))
