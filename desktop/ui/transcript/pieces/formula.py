"""A display formula, centred; its source while there is no drawing."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop.ui.transcript.markdown.model import Block
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox
from desktop.ui.transcript.pieces.formulas import Formula, Formulas
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text import BlockPiece
from desktop.ui.transcript.pieces.text_box import BoxStyle, TextBox

SIZE = 18


class MathPiece(BlockPiece):
    """A formula. Its text, for copying and for screen readers, is the LaTeX."""

    __slots__ = ("_formula", "_formulas", "_width", "open")

    def __init__(self, key: str, block: Block, formulas: Formulas) -> None:
        super().__init__(key, block)
        self._formulas = formulas
        self._formula: Formula | None = None
        self.open = False
        self._width = 0.0

    def update(self, block: Block, *, open_: bool) -> None:
        """Takes the block's newer state; while it is open it is not drawn as a formula."""
        self.block, self.open = block, open_

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        del before
        self.text = self.block.text
        self._width = width
        self._formula = None if self.open else self._formulas.get(self.block.text, False)
        style = BoxStyle(look.font("code"), look.line("code"), align=Qt.AlignmentFlag.AlignHCenter)
        box = TextBox(self.text, style)
        box.lay_out(width - self.indent(look))
        self.boxes = [PlacedBox(box, self.indent(look), look.px(4), 0, "text-2")]
        self.height = box.height + look.px(8)
        if self._formula is not None:
            self.height = round(self._formula.size.height() * self._scale(look)) + look.px(12)
            self.boxes[0].y = max(0, (self.height - box.height) // 2)

    def _scale(self, look: PageLook) -> float:
        assert self._formula is not None
        room = self._width - self.indent(look)
        return min(float(look.px(SIZE)), room / max(0.1, self._formula.size.width()))

    def draw(self, canvas: Canvas, origin: QPointF) -> None:
        if self.block.path:
            self.draw_path(canvas, origin)
        if self._formula is None:
            self.draw_boxes(canvas, origin)
            return
        look, scale = canvas.look, self._scale(canvas.look)
        left = self.indent(look)
        width, height = self._formula.size.width() * scale, self._formula.size.height() * scale
        x = origin.x() + left + (self._width - left - width) / 2
        corner = QPointF(x, origin.y() + (self.height - height) / 2)
        if canvas.marks:
            canvas.painter.fillRect(QRectF(round(x), round(corner.y()), width, height), look.color("selection"))
        self._formula.draw(canvas.painter, corner, look.color("text"), scale, canvas.ratio)

    def markdown(self, start: int, end: int) -> str:
        return f"$$\n{self.text}\n$$" if start == 0 and end == len(self.text) else self.text[start:end]
