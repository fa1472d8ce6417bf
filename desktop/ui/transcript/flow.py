"""A part of a message as a column of pieces. Text streams into it: only its open tail is parsed and laid out again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.transcript.items import (
    AttachmentPart,
    GivenPart,
    NoticePart,
    Part,
    PlainPart,
    ReasoningPart,
    ResultPart,
    TextPart,
    ToolPart,
)
from desktop.ui.transcript.colours.finished import CodeColours
from desktop.ui.transcript.colours.highlight import fence_name
from desktop.ui.transcript.drawings.shown import FenceDrawings
from desktop.ui.transcript.markdown.blocks import MarkdownSplitter
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.markdown.model import Block
from desktop.ui.transcript.markdown.text import normal_label
from desktop.ui.transcript.pieces.base import Piece
from desktop.ui.transcript.pieces.code import CodePiece, finished_code, joined
from desktop.ui.transcript.pieces.code_card import fits, make_card
from desktop.ui.transcript.pieces.formula import MathPiece
from desktop.ui.transcript.pieces.formulas import Formulas
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.media_strip import Pictures
from desktop.ui.transcript.pieces.plain import PlainPiece
from desktop.ui.transcript.pieces.result_card import ResultPiece
from desktop.ui.transcript.pieces.small import AttachmentPiece, GivenPiece, MorePiece, NoticePiece, ReasoningPiece
from desktop.ui.transcript.pieces.table import TablePiece
from desktop.ui.transcript.pieces.text import BlockPiece, RulePiece, TextPiece
from desktop.ui.transcript.pieces.tool_card import ToolCard

PASS = 24_000
"""Characters of streamed text parsed and laid out in one go (about 12 ms); the rest follows with the next frames."""

LONG_TEXT, LONG_LINES = 64_000, 1_000
"""Characters and lines of a stored text that are laid out at once; more on asking. A line of two letters costs as much
as one of eighty. Amid code, which shows pages of its own, there may be twice as many lines."""
_PAGE = re.compile(rf"(?>[^\n]*\n){{{LONG_LINES}}}")
_CODE_PAGE = re.compile(rf"(?>[^\n]*\n){{{2 * LONG_LINES}}}")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)

Openable = ToolCard | ReasoningPiece


@dataclass(frozen=True, slots=True)
class PieceTools:
    """What all pieces of a page share."""

    parser: InlineParser
    formulas: Formulas
    pictures: Pictures
    colours: CodeColours
    drawings: FenceDrawings


class Flow:
    """One part of a message, laid out. ``y`` and ``start`` (first character) are relative to the message, those of
    pieces to the flow."""

    def __init__(self, part: Part, tools: PieceTools) -> None:
        self.part = part
        self.tools = tools
        self.pieces: list[Piece] = []
        self.y = 0
        self.height = 0
        self.start = 0
        self.length = 0

    def build(self, look: PageLook, width: float) -> None:
        """Makes and lays out everything."""
        raise NotImplementedError

    def append(self, delta: str) -> None:
        """Add text; ``update`` shows it."""

    def update(self, look: PageLook, width: float) -> int | None:
        """Shows what was appended; returns the index of the first piece that changed, or None."""
        raise NotImplementedError

    def part_now(self) -> Part:
        """The part with everything that was appended."""
        return self.part

    def change(self, part: Part, look: PageLook, width: float) -> bool:
        """Takes a newer state of the part; False when the flow has to be made anew."""
        raise NotImplementedError

    def piece(self, key: str) -> Piece | None:
        """The piece of this key, or the one that stands for it."""
        return next((piece for piece in self.pieces if piece.key == key), None)

    @property
    def hidden(self) -> int:
        """Characters that are not laid out because nobody asked for them."""
        return 0

    @property
    def behind(self) -> bool:
        """Whether text has come that one more ``update`` would lay out."""
        return False

    def more(self) -> bool:
        """Shows more of a long text; returns whether there was more."""
        return False

    def lay_out_again(self, wanted: Callable[[Piece], bool], look: PageLook, width: float) -> bool:
        """Lays out those pieces that are ``wanted``; returns whether there were any."""
        found = [index for index, piece in enumerate(self.pieces) if wanted(piece)]
        for index in found:
            self.pieces[index].lay_out(look, width, self.pieces[index - 1] if index else None)
        if found:
            self.stack(look, found[0])
        return bool(found)

    def stack(self, look: PageLook, first: int = 0) -> None:
        """Places the pieces from ``first`` on under each other."""
        pieces = self.pieces
        first = max(0, min(first, len(pieces)) - 1)
        y = pieces[first - 1].y + pieces[first - 1].height if first else 0
        at = pieces[first - 1].start + len(pieces[first - 1].text) if first else 0
        for index in range(first, len(pieces)):
            piece = pieces[index]
            before = pieces[index - 1] if index else None
            piece.finish(look, pieces[index + 1] if index + 1 < len(pieces) else None)
            if before is not None:
                y += piece.gap(look, before) - piece.overlap
                at += len(separator(piece))
            piece.y, piece.start = y, at
            y += piece.height
            at += len(piece.text)
        self.height, self.length = y, at


def separator(piece: Piece) -> str:
    """What stands between a piece and the one before it in the message's plain text."""
    if isinstance(piece, BlockPiece) and piece.block.part:
        return piece.block.glue
    return "\n"


class SingleFlow(Flow):
    """A part that is one piece."""

    def __init__(self, part: Part, tools: PieceTools, opened: bool) -> None:
        super().__init__(part, tools)
        self._fresh = ""
        piece = _single_piece(part, tools.pictures)
        if isinstance(piece, Openable):
            piece.open = opened
        if isinstance(piece, ToolCard):
            piece.pictures = tools.pictures
        self.pieces = [piece]

    def build(self, look: PageLook, width: float) -> None:
        self.pieces[0].lay_out(look, width, None)
        self.stack(look)

    def change(self, part: Part, look: PageLook, width: float) -> bool:
        piece = self.pieces[0]
        self._fresh = ""  # a newer state has everything that was appended
        if type(part) is not type(self.part) or isinstance(piece, AttachmentPiece):
            return part == self.part
        if isinstance(part, ToolPart) and not fits(piece, part):
            return False
        if part != self.part:
            self.part = part
            piece.part = part  # type: ignore[attr-defined]
            self.build(look, width)
        return True

    def append(self, delta: str) -> None:
        self._fresh += delta

    def update(self, look: PageLook, width: float) -> int | None:
        """A reasoning text or a call's output grew."""
        if not self._fresh:
            return None
        self.change(self.part_now(), look, width)
        return 0

    def part_now(self) -> Part:
        fresh, self._fresh = self._fresh, ""
        if fresh and isinstance(self.part, ReasoningPart):
            return replace(self.part, text=self.part.text + fresh)
        if fresh and isinstance(self.part, ToolPart):
            return replace(self.part, result=self.part.result + fresh)
        return self.part


def _single_piece(part: Part, pictures: Pictures) -> Piece:
    if isinstance(part, ToolPart):
        return make_card(part.part_id, part)
    if isinstance(part, ReasoningPart):
        return ReasoningPiece(part.part_id, part)
    if isinstance(part, GivenPart):
        return GivenPiece(part.part_id, part)
    if isinstance(part, NoticePart):
        return NoticePiece(part.part_id, part)
    if isinstance(part, PlainPart):
        return PlainPiece(part.part_id, part)
    if isinstance(part, ResultPart):
        return ResultPiece(part.part_id, part)
    assert isinstance(part, AttachmentPart)
    return AttachmentPiece(part.part_id, part, pictures)


class TextFlow(Flow):
    """A text in Markdown. ``keep_breaks``: a line break ends a line, as in what a person typed."""

    def __init__(self, part: TextPart, tools: PieceTools, keep_breaks: bool) -> None:
        super().__init__(part, tools)
        self._keep_breaks = keep_breaks
        self._splitter = MarkdownSplitter()
        self._fresh, self._rest = part.markdown, ""
        if not part.live:
            self._fresh, self._rest = _page(part.markdown)
        self._chunks = [part.markdown]
        self._live = self._streamed = part.live
        self._frozen = 0
        self._serial = 0
        self._references: dict[str, str] = {}

    @property
    def live(self) -> bool:
        """Whether more may come."""
        return self._live

    @property
    def source(self) -> str:
        """Everything that came so far."""
        if len(self._chunks) > 1:
            self._chunks = ["".join(self._chunks)]
        return self._chunks[0]

    def part_now(self) -> TextPart:
        """The part with what was streamed into it."""
        assert isinstance(self.part, TextPart)
        return replace(self.part, markdown=self.source, live=self._live)

    def build(self, look: PageLook, width: float) -> None:
        if self.pieces:  # another width or look: everything that is known is laid out again
            for index, piece in enumerate(self.pieces):
                piece.lay_out(look, width, self.pieces[index - 1] if index else None)
            self.stack(look)
        self.update(look, width)

    def append(self, delta: str) -> None:
        self._chunks.append(delta)
        if self._rest:
            self._rest += delta
        else:
            self._fresh += delta

    @property
    def hidden(self) -> int:
        return len(self._rest) + len(self._fresh)

    @property
    def behind(self) -> bool:
        return bool(self._fresh)

    def more(self) -> bool:
        if not self._rest:
            return False
        fresh, self._rest = _page(self._rest)
        self._fresh += fresh
        return True

    def change(self, part: Part, look: PageLook, width: float) -> bool:
        if not isinstance(part, TextPart):
            return False
        source = self.source
        if not part.markdown.startswith(source) or (part.live and not self._live):
            return False
        if len(part.markdown) > len(source):
            self.append(part.markdown[len(source) :])
        self.part = part
        if self._live and not part.live:
            self._live = False
            self.update(look, width, closing=True)
        elif self._fresh:
            self.update(look, width)
        return True

    def update(self, look: PageLook, width: float, *, closing: bool = False) -> int | None:
        """Parses only what is new and the open tail."""
        if not self._fresh and not closing and self.pieces:
            return None
        maximum = PASS if self._streamed else LONG_TEXT
        closed = self._splitter.feed(self._fresh[:maximum])
        self._fresh = self._fresh[maximum:]
        ended = not (self._live or self._rest or self._fresh)
        if not ended:
            tail = self._splitter.tail()
        else:
            closed += self._splitter.finish()
            tail = []
        first = self._frozen
        new: list[Piece] = []
        for index, block in enumerate(closed + tail):
            before = new[-1] if new else (self.pieces[first - 1] if first else None)
            old = self.pieces[first + index] if first + index < len(self.pieces) else None
            whole = _whole(closed, index, ended) if block.kind == "code" and not block.part else ""
            new.append(self._piece(block, old, before, look, width, open_=index >= len(closed), whole=whole))
        if self._rest:
            new.append(MorePiece(self.part.part_id, len(self._rest)))
            new[-1].lay_out(look, width, None)
        self.pieces[first:] = new
        self._frozen = first + len(closed)
        for parts, code in finished_code(self.pieces, first, ended):
            parts[0].code.parts = parts
            self._know(parts[0], code)
        first = min(first, self._apply_references(look, width))
        self.stack(look, first)
        return first

    def _piece(
        self,
        block: Block,
        old: Piece | None,
        before: Piece | None,
        look: PageLook,
        width: float,
        *,
        open_: bool,
        whole: str,
    ) -> Piece:
        if isinstance(old, BlockPiece) and old.accepts(block):
            unchanged = old.block == block and not (isinstance(old, TextPiece | MathPiece) and old.open != open_)
            if unchanged:
                return old
            piece: Piece = old
        else:
            piece = self._make(block)
        if whole and isinstance(piece, CodePiece):  # colours that are known count from the first time it is laid out
            self._know(piece, whole)
        if isinstance(piece, TextPiece | MathPiece | CodePiece | TablePiece):
            piece.update(block, open_=open_)
        piece.lay_out(look, width, before)
        return piece

    def _know(self, piece: CodePiece, code: str) -> None:
        """A block of code that begins with this part is whole."""
        language = fence_name(piece.block.info)
        self.tools.colours.finished(piece.code, language, code)
        self.tools.drawings.finished(piece.code, language, code)

    def _make(self, block: Block) -> Piece:
        self._serial += 1
        key = f"{self.part.part_id}#{self._serial}"
        if block.kind == "code":
            return CodePiece(key, block, self.tools.drawings)
        if block.kind == "table":
            return TablePiece(key, block, self.tools.parser, self._references)
        if block.kind == "math":
            return MathPiece(key, block, self.tools.formulas)
        if block.kind == "rule":
            return RulePiece(key, block)
        return TextPiece(key, block, self.tools, self._references, self._keep_breaks)

    def _apply_references(self, look: PageLook, width: float) -> int:
        """Link definitions that came late are applied to the pieces above that use them."""
        found = self._splitter.references
        fresh = found.keys() - self._references.keys()
        first = len(self.pieces)
        if not fresh:
            return first
        self._references.update(found)
        for index, piece in enumerate(self.pieces):
            if isinstance(piece, TextPiece | TablePiece) and _uses(piece.block.text, fresh):
                if isinstance(piece, TablePiece):
                    piece.forget()
                piece.lay_out(look, width, self.pieces[index - 1] if index else None)
                first = min(first, index)
        return first


def _whole(closed: Sequence[Block], index: int, ended: bool) -> str:
    """The code of the block that begins there, if all of it is among these."""
    end = index + 1
    while end < len(closed) and closed[end].part:
        end += 1
    return joined(closed[index:end]) if end < len(closed) or (ended and index < len(closed)) else ""


def _page(text: str) -> tuple[str, str]:
    """(a page's worth of text up to the end of a line, the rest)."""
    page = _PAGE.match(text, 0, LONG_TEXT)
    if page is not None and len(_FENCE.findall(page[0])) % 2:
        page = _CODE_PAGE.match(text, 0, LONG_TEXT)
    if page is not None:
        end = page.end()
    elif len(text) > LONG_TEXT:
        end = text.rfind("\n", LONG_TEXT // 2, LONG_TEXT) + 1 or LONG_TEXT
    else:
        return text, ""
    return text[:end], text[end:]


def _uses(text: str, labels: set[str]) -> bool:
    folded = normal_label(text)
    return any(f"[{label}]" in folded for label in labels)
