"""A place in a document that an answer names, as a chip in the line."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from desktop.ui.transcript.pieces.base import Canvas
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.widgets.shown import shown_line

ICON, PADDING, GAP, HEIGHT = 13, 6, 4, 20
"""Pixels at 100 %."""


class Citation:
    """``room``: a chip is never wider; the middle of a long name is left out."""

    __slots__ = ("_label", "width")

    def __init__(self, text: str, look: PageLook, room: float) -> None:
        around = look.px(2 * PADDING + ICON + GAP)
        metrics = look.metrics("small", 500)
        self._label = metrics.elidedText(shown_line(text), Qt.TextElideMode.ElideMiddle, max(0.0, room - around - 2))
        self.width = min(room, metrics.horizontalAdvance(self._label) + around + 1)

    def draw(self, canvas: Canvas, place: QRectF) -> None:
        """Where ``place`` is the caret before it."""
        look, painter = canvas.look, canvas.painter
        height = min(place.height() - 1, look.px(HEIGHT))
        box = QRectF(place.x(), place.y() + (place.height() - height) / 2, self.width, height).adjusted(
            0.5, 0.5, -0.5, -0.5
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(look.color("border-strong"), 1))
        painter.setBrush(look.color("surface"))
        painter.drawRoundedRect(box, look.px(4), look.px(4))
        side = look.px(ICON)
        at = QPointF(box.x() + look.px(PADDING), box.center().y() - side / 2)
        canvas.glyph("file", "text-2", at.x(), at.y(), ICON)
        painter.setFont(look.font("small", 500))
        painter.setPen(look.color("text"))
        words = QRectF(at.x() + side + look.px(GAP), box.y(), self.width, box.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._label)
        painter.restore()
