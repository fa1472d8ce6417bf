"""A text exactly as it is, in mono and wrapped: no Markdown is read in it, and what is copied is what was given."""

from __future__ import annotations

from collections.abc import Iterator

from desktop.presenter.transcript.items import PlainPart
from desktop.ui.transcript.pieces.base import Piece, PlacedBox
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text_box import TextBox

CHUNK = 2000
"""Letters that are laid out at once, cut where a line ends."""


class PlainPiece(Piece):
    """Boxes below each other; together they are the text."""

    __slots__ = ("part",)

    def __init__(self, key: str, part: PlainPart) -> None:
        super().__init__(key)
        self.part = part

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self.text, self.boxes = self.part.shown, []
        y, style = 0, look.style("code")
        for base, chunk in chunks(self.text):
            box = TextBox(chunk, style)
            box.lay_out(width)
            self.boxes.append(PlacedBox(box, 0, y, base, room=width))
            y += box.height
        self.height = y


def chunks(text: str) -> Iterator[tuple[int, str]]:
    """(where it begins, a stretch of the text): cut at a line's end, which no stretch holds, else behind a blank."""
    at = 0
    while at < len(text) or not at:
        end = min(at + CHUNK, len(text))
        line = text.rfind("\n", at + 1, end) if end < len(text) else -1
        blank = text.rfind(" ", at, end) + 1 if end < len(text) else 0
        if line > 0:
            yield at, text[at:line]
            at = line + 1
        else:
            end = blank if blank > at else end
            yield at, text[at:end]
            at = end
        if not text:
            return
