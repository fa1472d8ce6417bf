"""A message as one run of characters: where each character stands, and which one is at a point."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from PySide6.QtCore import QRectF

from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.transcript.flow import Flow, separator
from desktop.ui.transcript.message_frame import BLOCK_X, SIDE_X, Frame
from desktop.ui.transcript.pieces.base import Piece


def _y_of(flow: Flow) -> int:
    return flow.y


class MessageText:
    """``flows`` is None while the message is not laid out; ``y`` counts from the top of the message."""

    __slots__ = ("flows", "frame", "item")

    def __init__(self, item: TranscriptItem) -> None:
        self.item = item
        self.flows: list[Flow] | None = None
        self.frame: Frame | None = None

    @property
    def human(self) -> bool:
        return self.item.side == "human"

    def _inner(self, frame: Frame) -> tuple[float, float]:
        """(x of the parts, their width)."""
        look = frame.look
        if self.human:
            return look.px(BLOCK_X), frame.width - 2 * look.px(BLOCK_X)
        if frame.variant == "side":
            return look.px(SIDE_X), frame.width - look.px(SIDE_X + 16)
        return 0.0, frame.width

    def flows_between(self, top: float, bottom: float) -> Iterator[Flow]:
        """The parts that reach into a stretch of the message; found in O(log n)."""
        flows = self.flows or []
        for index in range(max(0, bisect_right(flows, top, key=_y_of) - 1), len(flows)):
            if flows[index].y > bottom:
                return
            if flows[index].y + flows[index].height >= top:
                yield flows[index]

    def pieces(self) -> Iterator[tuple[Piece, int, int]]:
        """(piece, its y in the message, its first character), from the top."""
        for flow in self.flows or ():
            for piece in flow.pieces:
                yield piece, flow.y + piece.y, flow.start + piece.start

    def inner_x(self) -> float:
        """Where the parts begin, right of the column's left edge."""
        return self._inner(self.frame)[0] if self.frame else 0.0

    def length(self) -> int:
        """Characters of the message's text."""
        return max(0, self.flows[-1].start + self.flows[-1].length) if self.flows else 0

    def piece_at(self, y: float) -> tuple[Piece, int, int] | None:
        """The piece at, or nearest to, a y."""
        best = None
        for found in self.pieces():
            if best is None or found[1] <= y:
                best = found
            else:
                return best if y < best[1] + best[0].height or found[1] - y > y - best[1] - best[0].height else found
        return best

    def offset_at(self, x: float, y: float) -> int:
        """The character gap nearest to a point of the message."""
        found = self.piece_at(y)
        if found is None:
            return 0
        piece, top, start = found
        return start + piece.offset_at(x - self.inner_x(), y - top)

    def piece_of(self, offset: int) -> tuple[Piece, int, int] | None:
        """The piece that has a character."""
        best = None
        for found in self.pieces():
            if found[2] > offset:
                break
            if found[0].text or best is None:
                best = found
        return best

    def cursor_rect(self, offset: int) -> QRectF:
        """A caret before the character, relative to the message."""
        found = self.piece_of(offset)
        if found is None:
            return QRectF(0, 0, 2, 20)
        piece, top, start = found
        return piece.cursor_rect(min(offset - start, len(piece.text))).translated(self.inner_x(), top)

    def text(self) -> str:
        """The whole text, in which offsets count."""
        out: list[str] = []
        for index, (piece, _, _) in enumerate(self.pieces()):
            if index:
                out.append(separator(piece))
            out.append(piece.text)
        return "".join(out)
