"""Lines above the composer's text: queued messages and attachments, each with a cross."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph
from desktop.ui.widgets.buttons import IconButton
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Text

SHOWN = 4
"""Lines shown by name; more are counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """``icon``, the text, a note at the right, and what the cross calls it."""

    icon: str
    text: str
    note: str
    what: str


class Glyph(QWidget):
    """An icon that follows the theme."""

    def __init__(self, name: str, token: str = "text-2") -> None:
        super().__init__()
        self._name, self._token = name, token
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """A small icon's square."""
        side = theme().metric("icon-small")
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it in the current colour."""
        side = theme().metric("icon-small")
        glyph(QPainter(self), QRect(0, 0, self.width(), self.height()), self._name, self._token, side)


class _LineRow(QWidget):
    removed = Signal()

    def __init__(self, line: Line) -> None:
        super().__init__()
        row = Row(self, spacing=8)
        row.addWidget(Glyph(line.icon))
        row.addWidget(Text(" ".join(line.text[:500].split()), "small", "2", elide="right"), 1)
        if line.note:
            row.addWidget(Text(line.note, "small", "3"))
        cross = IconButton("close", f"Remove {line.what}", side=20, glyph_side=14)
        cross.clicked.connect(self.removed)
        row.addWidget(cross)


class Lines(QWidget):
    """A column of lines; hidden while empty."""

    def __init__(self) -> None:
        super().__init__()
        self._column = Column(self, spacing=4)
        self.setVisible(False)

    def show_lines(self, lines: Sequence[Line], removed: Callable[[int], None]) -> None:
        """Show these lines; ``removed(i)`` is called when the cross of line i is pressed."""
        while self._column.count():
            item = self._column.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for place, line in enumerate(lines[:SHOWN]):
            row = _LineRow(line)
            row.removed.connect(lambda place=place: removed(place))
            self._column.addWidget(row)
        if len(lines) > SHOWN:
            self._column.addWidget(Text(f"and {len(lines) - SHOWN} more", "small", "3"))
        self.setVisible(bool(lines))
        self.updateGeometry()


