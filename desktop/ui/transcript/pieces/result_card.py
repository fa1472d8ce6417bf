"""A result at the end of an answer: what it is called, which version, and the way to it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.presenter.transcript.items import ResultPart
from desktop.ui.transcript.pieces.base import Canvas, Piece, Spot
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.widgets.shown import shown_line

HEIGHT, SLIM = 54, 36
OPEN, HIGH = "Open", 24
ICONS = {"page": "code", "code": "code", "tree": "code", "drawing": "appearance", "image": "appearance", "more": "more"}
"""Others have that of a file."""


class ResultPiece(Piece):
    """A card over the whole width."""

    __slots__ = ("_button", "_rect", "part")

    def __init__(self, key: str, part: ResultPart) -> None:
        super().__init__(key)
        self.part = part
        self._rect = self._button = QRectF()

    @property
    def _slim(self) -> bool:
        """Whether it only says that there is more."""
        return self.part.kind == "more"

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self.height = look.px(SLIM if self._slim else HEIGHT)
        self._rect = QRectF(0, 0, width, self.height)
        wide = look.metrics("small", 500).horizontalAdvance(OPEN) + look.px(22)
        top = (self.height - look.px(HIGH)) / 2
        self._button = QRectF(width - wide - look.px(12), top, wide, look.px(HIGH))
        self.text = f"{shown_line(self.part.name)}, {self.part.facts}"

    def spots(self) -> Sequence[Spot]:
        label = f"Open {shown_line(self.part.name)}, {self.part.facts}"
        return (Spot("action", f"{self.key}/open", self._rect, label, self.part.opens),)

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look, part, rect = canvas.look, self.part, self._rect.translated(origin)
        canvas.frame(rect, "selected" if part.is_open else "surface", "border-strong" if part.is_open else "border")
        canvas.hover_fill(self.spots()[0], origin)
        icon = ICONS.get(part.kind, "file")
        canvas.glyph(icon, "text-2", rect.x() + look.px(12), rect.y() + (self.height - look.px(16)) / 2, 16)
        left, right = rect.x() + look.px(38), rect.right() - look.px(12)
        if not part.is_open:
            right = self._draw_button(canvas, origin) - look.px(10)
        lines = self._lines(look, QRectF(left, rect.y(), max(0.0, right - left), self.height))
        for words, role, token, weight, box in lines:
            fitting = look.metrics(role, weight).elidedText(words, Qt.TextElideMode.ElideMiddle, box.width())
            canvas.words(fitting, box, role, token, weight)

    def _lines(self, look: PageLook, box: QRectF) -> list[tuple[str, str, str, int, QRectF]]:
        """Words, font, colour, weight and place of each."""
        name, facts = shown_line(self.part.name), self.part.facts
        if self._slim:
            return [(f"{name} {facts}", "small", "text-2", 400, box)]
        half, above = self.height / 2, look.px(4)
        return [
            (name, "body", "text", 500, QRectF(box.x(), box.y() + above, box.width(), half - above + look.px(1))),
            (facts, "small", "text-2", 400, QRectF(box.x(), box.y() + half, box.width(), half - above)),
        ]

    def _draw_button(self, canvas: Canvas, origin: QPointF) -> float:
        """Looks like a button; all of the card is one. Where it begins."""
        look, rect = canvas.look, self._button.translated(origin)
        canvas.frame(rect, "surface", "border-strong")
        canvas.words(OPEN, rect.adjusted(look.px(11), 0, 0, 0), "small", "text", 500)
        return rect.x()
