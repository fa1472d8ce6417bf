"""What is selected: two places in the thread, counted in messages and characters, so that it survives streaming.

A place is (number of the message, character in its text). Characters that were selected stay selected while text is
added behind them, while layouts come and go, and while older messages are loaded above.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from desktop.ui.transcript.markdown.blocks import split_markdown
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.pieces.base import Piece
from desktop.ui.transcript.pieces.code import CodePiece
from desktop.ui.transcript.pieces.text import BlockPiece

Place = tuple[int, int]
END = 1 << 40
"""Further than any message is long."""
READ_PLAIN = 200
"""Whole messages of a copy that are read as plain text; of more, the Markdown they were written in is taken."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Selection:
    """``anchor`` stays, ``caret`` moves."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.anchor: Place | None = None
        self.caret: Place | None = None
        self._unit: tuple[Place, Place] | None = None

    def clear(self) -> None:
        self.anchor = self.caret = self._unit = None

    def begin(self, place: Place) -> None:
        """Starts a selection of nothing."""
        self.anchor = self.caret = place
        self._unit = None

    def begin_unit(self, start: Place, end: Place) -> None:
        """Starts with a word or a paragraph; extending keeps all of it."""
        self.anchor, self.caret = start, end
        self._unit = (start, end)

    def extend(self, place: Place, end: Place | None = None) -> None:
        """Move the caret; ``end``: the end of the unit at ``place``."""
        if self.anchor is None:
            self.begin(place)
            return
        if self._unit is not None:
            first, last = self._unit
            self.anchor = last if place < first else first
            place = place if place < first else max(last, end or place)
        self.caret = place

    def shift(self, count: int) -> None:
        """Move the selection by ``count`` messages, which were put in front."""

        def moved(place: Place | None) -> Place | None:
            return (place[0] + count, place[1]) if place is not None else None

        self.anchor, self.caret = moved(self.anchor), moved(self.caret)
        self._unit = None

    def range(self) -> tuple[Place, Place] | None:
        """(start, end) in reading order, or None when nothing is selected."""
        if self.anchor is None or self.caret is None or self.anchor == self.caret:
            return None
        return min(self.anchor, self.caret), max(self.anchor, self.caret)

    def within(self, index: int) -> tuple[int, int] | None:
        """The selected characters of a message."""
        found = self.range()
        if found is None or not found[0][0] <= index <= found[1][0]:
            return None
        start, end = found
        return (start[1] if index == start[0] else 0), (end[1] if index == end[0] else END)

    def select_all(self) -> None:
        if len(self._page):
            self.anchor, self.caret, self._unit = (0, 0), (len(self._page) - 1, END), None

    def text(self, lay_out: Callable[[int], None], *, markdown: bool = False) -> str:
        """The selected text. ``lay_out`` makes sure that a message which is selected in part can be read."""
        found = self.range()
        if found is None:
            return ""
        (first, _), (last, _) = found
        out = []
        for index in range(first, last + 1):
            start, end = self.within(index) or (0, 0)
            message = self._page.messages[index]
            whole = start == 0 and end >= END
            if whole and (message.flows is None or message.hidden):
                out.append(_unseen(message, markdown or last - first > READ_PLAIN))
                continue
            if message.flows is None:
                lay_out(index)
            out.append(stretch(message, start, end, markdown=markdown))
        return "\n\n".join(part for part in out if part)


def _unseen(message: Message, as_source: bool) -> str:
    """A whole message that has no layout."""
    source = message.source()
    if as_source:
        return source
    blocks, references = split_markdown(source)
    parser = InlineParser()
    out = ""
    for block in blocks:
        verbatim = block.kind in ("code", "table", "math")
        text = block.text if verbatim else parser.parse(block.text, references)[0].replace("\u2028", "\n")
        markers = "".join(f"{'  ' * depth}{marker} " for depth, marker in block.markers)
        tight = block.markers and not block.loose
        out += (block.glue if block.part else ("\n" if tight else "\n\n") if out else "") + markers + text
    return out


def stretch(message: Message, start: int, end: int, *, markdown: bool) -> str:
    """Characters ``start`` to ``end`` of a message that is laid out, as plain text or as Markdown."""
    out: list[str] = []
    before: Piece | None = None
    fence: CodePiece | None = None
    for piece, _, at in message.pieces():
        low, high = max(0, start - at), min(len(piece.text), end - at)
        if high < low or (low == high and piece.text) or (not piece.text and not start <= at < end):
            continue
        if before is not None:
            out.append(_between(before, piece))
        if markdown and isinstance(piece, CodePiece):
            out.append(_code(piece, low, high, fence))
            fence = piece
        else:
            out.append(piece.markdown(low, high) if markdown else piece.plain(low, high))
        before = piece
    return "".join(out)


def _code(piece: CodePiece, low: int, high: int, before: CodePiece | None) -> str:
    """Code inside one fence: parts of a block share it."""
    goes_on = before is not None and piece.before is before
    head = "" if goes_on else f"```{piece.block.info}\n"
    return head + piece.text[low:high] + ("\n```" if piece.last or high < len(piece.text) else "")


def _between(before: Piece, piece: Piece) -> str:
    if not isinstance(piece, BlockPiece):
        return "\n\n"
    block = piece.block
    if block.part and isinstance(before, BlockPiece) and before.block.part == block.part - 1:
        return block.glue
    in_list = isinstance(before, BlockPiece) and bool(before.block.path) and bool(block.markers)
    return "\n" if in_list and not block.loose else "\n\n"


def word_around(text: str, offset: int) -> tuple[int, int]:
    """The word, the spaces or the sign at a place."""
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\u2028", 0, offset)) + 1
    window_start = max(line_start, offset - 400)
    for match in _WORD.finditer(text, window_start, min(len(text), offset + 400)):
        if match.start() <= offset < match.end() or (match.end() == offset == len(text)):
            return match.span()
    return offset, offset


def next_word(text: str, offset: int, direction: int) -> int:
    """Where the caret goes by one word."""
    if direction > 0:
        found = re.compile(r"\s*\w+|\s*[^\w\s]+|\s+").match(text, offset)
        return found.end() if found else len(text)
    starts = [match.start() for match in re.finditer(r"\w+|[^\w\s]+", text[max(0, offset - 400) : offset])]
    return max(0, offset - 400) + starts[-1] if starts else 0
