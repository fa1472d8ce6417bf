"""What a scroll area of messages is asked: where a message stands, which one is at a point, what is drawn around it.

Other arrangements of messages (two lanes) answer differently; everything else of the area stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractScrollArea

from desktop.ui.theme import Theme
from desktop.ui.transcript.look import Look
from desktop.ui.transcript.message_frame import Frame, Variant
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.piece import Canvas
from desktop.ui.transcript.text_box import Marked

SIDE_PAD = 16


class Ground(QAbstractScrollArea):
    """The area makes these."""

    theme: Theme
    variant: Variant
    look: Look
    page: Page

    def make_page(self, frame: Frame) -> Page:
        """The messages; a page with another arrangement brings its own."""
        return Page(frame)

    def column(self) -> tuple[int, int]:
        """(left edge of the content column in the viewport, its width): the same with and without a scroll bar."""
        px, room = self.look.px, self.width() - self.verticalScrollBar().sizeHint().width()
        margin = px(32) if self.variant == "chat" else 0
        width = max(px(160), min(px(720), room - margin - 2 * px(SIDE_PAD)))
        return max(margin + px(4), (room - width - margin) // 2 + margin), width

    def span(self, index: int) -> tuple[int, int]:
        """(left edge of a message in the viewport, its width)."""
        del index
        return self.column()

    def number_at(self, x: float, y: float) -> tuple[int, int] | None:
        """(number, its y in the viewport) of the message at, or nearest to, a point."""
        del x
        best = None
        for index, top in self.visible():
            if best is None or top <= y:
                best = (index, top)
        return best

    def offset(self) -> int:
        """The thread's pixel at the top of the viewport."""
        return self.verticalScrollBar().value()

    def visible(self) -> Iterator[tuple[int, int]]:
        """(number, y in the viewport) of every message on the screen."""
        if not len(self.page):
            return
        room = self.viewport().height()
        index, into = self.page.at(self.offset())
        y = self.page.top(index) - self.offset()
        del into
        while index < len(self.page) and y < room:
            yield index, y
            y += self.page.heights[index]
            index += 1

    def width_wanted(self) -> float:
        """Of a message, for the room there is."""
        return float(self.column()[1])

    def moved(self) -> None:
        """What lies over the page has to follow it."""

    def canvas(self, painter: QPainter, clip: QRectF) -> Canvas:
        """What drawing needs."""
        return Canvas(painter, self.look, clip, self.viewport().devicePixelRatio(), ledger=self.variant == "chat")

    def marks(self, index: int) -> Sequence[Marked]:
        """Selected and found stretches of a message."""
        del index
        return ()

    def draw_under(self, canvas: Canvas) -> None:
        """More to draw before the messages."""

    def draw_over(self, canvas: Canvas, index: int, x: int, y: int) -> None:
        """More to draw over a message."""
