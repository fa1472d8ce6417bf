"""The one shadow: painted once a size class into a pixmap and stretched, for palette, dialogs, menus and toasts."""

from __future__ import annotations

import math

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import outline

REACH = 20
"""Pixels at 100 % that a widget leaves free around its box for the shadow."""
_BLUR, _OFFSET, _STEPS = 16, 4, 23
_made: dict[tuple[str, float, int], QPixmap] = {}


def raised_box(painter: QPainter, box: QRect, radius_name: str = "radius-dialog") -> None:
    """Shadow, ``raised`` fill and outline of ``box``, which lies ``REACH`` inside what may be painted."""
    t = theme()
    radius = t.metric(radius_name)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    reach = t.px(REACH)
    edge = reach + radius + t.px(4)
    _nine_patch(painter, box.adjusted(-reach, -reach, reach, reach), edge, _shadow(radius, reach, edge))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(t.color("raised"))
    painter.drawRoundedRect(QRectF(box), radius, radius)
    outline(painter, QRectF(box), radius, t.color("border-strong"))
    painter.restore()


def _nine_patch(painter: QPainter, target: QRect, edge: int, pixmap: QPixmap) -> None:
    """Corners as they are, edges stretched, the middle left out: the box covers it."""
    side = pixmap.width()
    columns = _cuts(target.left(), target.width(), edge, side)
    rows = _cuts(target.top(), target.height(), edge, side)
    for column, (x, width, from_x, from_width) in enumerate(columns):
        for row, (y, height, from_y, from_height) in enumerate(rows):
            if (column, row) != (1, 1):
                source = QRect(from_x, from_y, from_width, from_height)
                painter.drawPixmap(QRect(x, y, width, height), pixmap, source)


def _cuts(start: int, length: int, edge: int, side: int) -> tuple[tuple[int, int, int, int], ...]:
    """(target start, target length, source start, source length) of the three parts along one direction."""
    near = min(edge, length // 2)
    far = min(edge, length - near)
    middle = length - near - far
    return (
        (start, near, 0, near),
        (start + near, middle, edge, side - 2 * edge),
        (start + near + middle, far, side - far, far),
    )


def _shadow(radius: int, reach: int, edge: int) -> QPixmap:
    t = theme()
    key = (t.mode, t.scale, radius)
    found = _made.get(key)
    if found is None:
        found = _made[key] = _paint_shadow(radius, reach, edge)
    return found


def _paint_shadow(radius: int, reach: int, edge: int) -> QPixmap:
    """Many faint rounded rectangles, spaced so that their sum falls off like a blur of 16 pixels."""
    t = theme()
    side = 2 * edge + 8
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    color = t.color("shadow")
    step_alpha = max(1, round(color.alpha() / _STEPS))
    painter.setBrush(QColor(color.red(), color.green(), color.blue(), step_alpha))
    box = QRectF(reach, reach + t.px(_OFFSET), side - 2 * reach, side - 2 * reach)
    spread = t.px(_BLUR) * 0.27
    for step in range(1, _STEPS):
        share = step / _STEPS
        grow = min(float(reach), spread * math.log((1 - share) / share))
        corner = max(1.0, radius + grow)
        painter.drawRoundedRect(box.adjusted(-grow, -grow, grow, grow), corner, corner)
    painter.end()
    return pixmap


class RaisedBox(QWidget):
    """A child of the window that draws a raised box with its shadow; contents go inside ``box``."""

    def __init__(self, parent: QWidget, radius: str = "radius-dialog") -> None:
        super().__init__(parent)
        self._radius = radius

    def box(self) -> QRect:
        """The visible box, without the shadow."""
        reach = theme().px(REACH)
        return self.rect().adjusted(reach, reach, -reach, -reach)

    def place(self, box: QRect) -> None:
        """Put the visible box at ``box`` in the parent's coordinates."""
        reach = theme().px(REACH)
        self.setGeometry(box.adjusted(-reach, -reach, reach, reach))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box."""
        raised_box(QPainter(self), self.box(), self._radius)

    def covers(self, point: QPoint) -> bool:
        """Whether a point of this widget is on the box."""
        return self.box().contains(point)
