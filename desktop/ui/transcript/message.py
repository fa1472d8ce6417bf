"""One message on the page: its header or block, its parts under each other, its text as one run of characters.

A message is laid out only when it comes near the screen; before, its height is an estimate. What a person opened in
it is remembered while the layout is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.presenter.transcript_items import Part, ReasoningPart, TextPart, ToolPart, TranscriptItem
from desktop.ui.theme.paint import side_bar
from desktop.ui.transcript.flow import Flow, Openable, Tools, make_flow, separator
from desktop.ui.transcript.look import Look
from desktop.ui.transcript.piece import Canvas, Piece, Spot
from desktop.ui.transcript.text_box import Marked
from desktop.ui.transcript.text_pieces import BlockPiece

Variant = Literal["chat", "side"]
GAP = 16
HEADER = 20
HEADER_GAP = 8
BLOCK_X, BLOCK_Y = 16, 9
SIDE_X, SIDE_Y = 19, 11
SIBLING_ROW = 24
"""Pixels at 100 %."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a message needs to lay itself out: fonts and sizes, shared tools, column width, variant."""

    look: Look
    tools: Tools
    width: float
    variant: Variant = "chat"


class Message:
    """``flows`` is None while it is not laid out."""

    __slots__ = ("_frame", "_head", "_spots", "flows", "height", "item", "opened", "partial")

    def __init__(self, item: TranscriptItem) -> None:
        self.item = item
        self.flows: list[Flow] | None = None
        self.opened: set[str] = set()
        self.height = 0
        self.partial: dict[str, list[str]] = {}
        self._frame: Frame | None = None
        self._head = 0
        self._spots: list[Spot] = []

    @property
    def human(self) -> bool:
        return self.item.side == "human"

    # --------------------------------------------------------------------------------------------------------- layout

    def estimate(self, look: Look, width: float) -> int:
        """A height from the amount of text, in about 2 microseconds."""
        lines = 0.0
        extra = 0
        for part in self.item.parts:
            if isinstance(part, TextPart):
                text = part.markdown
                lines += len(text) / 95 + text.count("\n") * 0.62
            else:
                extra += 46
        return max(40, int((lines * 22 + extra + 52) * look.theme.scale)) if width > 0 else 40

    def lay_out(self, frame: Frame) -> int:
        """Lays everything out; returns the height."""
        self._take_partial()
        self._frame = frame
        self.flows = []
        for part in self.item.parts:
            self.flows.append(self._make(part, frame))
        return self.stack()

    def _make(self, part: Part, frame: Frame) -> Flow:
        flow = make_flow(part, frame.tools, opened=part.part_id in self.opened, human=self.human)
        flow.build(frame.look, self._inner(frame)[1])
        return flow

    def _inner(self, frame: Frame) -> tuple[float, float]:
        """(x of the parts, their width)."""
        look = frame.look
        if self.human:
            return look.px(BLOCK_X), frame.width - 2 * look.px(BLOCK_X)
        if frame.variant == "side":
            return look.px(SIDE_X), frame.width - look.px(SIDE_X + 16)
        return 0.0, frame.width

    def stack(self, first: int = 0) -> int:
        """Places the parts from number ``first`` on; returns the message's height."""
        assert self.flows is not None
        assert self._frame is not None
        look = self._frame.look
        self._head = self._head_height(look)
        y, at, before = self._head, 0, None
        for index, flow in enumerate(self.flows):
            if index >= first:
                if flow.pieces:
                    y += _gap(look, before, flow.pieces[0])
                flow.y, flow.start = y, at
            if flow.pieces:
                before = flow.pieces[-1]
            y, at = flow.y + flow.height, flow.start + flow.length + 1
        self.height = y + self._foot_height(look)
        self._spots = self._own_spots(look)
        return self.height

    def _head_height(self, look: Look) -> int:
        if self.human:
            return look.px(GAP + BLOCK_Y)
        head = look.px(GAP + HEADER + HEADER_GAP)
        return head + (look.px(SIDE_Y) if self._frame and self._frame.variant == "side" else 0)

    def _foot_height(self, look: Look) -> int:
        if self.human:
            return look.px(BLOCK_Y) + (look.px(SIBLING_ROW + 4) if self.item.siblings > 1 else 0)
        return look.px(SIDE_Y) if self._frame and self._frame.variant == "side" else 0

    def release(self) -> None:
        """Forgets the layout; what was streamed or opened stays."""
        if self.flows is not None:
            parts = self._parts_now()
            if parts != self.item.parts:
                self.item = replace(self.item, parts=parts)
        self.flows = None
        self._frame = None

    # -------------------------------------------------------------------------------------------------------- changes

    def append(self, part_id: str, delta: str) -> None:
        """More of a part's text; ``refresh`` shows it."""
        if self.flows is None:
            self.partial.setdefault(part_id, []).append(delta)
            return
        flow = next((flow for flow in self.flows if flow.part.part_id == part_id), None)
        if flow is not None:
            flow.append(delta)
        else:
            self.change(replace(self.item, parts=(*self._parts_now(), TextPart(part_id, delta, live=True))))

    def _parts_now(self) -> tuple[Part, ...]:
        return tuple(flow.part_now() for flow in self.flows or ())

    def _take_partial(self) -> None:
        if not self.partial:
            return
        late = {part_id: "".join(deltas) for part_id, deltas in self.partial.items()}
        self.partial = {}
        parts: list[Part] = []
        for part in self.item.parts:
            more = late.pop(part.part_id, "")
            if more and isinstance(part, TextPart):
                part = replace(part, markdown=part.markdown + more)
            elif more and isinstance(part, ReasoningPart):
                part = replace(part, text=part.text + more)
            parts.append(part)
        parts += [TextPart(part_id, text, live=True) for part_id, text in late.items()]
        self.item = replace(self.item, parts=tuple(parts))

    def refresh(self) -> int | None:
        """Shows what was appended. Returns the y of the first pixel that changed, or None when nothing did."""
        if self.flows is None or self._frame is None:
            return None
        changed: int | None = None
        look, width = self._frame.look, self._inner(self._frame)[1]
        for index, flow in enumerate(self.flows):
            first = flow.update(look, width)
            if first is not None:
                self.stack(index)
                above = flow.pieces[first - 1] if first else None
                y = flow.y + (above.y + above.height if above else 0) - look.px(24)
                changed = y if changed is None else min(changed, y)
        return changed

    def change(self, item: TranscriptItem) -> None:
        """Takes a newer state of the item, keeping every part that did not change."""
        if self.flows is None or self._frame is None:
            self.item, self.partial = item, {}
            return
        frame = self._frame
        width = self._inner(frame)[1]
        known = {flow.part.part_id: flow for flow in self.flows}
        self.item = item
        flows: list[Flow] = []
        for part in item.parts:
            flow = known.get(part.part_id)
            if flow is None or not (flow.part is part or flow.change(part, frame.look, width)):
                flow = self._make(part, frame)
            flows.append(flow)
        self.flows = flows
        self.stack()

    def toggle(self, key: str) -> Piece | None:
        """Opens or folds the card or the reasoning of this key."""
        return self._rebuild(key, lambda piece: piece.toggle())

    def more(self, key: str) -> Piece | None:
        """Shows another page of a long result."""
        return self._rebuild(key, lambda piece: piece.more())

    def _rebuild(self, key: str, act: Callable[[Openable], None]) -> Piece | None:
        for index, flow in enumerate(self.flows or ()):
            piece = flow.pieces[0] if flow.pieces else None
            if piece is not None and piece.key == key and isinstance(piece, Openable) and self._frame is not None:
                act(piece)
                (self.opened.add if piece.open else self.opened.discard)(key)
                flow.build(self._frame.look, self._inner(self._frame)[1])
                self.stack(index)
                return piece
        return None

    # ------------------------------------------------------------------------------------------------------- positions

    def pieces(self) -> Iterator[tuple[Piece, int, int]]:
        """(piece, its y in the message, its first character), from the top."""
        for flow in self.flows or ():
            for piece in flow.pieces:
                yield piece, flow.y + piece.y, flow.start + piece.start

    def inner_x(self) -> float:
        """Where the parts begin, right of the column's left edge."""
        return self._inner(self._frame)[0] if self._frame else 0.0

    def inner_width(self) -> float:
        return self._inner(self._frame)[1] if self._frame else 0.0

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

    # -------------------------------------------------------------------------------------------------------- drawing

    def draw(self, canvas: Canvas, x: float, y: float, marks: Sequence[Marked]) -> None:
        """Draws what the clip needs at the column's left edge ``x`` and the message's top ``y``."""
        self._draw_frame(canvas, x, y)
        inner = x + self.inner_x()
        top, bottom = canvas.clip.top() - y, canvas.clip.bottom() - y
        for flow in self.flows or ():
            if flow.y > bottom or flow.y + flow.height < top:
                continue
            for piece in flow.pieces:
                piece_y = flow.y + piece.y
                if piece_y > bottom:
                    break
                if piece_y + piece.height + 1 >= top:
                    start = flow.start + piece.start
                    canvas.marks = [(a - start, b - start, f) for a, b, f in marks if b > start] if marks else ()
                    piece.draw(canvas, QPointF(inner, y + piece_y))
        canvas.marks = ()

    def _draw_frame(self, canvas: Canvas, x: float, y: float) -> None:
        look, item = canvas.look, self.item
        assert self._frame is not None
        width, gap = self._frame.width, look.px(GAP)
        if self.human:
            foot = look.px(SIBLING_ROW + 4) if item.siblings > 1 else 0
            canvas.frame(QRectF(x, y + gap, width, self.height - gap - foot), "bg", "")
        else:
            self._draw_header(canvas, QRectF(x, y + gap, width, look.px(HEADER)))
            if self._frame.variant == "side":
                top = gap + look.px(HEADER + HEADER_GAP)
                card = QRectF(x, y + top, width, self.height - top)
                canvas.frame(card, "surface", "border")
                side_bar(canvas.painter, card, look.px(8), look.color(f"side-{item.side}"), look.px(3))
        for spot in self._spots:
            canvas.hover_fill(spot, QPointF(x, y))
            middle = spot.rect.translated(x, y)
            if spot.kind in ("previous", "next"):
                name = "left" if spot.kind == "previous" else "right"
                canvas.glyph(name, "text-2", middle.x() + look.px(5), middle.y() + look.px(5), 14)
        if len(self._spots) == 2:
            first, last = self._spots[0].rect.translated(x, y), self._spots[1].rect.translated(x, y)
            box = QRectF(first.right(), first.y(), last.x() - first.right(), first.height())
            words = f"{item.sibling} / {item.siblings}"
            canvas.painter.setFont(look.font("small"))
            canvas.painter.setPen(look.color("text-2"))
            canvas.painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), words)

    def _draw_header(self, canvas: Canvas, rect: QRectF) -> None:
        look, item = canvas.look, self.item
        side = self._frame is not None and self._frame.variant == "side"
        role = ("small", 600) if side else ("reading", 600)
        canvas.words(item.author, rect, role[0], f"side-{item.side}" if side else "text", role[1])
        x = rect.x() + look.metrics(*role).horizontalAdvance(item.author) + look.px(9)
        canvas.words(item.time, QRectF(x, rect.y() + 1, rect.width(), rect.height()), "small", "text-3")

    def _own_spots(self, look: Look) -> list[Spot]:
        """The arrows to other versions of this message."""
        item = self.item
        if item.siblings < 2 or self._frame is None:
            return []
        small, side = look.metrics("small"), look.px(24)
        words = small.horizontalAdvance(f"{item.siblings} / {item.siblings}") + look.px(8)
        if self.human:
            left, top = self._frame.width - 2 * side - words, float(self.height - look.px(SIBLING_ROW))
        else:
            author = look.metrics("reading", 600).horizontalAdvance(item.author)
            left = author + small.horizontalAdvance(item.time) + look.px(24)
            top = look.px(GAP) - look.px(2)
        back, ahead = QRectF(left, top, side, side), QRectF(left + side + words, top, side, side)
        key = item.message_id
        return [
            Spot("previous", f"{key}/previous", back, f"Previous version, {item.sibling} of {item.siblings}", key),
            Spot("next", f"{key}/next", ahead, f"Next version, {item.sibling} of {item.siblings}", key),
        ]

    def spots(self) -> Iterator[tuple[Spot, QRectF]]:
        """Everything that can be pressed with its rect in the message."""
        for spot in self._spots:
            yield spot, spot.rect
        x = self.inner_x()
        for piece, y, _ in self.pieces():
            for spot in piece.spots():
                yield spot, spot.rect.translated(x, y)

    # --------------------------------------------------------------------------------------------------------- words

    def source(self) -> str:
        """The message as Markdown: all its text parts, without looking at the layout."""
        parts = self._parts_now() if self.flows is not None else self.item.parts
        found = [part.markdown for part in parts if isinstance(part, TextPart)]
        for part_id, deltas in self.partial.items():
            found.append("".join(deltas))
            del part_id
        return "\n\n".join(found)

    def name(self) -> str:
        """``You, 14:02``."""
        return ", ".join(word for word in (self.item.author, self.item.time) if word)

    def has_moving(self) -> bool:
        """Whether something in it turns or counts."""
        return any(flow.pieces and flow.pieces[0].live for flow in self.flows or ())

    def has_calls(self) -> bool:
        return any(isinstance(part, ToolPart) for part in self.item.parts)


def _gap(look: Look, before: Piece | None, piece: Piece) -> int:
    if before is None:
        return 0
    text = isinstance(before, BlockPiece) and before.block.kind in ("paragraph", "heading")
    return max(piece.gap(look, before), look.px(10) if text else 0)
