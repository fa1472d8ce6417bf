"""Marks of debates: a side's dot, the pips of its turns. Round is A, square is B: never by colour alone."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.domain.definitions import SideName
from desktop.ui.theme import theme
from desktop.ui.theme.paint import outline
from desktop.ui.widgets.never_cut import NeverCut

MAX_PIPS = 20
"""Of more turns the figure alone tells."""


def side_mark(painter: QPainter, box: QRectF, side: SideName, *, filled: bool = True) -> None:
    """A disc or a square."""
    t = theme()
    radius = box.width() / 2 if side == "a" else t.px(2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if filled:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color(f"side-{side}"))
        painter.drawRoundedRect(box, radius, radius)
    painter.restore()
    if not filled:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline(painter, box, radius, t.color("border-strong"))


class SideMark(QWidget):
    """The mark of a side, 10 pixels; it only accompanies words."""

    def __init__(self, side: SideName) -> None:
        super().__init__()
        self._side: SideName = side
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """The size that the mark is drawn in."""
        return QSize(theme().px(10), theme().px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark."""
        side = theme().px(10)
        side_mark(QPainter(self), QRectF(0, (self.height() - side) / 2, side, side), self._side)


class Pips(NeverCut, QWidget):
    """One for each turn: filled when done, outlined in its colour while it goes on, else quiet."""

    def __init__(self) -> None:
        super().__init__()
        self._done = self._turns = 0
        self._live = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_turns(self, done: int, turns: int, *, live: bool) -> None:
        """Show ``done`` of ``turns``; ``live``: one more is under way."""
        self._done, self._turns, self._live = done, turns if turns <= MAX_PIPS else 0, live
        self.setAccessibleName(f"{done} of {turns} turns done" if turns else f"{done} turns done")
        self.setVisible(bool(self._turns))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """10 each, 4 between."""
        px = theme().px
        return QSize(max(0, self._turns * px(14) - px(4)), px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the pips."""
        t, painter = theme(), QPainter(self)
        side = t.px(10)
        for at in range(self._turns):
            name: SideName = "b" if at % 2 else "a"
            box = QRectF(at * t.px(14), (self.height() - side) / 2, side, side)
            side_mark(painter, box, name, filled=at < self._done)
            if at == self._done and self._live:
                radius = side / 2 if name == "a" else t.px(2)
                outline(painter, box, radius, t.color(f"side-{name}"), 1.5)
