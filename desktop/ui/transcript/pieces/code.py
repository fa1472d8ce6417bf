"""Code: a framed box with language and Copy at its head, cut into parts of at most 48 lines, scrolling sideways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.domain.fences.drawing import Drawing, Undrawn
from desktop.ui.transcript.colours.finished import CodeBlock
from desktop.ui.transcript.colours.highlight import fence_name, highlight, language_of
from desktop.ui.transcript.drawings.shown import FenceDrawings
from desktop.ui.transcript.markdown.model import Block
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox, Spot
from desktop.ui.transcript.pieces.drawn_code import PAD as DRAWN_PAD
from desktop.ui.transcript.pieces.drawn_code import DrawnPlace, choice_spots, draw_choice, draw_picture, place_of
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text import BlockPiece
from desktop.ui.transcript.pieces.text_box import TextBox

HEAD = 32
PAD = 8


class SideScroll:
    """What the parts of one code block share: how far it is scrolled to the right, and how wide it is."""

    __slots__ = ("room", "widest", "x")

    def __init__(self) -> None:
        self.x, self.widest, self.room = 0.0, 0.0, 0.0

    @property
    def longest(self) -> float:
        """The furthest it can be scrolled."""
        return max(0.0, self.widest - self.room)

    def by(self, distance: float) -> bool:
        """Scroll sideways; returns whether anything moved."""
        before, self.x = self.x, min(self.longest, max(0.0, self.x + distance))
        return self.x != before


class CodePiece(BlockPiece):
    """One part of a code block. The first has the head, the last the foot."""

    __slots__ = (
        "_choice",
        "_copy",
        "_drawings",
        "_lead",
        "_look",
        "_place",
        "_why",
        "_width",
        "base",
        "before",
        "code",
        "last",
        "scroll",
        "state",
    )

    def __init__(self, key: str, block: Block, drawings: FenceDrawings) -> None:
        super().__init__(key, block)
        self._drawings, self._place, self._choice = drawings, DrawnPlace(), list[Spot]()
        self._why: TextBox | None = None
        self.scroll, self.code = SideScroll(), CodeBlock()
        self.before: CodePiece | None = None
        self.base = 0
        self.state = ""
        self.last = True
        self._width = self._lead = 0.0
        self._look: PageLook | None = None
        self._copy = QRectF()

    def update(self, block: Block, *, open_: bool) -> None:
        """Takes the block's newer state."""
        del open_
        self.block = block

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        block = self.block
        self.before = before if block.part and isinstance(before, CodePiece) else None
        if self.before is not None:
            self.scroll, self.code = self.before.scroll, self.before.code
            self.base = self.before.base + len(self.before.text) + len(block.glue)
        self._width, self._look, self._why = width, look, None
        self.text = block.text
        self.glue = block.glue if block.part else ""
        left, pad = self.indent(look), look.px(12)
        self._lay_out_head(look, width)
        if self.code.drawn is not None:
            self._lay_out_drawn(look, width - left - 2 * pad - 2)
            return
        goes_on = bool(self.before) and not block.glue
        self._lead = min(self.before.boxes[0].box.end_x(), 9e6) if goes_on and self.before else 0.0
        box = self._box(look)
        self.overlap = look.line("code") if goes_on else 0
        top = 0 if self.before else look.px(HEAD) + 2 + look.px(PAD)
        self.boxes = [PlacedBox(box, left + pad + 1, top, 0)]
        self.boxes[0].room = width
        self.scroll.room = width - left - 2 * pad - 2
        self.scroll.widest = max(box.width, self.scroll.widest if self.before else 0.0)
        self.finish(look, None)

    def _lay_out_head(self, look: PageLook, width: float) -> None:
        code = self.code
        can_choose = isinstance(code.drawing, Drawing) and self.before is None
        word = 0.0 if can_choose else look.metrics("small", 500).horizontalAdvance("Copy") + look.px(6)
        room = word + look.px(32)
        self._copy = QRectF(width - room - look.px(5), look.px(4) + 1, room, look.px(24))
        right = self._copy.x() - look.px(8)
        self._choice = choice_spots(look, self.key, code, right) if can_choose else []

    def _lay_out_drawn(self, look: PageLook, room: float) -> None:
        """The first part shows the drawing, the others have no room of their own; all keep their text."""
        self.boxes, self.overlap, self.state = [], 0, ""
        drawing = self.code.drawn
        if drawing is not None and self.before is None:
            self._place = place_of(drawing, look, room)
            self.scroll.room, self.scroll.widest = room, self._place.size[0]
        self.finish(look, None)

    def _box(self, look: PageLook) -> TextBox:
        spans = self.code.spans(self.base, self.base + len(self.text))
        if spans is None:
            before = self.before.state if self.before else ""
            spans, self.state = highlight(language_of(self.block.info), self.text, before)
        formats = [(start, end, look.token_format(token)) for start, end, token in spans]
        box = TextBox(self.text, look.code_style, formats)
        box.lay_out(1e7, self._lead)
        return box

    def recolour(self) -> None:
        """The same text in the colours of its block; nothing moves."""
        if self._look is not None and self.boxes:
            self.boxes[0].box = self._box(self._look)

    def finish(self, look: PageLook, after: Piece | None) -> None:
        self.last = not (isinstance(after, CodePiece) and after.block.part)
        if self.code.drawn is not None:
            foot = look.px(HEAD) + 2 + 2 * look.px(DRAWN_PAD)
            self.height = 0 if self.before else round(self._place.size[1]) + foot
            return
        self._why = self._lay_out_reason(look) if self.last and isinstance(self.code.drawing, Undrawn) else None
        why = self._why.height + 2 * look.px(PAD) if self._why else 0
        self.height = why + int(self.boxes[0].y) + self.boxes[0].box.height + ((look.px(PAD) + 1) if self.last else 0)

    def _lay_out_reason(self, look: PageLook) -> TextBox:
        assert isinstance(self.code.drawing, Undrawn)
        box = TextBox(f"Not drawn. {self.code.drawing.reason}", look.style("small"))
        box.lay_out(self._width - self.indent(look) - 2 * look.px(12))
        return box

    def first(self) -> CodePiece:
        """The part with the head."""
        piece = self
        while piece.before is not None:
            piece = piece.before
        return piece

    def spots(self) -> Sequence[Spot]:
        if self.before is not None:
            return ()
        copy = Spot("copy", f"{self.key}/copy", self._copy, f"Copy {self.block.info or 'code'}", self.key)
        return (*self._choice, copy)

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look, left = canvas.look, self.indent(canvas.look)
        if self.block.path:
            self.draw_path(canvas, origin)
        cut = self.overlap
        frame = QRectF(origin.x() + left, origin.y() + cut, self._width - left, self.height - cut)
        first = self.before is None
        if frame.height() > 0:
            shown = "surface" if self.code.drawn else "code-bg"
            canvas.frame(frame, shown, "border", first, self.last or bool(self.code.drawn))
        if first:
            self._draw_head(canvas, frame, origin)
        painter = canvas.painter
        if self._why is not None:
            y = frame.bottom() - self._why.height - look.px(PAD)
            canvas.line(frame.x() + 1, y - look.px(PAD), frame.width() - 2)
            self._why.draw(painter, frame.x() + look.px(12), y, look.color("text-3"), canvas.clip)
        painter.save()
        painter.setClipRect(frame.adjusted(1, -cut, -1, 0), Qt.ClipOperation.IntersectClip)
        drawing = self.code.drawn
        if drawing is not None and first:
            self._draw_drawing(canvas, drawing, frame)
        self.draw_boxes(canvas, QPointF(origin.x() - self.scroll.x, origin.y()))
        painter.restore()
        if (first if drawing else self.last) and self.scroll.longest > 0:
            self._draw_bar(canvas, frame)
        del look

    def _draw_drawing(self, canvas: Canvas, drawing: Drawing, frame: QRectF) -> None:
        look, width = canvas.look, self._place.size[0]
        room = self.scroll.room
        left = frame.x() + look.px(12) + 1 + (max(0.0, (room - width) / 2) if width < room else -self.scroll.x)
        top = frame.y() + look.px(HEAD) + 2 + look.px(DRAWN_PAD)
        if canvas.marks:
            canvas.painter.fillRect(QRectF(left, top, *self._place.size), look.color("selection"))
        draw_picture(canvas, self._drawings, self.code.drawing_key, drawing, self._place, left, top)

    def _draw_head(self, canvas: Canvas, frame: QRectF, origin: QPointF) -> None:
        look = canvas.look
        language = fence_name(self.block.info)
        if isinstance(self.code.drawing, Drawing):
            language = f"{language}, drawn"
        if self.code.drawn:
            canvas.head(QRectF(frame.x() + 1, frame.y() + 1, frame.width() - 2, look.px(HEAD)), "code-bg")
        head = QRectF(frame.x() + look.px(12), frame.y() + 1, frame.width() / 2, look.px(HEAD))
        canvas.words(language, head, "small", "text-2")
        canvas.line(frame.x() + 1, frame.y() + look.px(HEAD) + 1, frame.width() - 2)
        spot = self.spots()[-1]
        canvas.hover_fill(spot, origin)
        rect = spot.rect.translated(origin)
        canvas.glyph("copy", "text-2", rect.x() + look.px(8), rect.y() + look.px(4), 16)
        if self._choice:
            draw_choice(canvas, self._choice, origin, self.code.as_text)
            return
        canvas.words("Copy", rect.adjusted(look.px(29), 0, 0, 0), "small", "text-2", 500)

    def _draw_bar(self, canvas: Canvas, frame: QRectF) -> None:
        track = frame.width() - canvas.look.px(16)
        share = self.scroll.room / self.scroll.widest
        length = max(canvas.look.px(24), track * share)
        x = frame.x() + canvas.look.px(8) + (track - length) * self.scroll.x / self.scroll.longest
        below = self._why.height + 2 * canvas.look.px(PAD) if self._why else 0
        bar = QRectF(x, frame.bottom() - below - canvas.look.px(6), length, canvas.look.px(4))
        canvas.painter.setPen(Qt.PenStyle.NoPen)
        canvas.painter.setBrush(canvas.look.color("border-strong"))
        canvas.painter.drawRoundedRect(bar, 2, 2)

    def offset_at(self, x: float, y: float) -> int:
        return super().offset_at(x + self.scroll.x, y)

    def over_text(self, x: float, y: float) -> bool:
        return super().over_text(x + self.scroll.x, y)

    def cursor_rect(self, offset: int) -> QRectF:
        return super().cursor_rect(offset).translated(-self.scroll.x, 0)

    def markdown(self, start: int, end: int) -> str:
        whole = start == 0 and end == len(self.text)
        opener = f"```{self.block.info}\n" if self.before is None and whole else ""
        closer = "\n```" if self.last and whole and (opener or self.before is not None) else ""
        return opener + self.text[start:end] + closer


def code_of(piece: Piece) -> CodeBlock | None:
    """The block of code that a piece is a part of."""
    return piece.code if isinstance(piece, CodePiece) else None


def finished_code(pieces: Sequence[Piece], first: int, ended: bool) -> Iterator[tuple[Sequence[CodePiece], str]]:
    """(its parts, its text) of each block of code that is whole, of those that reach to piece number ``first`` or
    beyond. ``ended``: nothing comes after these pieces."""
    while first > 0 and isinstance(pieces[first - 1], CodePiece):
        first -= 1
    parts: list[CodePiece] = []
    for piece in pieces[first:]:
        goes_on = isinstance(piece, CodePiece) and bool(piece.block.part)
        if parts and not goes_on:
            yield parts, joined([part.block for part in parts])
            parts = []
        if isinstance(piece, CodePiece):
            parts.append(piece)
    if parts and ended:
        yield parts, joined([part.block for part in parts])


def joined(blocks: Sequence[Block]) -> str:
    """Exactly the code of a block that was cut into these."""
    return "".join(block.glue + block.text if index else block.text for index, block in enumerate(blocks))


def whole_code(pieces: Sequence[Piece], key: str) -> str:
    """Exactly the code of the block whose head has this key."""
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, CodePiece):
            if piece.key == key:
                found = [piece.block.text]
            elif found and piece.block.part:
                found.append(piece.block.glue + piece.block.text)
            elif found:
                break
        elif found:
            break
    return "".join(found)
