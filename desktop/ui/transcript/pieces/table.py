"""Tables as their own grid: column widths fixed by the first rows, rows that are complete are never laid out again."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.markdown.model import Block
from desktop.ui.transcript.markdown.text import cells_of
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text import BlockPiece
from desktop.ui.transcript.pieces.text_box import TextBox

NUMBER = lazy_pattern(r"[-+−]?[$€£]?\d[\d\s.,  ]*(?:%|[kMGT]?B?|ms|s)?$")
SIDES = {"l": Qt.AlignmentFlag.AlignLeft, "r": Qt.AlignmentFlag.AlignRight, "c": Qt.AlignmentFlag.AlignHCenter}
PAD = 12
SHARED_COLUMNS = 64
"""More columns than this are not a table anyone reads; the rest is left out of the grid."""


class TableRow:
    """One line of the grid: its source, its boxes in column order, its height."""

    __slots__ = ("boxes", "height", "source")

    def __init__(self, source: str, boxes: list[TextBox], height: int) -> None:
        self.source, self.boxes, self.height = source, boxes, height


class TablePiece(BlockPiece):
    """A part of a table; later parts use the columns of the first."""

    __slots__ = ("_frame", "_last", "_parser", "_references", "_rows", "before", "sides", "widths")

    def __init__(self, key: str, block: Block, parser: InlineParser, references: Mapping[str, str]) -> None:
        super().__init__(key, block)
        self._parser, self._references = parser, references
        self._rows: list[TableRow] = []
        self.widths: list[float] = []
        self.sides: list[Qt.AlignmentFlag] = []
        self.before: TablePiece | None = None
        self._last = True
        self._frame = 0.0

    def update(self, block: Block, *, open_: bool) -> None:
        """Takes the block's newer state."""
        del open_
        self.block = block

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        block = self.block
        self.before = before if block.part and isinstance(before, TablePiece) else None
        lines = block.text.split("\n")
        if self.before is None and len(lines) > 1:
            del lines[1]
        frame = width - self.indent(look)
        if frame != self._frame:
            self._frame, self._rows = frame, []
        self._columns(look, lines)
        kept = [row for row, line in zip(self._rows, lines, strict=False) if row.source == line]
        kept = kept[: _same_start(self._rows, lines)]
        self._rows = kept + [self._row(look, line, index + len(kept)) for index, line in enumerate(lines[len(kept) :])]
        self._place(look)
        self.finish(look, None)

    def forget(self) -> None:
        """The next layout makes every row anew."""
        self._rows = []

    # -------------------------------------------------------------------------------------------------------- columns

    def _columns(self, look: PageLook, lines: list[str]) -> None:
        if self.before is not None:
            self.widths, self.sides = self.before.widths, self.before.sides
            return
        grid = [cells_of(line)[:SHARED_COLUMNS] for line in lines]
        count = min(len(self.block.info), SHARED_COLUMNS)
        cells = [[row[column] for row in grid[1:] if column < len(row)] for column in range(count)]
        sides = [_side(said, cells[column] if column else []) for column, said in enumerate(self.block.info[:count])]
        widths = self._fitted(look, [_column_width(look, grid, column) for column in range(count)])
        if (widths, sides) != (self.widths, self.sides):
            self.widths, self.sides, self._rows = widths, sides, []

    def _fitted(self, look: PageLook, wanted: list[float]) -> list[float]:
        room = self._frame - 2
        total = sum(wanted)
        if total <= room:
            growing = wanted[1:] or wanted
            wanted = [float(int(width)) for width in wanted[: -len(growing)]] + [
                float(int(width + (room - total) / len(growing))) for width in growing
            ]
            wanted[-1] += room - sum(wanted)
            return wanted
        minimum = min(float(look.px(56)), room / len(wanted))
        narrow = [min(width, max(minimum, room / len(wanted))) for width in wanted]
        spare = room - sum(narrow)
        hunger = sum(width - small for width, small in zip(wanted, narrow, strict=True)) or 1.0
        pairs = zip(wanted, narrow, strict=True)
        return [float(round(small + spare * (width - small) / hunger)) for width, small in pairs]

    # ----------------------------------------------------------------------------------------------------------- rows

    def _row(self, look: PageLook, line: str, index: int) -> TableRow:
        head = index == 0 and self.before is None
        cells = cells_of(line)[: len(self.widths)]
        cells += [""] * (len(self.widths) - len(cells))
        role = "caption" if head else "body"
        boxes = []
        for cell, width, side in zip(cells, self.widths, self.sides, strict=True):
            text, runs = self._parser.parse(cell, self._references)
            formats = [(run.start, run.end, look.inline_format(run.look)) for run in runs]
            box = TextBox(text, look.style(role, side, "body"), formats)
            box.lay_out(max(8.0, width - 2 * look.px(PAD)))
            boxes.append(box)
        return TableRow(line, boxes, max(box.height for box in boxes) + look.px(6))

    def _place(self, look: PageLook) -> None:
        pad, left = look.px(PAD), self.indent(look) + 1
        y, base = 1 if self.before is None else 0, 0
        self.boxes, texts = [], []
        for index, row in enumerate(self._rows):
            x = float(left)
            head = index == 0 and self.before is None
            for box, width in zip(row.boxes, self.widths, strict=True):
                placed = PlacedBox(box, x + pad, y + look.px(3), base, "text-2" if head else "text")
                placed.room = width - 2 * pad
                self.boxes.append(placed)
                base += len(box.text) + 1
                x += width
            texts.append("\t".join(box.text for box in row.boxes))
            y += row.height + 1
        self.text = "\n".join(texts)
        self.glue = "\n" if self.block.part else ""
        self.height = y

    def finish(self, look: PageLook, after: Piece | None) -> None:
        del look
        self._last = not (isinstance(after, TablePiece) and after.block.part)

    # -------------------------------------------------------------------------------------------------------- drawing

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        look, left = canvas.look, self.indent(canvas.look)
        if self.block.path:
            self.draw_path(canvas, origin)
        frame = QRectF(origin.x() + left, origin.y(), self._frame, self.height)
        first = self.before is None
        canvas.frame(frame, "surface", "border", first, self._last)
        if first and self._rows:
            canvas.head(QRectF(frame.x() + 1, frame.y() + 1, frame.width() - 2, self._rows[0].height), "bg")
        y = 1 if first else 0
        for index, row in enumerate(self._rows):
            y += row.height
            if index < len(self._rows) - 1 or not self._last:
                canvas.line(frame.x() + 1, origin.y() + y, frame.width() - 2)
            y += 1
        self.draw_boxes(canvas, origin)
        del look

    def markdown(self, start: int, end: int) -> str:
        return self.block.text if start == 0 and end == len(self.text) else self.text[start:end]


def _same_start(rows: list[TableRow], lines: list[str]) -> int:
    count = 0
    for row, line in zip(rows, lines, strict=False):
        if row.source != line:
            break
        count += 1
    return count


def _side(said: str, cells: list[str]) -> Qt.AlignmentFlag:
    if said in SIDES:
        return SIDES[said]
    filled = [cell for cell in cells if cell]
    numbers = len(filled) > 0 and all(NUMBER.match(cell) for cell in filled)
    return SIDES["r"] if numbers else SIDES["l"]


def _column_width(look: PageLook, grid: list[list[str]], column: int) -> float:
    widest = 0.0
    for index, row in enumerate(grid):
        if column < len(row):
            metrics = look.metrics("caption" if index == 0 else "body")
            widest = max(widest, metrics.horizontalAdvance(row[column][:200]))
    return widest + 2 * look.px(PAD) + 1
