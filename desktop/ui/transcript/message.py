"""One message on the page: its header or block, its parts under each other, its text as one run of characters.

A message is laid out only when it comes near the screen; before, its height is an estimate. What a person opened in
it is remembered while the layout is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF

from desktop.presenter.transcript.items import (
    AttachmentPart,
    CallsPart,
    Part,
    PlainPart,
    ReasoningPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)
from desktop.ui.transcript.calls_fold import CallsPiece, make_flow, opens
from desktop.ui.transcript.flow import Flow, Openable
from desktop.ui.transcript.message_frame import (
    BLOCK_Y,
    GAP,
    HEADER,
    HEADER_GAP,
    SIBLING_ROW,
    SIDE_Y,
    Frame,
    draw_frame,
    version_spots,
)
from desktop.ui.transcript.message_text import MessageText
from desktop.ui.transcript.pieces.base import Canvas, Piece, Spot
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text import BlockPiece
from desktop.ui.transcript.pieces.text_box import Marked


class Message(MessageText):
    """One message of the page. ``opened``: the cards and reasonings a person opened in it."""

    __slots__ = ("_head", "height", "opened", "own_spots", "partial")

    def __init__(self, item: TranscriptItem) -> None:
        super().__init__(item)
        self.opened: set[str] = set()
        self.height = 0
        self.partial: dict[str, list[str]] = {}
        self._head = 0
        self.own_spots: list[Spot] = []

    # --------------------------------------------------------------------------------------------------------- layout

    def estimate(self, look: PageLook, width: float) -> int:
        """A height from the amount of text, in about 2 microseconds."""
        lines = 0.0
        extra = 0
        for part in self.item.parts:
            if isinstance(part, TextPart | PlainPart):
                text = part.markdown if isinstance(part, TextPart) else part.shown
                lines += len(text) / 95 + text.count("\n") * 0.62
            else:
                extra += 46
        return max(40, int((lines * 22 + extra + 52) * look.theme.scale)) if width > 0 else 40

    def lay_out(self, frame: Frame) -> int:
        """Lay everything out; returns the height in pixels."""
        self._take_partial()
        self.frame = frame
        self.flows = []
        for part in self.item.parts:
            self.flows.append(self._make(part, frame))
        return self.stack()

    def _make(self, part: Part, frame: Frame) -> Flow:
        flow = make_flow(part, frame.tools, opened=self.opened, human=self.human)
        flow.build(frame.look, self._inner(frame)[1])
        return flow

    def stack(self, first: int = 0) -> int:
        """Places the parts from number ``first`` on; returns the message's height."""
        assert self.flows is not None
        assert self.frame is not None
        look = self.frame.look
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
        self.own_spots = version_spots(self, look)
        return self.height

    def _head_height(self, look: PageLook) -> int:
        if self.human:
            named = look.px(HEADER) if self.frame and self.frame.variant == "side" else 0
            return look.px(GAP + BLOCK_Y) + named
        head = look.px(GAP + HEADER + HEADER_GAP)
        return head + (look.px(SIDE_Y) if self.frame and self.frame.variant == "side" else 0)

    def _foot_height(self, look: PageLook) -> int:
        if self.human:
            return look.px(BLOCK_Y) + (look.px(SIBLING_ROW + 4) if self.item.siblings > 1 else 0)
        return look.px(SIDE_Y) if self.frame and self.frame.variant == "side" else 0

    def release(self) -> None:
        """Forget the layout; what was streamed or opened stays."""
        if self.flows is not None:
            parts = self._parts_now()
            if parts != self.item.parts:
                self.item = replace(self.item, parts=parts)
        self.flows = None
        self.frame = None

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

    def lay_out_again(self, wanted: Callable[[Piece], bool]) -> bool:
        """Lays out those pieces that are ``wanted``; returns whether there were any."""
        frame = self.frame
        if frame is None:
            return False
        width = self._inner(frame)[1]
        found = [flow.lay_out_again(wanted, frame.look, width) for flow in self.flows or ()]
        if any(found):
            self.stack()
        return any(found)

    def refresh(self) -> int | None:
        """Shows what was appended. Returns the y of the first pixel that changed, or None when nothing did."""
        if self.flows is None or self.frame is None:
            return None
        changed: int | None = None
        look, width = self.frame.look, self._inner(self.frame)[1]
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
        if self.flows is None or self.frame is None:
            self.item, self.partial = item, {}
            return
        frame = self.frame
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
        """Shows another page of a long text or a long result."""
        for index, flow in enumerate(self.flows or ()):
            if flow.part.part_id == key and flow.more() and self.frame is not None:
                flow.update(self.frame.look, self._inner(self.frame)[1])
                self.stack(index)
                return flow.pieces[0]
        return self._rebuild(key, lambda piece: piece.more())

    def unfolded(self, key: str) -> tuple[float, float] | None:
        """Where the piece of this key is in the message, and how high; the line that it is folded into opens."""
        if all(piece.key != key for piece, _, _ in self.pieces()):
            folded = next((piece for flow in self.flows or () if (piece := flow.piece(key))), None)
            if folded is not None:
                self.toggle(folded.key)
        return next(((y, piece.height) for piece, y, _ in self.pieces() if piece.key == key), None)

    @property
    def hidden(self) -> bool:
        """Whether some of its text is not laid out although the message is."""
        return any(flow.hidden for flow in self.flows or ())

    @property
    def behind(self) -> bool:
        """Whether streamed text waits for the next frames."""
        return any(flow.behind for flow in self.flows or ())

    def _rebuild(self, key: str, act: Callable[[Openable | CallsPiece], None]) -> Piece | None:
        for index, flow in enumerate(self.flows or ()):
            piece = opens(flow.piece(key))
            if piece is not None and self.frame is not None:
                act(piece)
                (self.opened.add if piece.open else self.opened.discard)(key)
                flow.build(self.frame.look, self._inner(self.frame)[1])
                self.stack(index)
                return piece
        return None

    # -------------------------------------------------------------------------------------------------------- drawing

    def draw(self, canvas: Canvas, x: float, y: float, marks: Sequence[Marked]) -> None:
        """Draws what the clip needs at the column's left edge ``x`` and the message's top ``y``."""
        draw_frame(canvas, self, x, y)
        inner = x + self.inner_x()
        top, bottom = canvas.clip.top() - y, canvas.clip.bottom() - y
        for flow in self.flows_between(top, bottom):
            for piece in flow.pieces:
                piece_y = flow.y + piece.y
                if piece_y > bottom:
                    break
                if piece_y + piece.height + 1 >= top:
                    start = flow.start + piece.start
                    canvas.marks = [(a - start, b - start, f) for a, b, f in marks if b > start] if marks else ()
                    piece.draw(canvas, QPointF(inner, y + piece_y))
        canvas.marks = ()

    def spots(self) -> Iterator[tuple[Spot, QRectF]]:
        """Everything that can be pressed with its rect in the message."""
        for spot in self.own_spots:
            yield spot, spot.rect
        x = self.inner_x()
        for piece, y, _ in self.pieces():
            for spot in piece.spots():
                yield spot, spot.rect.translated(x, y)

    # --------------------------------------------------------------------------------------------------------- words

    def source(self) -> str:
        """The message as it was written: all its text parts, without looking at the layout."""
        parts = self._parts_now() if self.flows is not None else self.item.parts
        found = [
            part.markdown if isinstance(part, TextPart) else part.text
            for part in parts
            if isinstance(part, TextPart | PlainPart)
        ]
        for part_id, deltas in self.partial.items():
            found.append("".join(deltas))
            del part_id
        return "\n\n".join(found)

    def name(self) -> str:
        """The author and the time, such as ``You, 14:02``."""
        return ", ".join(word for word in (self.item.author, self.item.time) if word)


def _gap(look: PageLook, before: Piece | None, piece: Piece) -> int:
    if before is None:
        return 0
    text = isinstance(before, BlockPiece) and before.block.kind in ("paragraph", "heading")
    return max(piece.gap(look, before), look.px(10) if text else 0)


def has_media(message: Message) -> bool:
    """Whether there are images or sounds in it, attached or given by tools."""
    parts = message.item.parts
    if any(isinstance(part, AttachmentPart) and part.image is not None for part in parts):
        return True
    calls = [call for part in parts if isinstance(part, CallsPart) for call in part.calls]
    return any(part.media for part in (*parts, *calls) if isinstance(part, ToolPart))
