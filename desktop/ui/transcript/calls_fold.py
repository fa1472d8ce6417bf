"""Finished calls of a long run as one line, which opens to their cards; and the flow of any part."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.presenter.transcript.items import CallsPart, Part, TextPart
from desktop.ui.transcript.flow import Flow, Openable, PieceTools, SingleFlow, TextFlow
from desktop.ui.transcript.pieces.base import Canvas, Piece, Spot
from desktop.ui.transcript.pieces.code_card import make_card
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.tool_card import FOLDED, ToolCard
from desktop.ui.transcript.pieces.tool_drawing import calls_words


class CallsPiece(Piece):
    """The line that stands for folded calls. When it is opened, the cards follow it as pieces of their own."""

    __slots__ = ("_width", "_words", "open", "part")

    def __init__(self, part: CallsPart) -> None:
        super().__init__(part.part_id)
        self.part = part
        self.open = False
        self._words = calls_words(part.calls)
        self._width = 0.0

    def toggle(self) -> None:
        """Open or fold the calls."""
        self.open = not self.open

    def more(self) -> None:
        """There is no more than it shows."""

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self._width, self.height = width, look.px(FOLDED)
        self.text = " ".join(self._words)

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look, count, tools, states = canvas.look, *self._words
        frame = QRectF(origin.x(), origin.y(), self._width, self.height)
        canvas.frame(frame, "surface", "border")
        icon = "down" if self.open else "right"
        canvas.glyph(icon, "text-2", origin.x() + look.px(9), origin.y() + (self.height - look.px(14)) / 2, 14)
        canvas.words(states, frame.adjusted(0, 0, -look.px(13), 0), "small", "text-2", 500, right=True)
        right = frame.right() - look.px(21) - look.metrics("small", 500).horizontalAdvance(states)
        x = origin.x() + look.px(31)
        canvas.words(count, QRectF(x, origin.y(), right - x, self.height), "small", "text", 500)
        x += look.metrics("small", 500).horizontalAdvance(count) + look.px(9)
        elided = look.metrics("code").elidedText(tools, Qt.TextElideMode.ElideRight, right - x)
        canvas.words(elided, QRectF(x, origin.y(), right - x, self.height), "code", "text-2")
        if canvas.focus == f"{self.key}/head":
            canvas.ring(frame.adjusted(2, 2, -2, -2))

    def spots(self) -> Sequence[Spot]:
        verb = "Fold" if self.open else "Open"
        rect = QRectF(0, 0, self._width, self.height)
        return (Spot("toggle", f"{self.key}/head", rect, f"{verb} {self.text}", self.key),)


class CallsFlow(Flow):
    """The line and, while it is open, its cards. ``opened``: what a person opened in the message."""

    def __init__(self, part: CallsPart, tools: PieceTools, opened: Collection[str]) -> None:
        super().__init__(part, tools)
        self._head = CallsPiece(part)
        self._head.open = part.part_id in opened
        self._opened = opened
        self._cards: list[ToolCard] = []
        self.pieces = [self._head]

    def build(self, look: PageLook, width: float) -> None:
        assert isinstance(self.part, CallsPart)
        if self._head.open and not self._cards:
            self._cards = [make_card(call.part_id, call) for call in self.part.calls]
            for card in self._cards:
                card.open = card.key in self._opened
                card.pictures = self.tools.pictures
        self.pieces = [self._head, *(self._cards if self._head.open else ())]
        for piece in self.pieces:
            piece.lay_out(look, width, None)
        self.stack(look)

    def change(self, part: Part, look: PageLook, width: float) -> bool:
        del look, width
        return part == self.part

    def update(self, look: PageLook, width: float) -> int | None:
        """Finished calls do not grow."""
        del look, width
        return None

    def piece(self, key: str) -> Piece | None:
        """The card of a call, or the line while it is folded into it."""
        assert isinstance(self.part, CallsPart)
        known = super().piece(key)
        folded = known is None and any(call.part_id == key for call in self.part.calls)
        return self._head if folded else known


def make_flow(part: Part, tools: PieceTools, *, opened: Collection[str], human: bool) -> Flow:
    """The flow of a part; ``opened`` holds the keys of what a person opened."""
    if isinstance(part, TextPart):
        return TextFlow(part, tools, human)
    if isinstance(part, CallsPart):
        return CallsFlow(part, tools, opened)
    return SingleFlow(part, tools, part.part_id in opened)


def opens(piece: Piece | None) -> Openable | CallsPiece | None:
    """The piece, if it is one that opens and folds."""
    return piece if isinstance(piece, Openable | CallsPiece) else None
