"""Pieces of running text: paragraphs, headings, list items, quotes, and rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from desktop.domain.text.passages import sentence_around
from desktop.ui.transcript.markdown.addresses import CITED
from desktop.ui.transcript.markdown.inline import InlineParser, mended
from desktop.ui.transcript.markdown.model import Block, TextRun
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox, Spot
from desktop.ui.transcript.pieces.formulas import Formula, Formulas
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text_box import Marked, TextBox
from desktop.ui.widgets.shown import shown_line

INDENT = {"item": 24, "quote": 18}
ICON, PADDING, GAP, HEIGHT = 13, 6, 4, 20
"""Of a place in a document, in pixels at 100 %."""


class TextTools(Protocol):
    """What text needs beside its block."""

    @property
    def parser(self) -> InlineParser: ...
    @property
    def formulas(self) -> Formulas: ...


class BlockPiece(Piece):
    """A piece made of one Markdown block."""

    __slots__ = ("_above", "_mirrored", "block")

    def __init__(self, key: str, block: Block) -> None:
        super().__init__(key)
        self.block = block
        self._mirrored = 0.0
        self._above: set[int] = set()

    def accepts(self, block: Block) -> bool:
        """Whether the piece can show this later state of its block."""
        mine = self.block
        return (mine.kind, mine.path, mine.part, mine.level) == (block.kind, block.path, block.part, block.level)

    def indent(self, look: PageLook) -> int:
        return look.px(sum(INDENT[kind] for kind, _ in self.block.path))

    def gap(self, look: PageLook, before: Piece | None) -> int:
        if self.block.part or before is None:
            return 0
        previous = before.block if isinstance(before, BlockPiece) else None
        if self.block.kind == "heading":
            return look.px(18 if self.block.level < 3 else 14)
        if previous is not None and previous.kind == "heading":
            return look.px(8)
        if self.block.path and previous is not None and previous.path:
            return look.px(8 if self.block.loose and not self.block.markers else 4)
        text = self.block.kind == "paragraph" or (previous is not None and previous.kind == "paragraph")
        return look.px(10 if text else 8)

    def draw_path(self, canvas: Canvas, origin: QPointF, shared: int = 0) -> None:
        """Quote bars and list markers at the left, of text that runs from the right at the right. ``shared``: pixels
        above that belong to the same quote."""
        look, x = canvas.look, origin.x()
        for kind, ident in self.block.path:
            if kind == "quote":
                above = shared if ident in self._above else 0
                bar = QRectF(x + look.px(2), origin.y() - above, look.px(3), self.height + above)
                canvas.painter.fillRect(self._side(bar, origin), look.color("border-strong"))
            x += look.px(INDENT[kind])
        for depth, marker in self.block.markers:
            right = origin.x() + look.px(sum(INDENT[kind] for kind, _ in self.block.path[: depth + 1]))
            box = QRectF(right - look.px(60), origin.y(), look.px(54), look.line("reading"))
            canvas.words(marker, self._side(box, origin), "reading", "text-2", right=not self._mirrored)

    def _side(self, rect: QRectF, origin: QPointF) -> QRectF:
        """A place at the left, or the same one at the right."""
        if not self._mirrored:
            return rect
        return QRectF(2 * origin.x() + self._mirrored - rect.right(), rect.y(), rect.width(), rect.height())

    def marker_text(self) -> str:
        """The markers as plain text."""
        return "".join(f"{'  ' * depth}{marker} " for depth, marker in self.block.markers)

    def plain(self, start: int, end: int) -> str:
        text = super().plain(start, end)
        return self.marker_text() + text if start == 0 and self.block.markers else text


class Citation:
    """A place in a document that an answer names, as a chip in the line. ``room``: it is never wider; the middle of a
    long name is left out."""

    __slots__ = ("_label", "width")

    def __init__(self, text: str, look: PageLook, room: float) -> None:
        around = look.px(2 * PADDING + ICON + GAP)
        metrics = look.metrics("small", 500)
        self._label = metrics.elidedText(shown_line(text), Qt.TextElideMode.ElideMiddle, max(0.0, room - around - 2))
        self.width = min(room, metrics.horizontalAdvance(self._label) + around + 1)

    def draw(self, canvas: Canvas, place: QRectF) -> None:
        """Where ``place`` is the caret before it."""
        look, painter = canvas.look, canvas.painter
        height = min(place.height() - 1, look.px(HEIGHT))
        box = QRectF(place.x(), place.y() + (place.height() - height) / 2, self.width, height).adjusted(
            0.5, 0.5, -0.5, -0.5
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(look.color("border-strong"), 1))
        painter.setBrush(look.color("surface"))
        painter.drawRoundedRect(box, look.px(4), look.px(4))
        side = look.px(ICON)
        at = QPointF(box.x() + look.px(PADDING), box.center().y() - side / 2)
        canvas.glyph("file", "text-2", at.x(), at.y(), ICON)
        painter.setFont(look.font("small", 500))
        painter.setPen(look.color("text"))
        words = QRectF(at.x() + side + look.px(GAP), box.y(), self.width, box.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._label)
        painter.restore()


class TextPiece(BlockPiece):
    """A paragraph, a heading, or what an item or a quote says."""

    __slots__ = (
        "_chips",
        "_drawings",
        "_formulas",
        "_keep_breaks",
        "_parser",
        "_references",
        "_runs",
        "_shared",
        "_spots",
        "open",
    )

    def __init__(
        self, key: str, block: Block, tools: TextTools, references: Mapping[str, str], keep_breaks: bool = False
    ) -> None:
        super().__init__(key, block)
        self._parser, self._formulas, self._references = tools.parser, tools.formulas, references
        self._keep_breaks = keep_breaks
        self._runs: tuple[TextRun, ...] = ()
        self._drawings: list[tuple[int, Formula]] = []
        self._chips: list[tuple[int, Citation]] = []
        self._spots: list[Spot] | None = None
        self.open = False
        self._shared = 0

    def update(self, block: Block, *, open_: bool) -> None:
        """Takes the block's newer state; ``open_``: more of it may come."""
        self.block, self.open = block, open_

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        block = self.block
        source = mended(block.text) if self.open else block.text
        if self._keep_breaks:
            source = source.replace("\n", "  \n")
        self.text, self._runs = self._parser.parse(source, self._references)
        glue = block.glue if block.part else ""
        style = look.heading(block.level) if block.kind == "heading" else look.style("reading")
        line = style.line
        left = self.indent(look)
        shown, formats = self._with_drawings(look, line, width - left)
        box = TextBox(shown, style, formats)
        lead = self._lead_in(before, look)
        box.lay_out(width - left, lead)
        self.overlap = line if box.used_lead else 0
        self._mirrored = width if left and box.right_to_left() else 0.0
        x = 0 if self._mirrored else left
        self.boxes = [PlacedBox(box, x, 0, 0, "text" if block.kind != "paragraph" or not self._quoted() else "text-2")]
        self.boxes[0].room = width - left
        self.height = box.height
        self.glue = glue
        self._shared = self._shared_above(look, before)
        self._spots = None

    def _quoted(self) -> bool:
        return any(kind == "quote" for kind, _ in self.block.path)

    def _shared_above(self, look: PageLook, before: Piece | None) -> int:
        if not isinstance(before, BlockPiece) or not self._quoted():
            return 0
        mine = {ident for kind, ident in self.block.path if kind == "quote"}
        theirs = {ident for kind, ident in before.block.path if kind == "quote"}
        self._above = mine & theirs
        return self.gap(look, before) if self._above else 0

    def _lead_in(self, before: Piece | None, look: PageLook) -> float:
        if not self.block.part or not isinstance(before, TextPiece) or before.boxes[0].box.right_to_left():
            return 0.0
        space = look.metrics("reading").horizontalAdvance(" ") if self.block.glue else 0.0
        return before.boxes[0].box.end_x() + space

    def _with_drawings(self, look: PageLook, line: int, room: float) -> tuple[str, list[Marked]]:
        """The text to lay out, and its formats. A drawn formula, and a place in a document, keeps its characters but
        shows none: a first space as wide as the drawing, the others without width, so that offsets stay those of the
        text."""
        self._drawings, self._chips = [], []
        formats: list[Marked] = []
        shown = self.text
        for run in self._runs:
            formula = self._formulas.get(run.math, True) if run.math and not self.open else None
            if run.href.startswith(CITED):
                chip = Citation(self.text[run.start : run.end], look, room)
                self._chips.append((run.start, chip))
                wide = chip.width
            elif formula is not None:
                self._drawings.append((run.start, formula))
                wide = formula.size.width() * look.formula_size(line, formula.size.height())
            else:
                formats.append((run.start, run.end, look.inline_format(run.look)))
                continue
            blank = "\u00a0" + "\u200b" * (run.end - run.start - 1)
            shown = shown[: run.start] + blank + shown[run.end :]
            formats.append((run.start, run.start + 1, look.blank(wide)))
        return shown, formats

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        if self.block.path:
            self.draw_path(canvas, origin, self._shared)
        self.draw_boxes(canvas, origin)
        for start, formula in self._drawings:
            self._draw_formula(canvas, origin, start, formula)
        for start, chip in self._chips:
            chip.draw(canvas, self.cursor_rect(start).translated(origin))
        if canvas.focus:
            for spot in self.spots():
                if spot.key == canvas.focus:
                    canvas.ring(spot.rect.translated(origin), 3)

    def _draw_formula(self, canvas: Canvas, origin: QPointF, start: int, formula: Formula) -> None:
        look = canvas.look
        place = self.cursor_rect(start).translated(origin)
        scale = look.formula_size(int(place.height()), formula.size.height())
        metrics = look.metrics("reading")
        baseline = place.y() + (place.height() - metrics.ascent() - metrics.descent()) / 2 + metrics.ascent()
        top = baseline - (formula.size.height() - formula.depth) * scale
        top = max(place.y(), min(top, place.bottom() - formula.size.height() * scale))
        formula.draw(canvas.painter, QPointF(place.x(), top), look.color("text"), scale, canvas.ratio)

    def spots(self) -> Sequence[Spot]:
        if self._spots is None:  # each movement of the pointer asks
            self._spots = []
            for index, run in enumerate(self._runs):
                if run.href:
                    label = self.text[run.start : run.end]
                    rect = self._rect(run.start, run.end)
                    self._spots.append(Spot("link", f"{self.key}/link{index}", rect, label, self._leads(run), "link"))
        return self._spots

    def _rect(self, start: int, end: int) -> QRectF:
        """The rectangle around a stretch of text; where it breaks, around the rest of its first line."""
        first, last = self.cursor_rect(start), self.cursor_rect(end)
        if last.y() > first.y():
            return QRectF(first.x(), first.y(), self.boxes[0].x + self.boxes[0].box.width - first.x(), first.height())
        return QRectF(first.x(), first.y(), max(2.0, last.x() - first.x()), first.height())

    def link_at(self, x: float, y: float) -> str:
        if not self.over_text(x, y):
            return ""
        offset = self.offset_at(x, y)
        run = next((run for run in self._runs if run.href and run.start <= offset <= run.end), None)
        return self._leads(run) if run is not None else ""

    def _leads(self, run: TextRun) -> str:
        """Where a link leads. With a place in a document, behind a line end, goes the sentence that names it."""
        if not run.href.startswith(CITED):
            return run.href
        text = self.text
        for other in (one for one in self._runs if one.href.startswith(CITED)):
            text = f"{text[: other.start]}{' ' * (other.end - other.start)}{text[other.end :]}"
        return f"{run.href}\n{sentence_around(text, run.start, run.end)}"

    def markdown(self, start: int, end: int) -> str:
        if start == 0 and end == len(self.text):
            return self._prefix() + self.block.text.replace("\n", "\n" + " " * len(self._prefix()))
        return "".join(_marked(self.text, run, start, end) for run in _with_gaps(self._runs, len(self.text)))

    def _prefix(self) -> str:
        block = self.block
        if block.kind == "heading":
            return "#" * max(1, block.level) + " "
        shown = dict(block.markers)
        prefix = ""
        for depth, (kind, _) in enumerate(block.path):
            if kind == "quote":
                prefix += "> "
            else:
                marker = shown.get(depth, "")
                prefix += {"•": "- ", "☐": "- [ ] ", "☑": "- [x] ", "": "  "}.get(marker, marker + " ")
        return prefix


def _with_gaps(runs: Sequence[TextRun], length: int) -> list[TextRun]:
    found: list[TextRun] = []
    at = 0
    for run in runs:
        if run.start > at:
            found.append(TextRun(at, run.start))
        found.append(run)
        at = run.end
    if at < length:
        found.append(TextRun(at, length))
    return found


def _marked(text: str, run: TextRun, start: int, end: int) -> str:
    low, high = max(run.start, start), min(run.end, end)
    if low >= high:
        return ""
    body = text[low:high].replace("\u2028", "  \n")
    if run.math:
        return f"${body}$"
    for flag, mark in ((run.code, "`"), (run.struck, "~~"), (run.italic, "*"), (run.bold, "**")):
        if flag:
            body = f"{mark}{body}{mark}"
    return f"[{body}]({run.href})" if run.href else body


class RulePiece(BlockPiece):
    """A horizontal rule."""

    __slots__ = ("_width",)

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self._width = width
        self.height = look.px(9)

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        left = self.indent(canvas.look)
        canvas.line(origin.x() + left, origin.y() + canvas.look.px(4), self._width - left, "border-strong")

    def markdown(self, start: int, end: int) -> str:
        del start, end
        return "---"
