"""The card of a call that ran model-written code: the JavaScript with its line numbers, what it gave, printed and
called, and the line that failed (R-COD-12, R-COD-18).

Everything is plain text, escaped as everything that a model wrote; of long code only the pages asked for are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF

from desktop.domain.code import lines_of
from desktop.domain.text.words import size_words
from desktop.presenter.transcript.items import CodeText, NestedCall, ToolPart
from desktop.ui.transcript.pieces.base import Canvas, Piece, PlacedBox, Spot
from desktop.ui.transcript.pieces.code_lines import LineNumbers, numbered
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.text_box import TextBox
from desktop.ui.transcript.pieces.tool_card import CHUNK_LINES, ToolCard
from desktop.ui.transcript.pieces.tool_drawing import STATES, nested_line
from desktop.ui.widgets.shown import shown, shown_line

ROW = 26


class CodeCard(ToolCard):
    """A tool card whose body is code."""

    __slots__ = ("_calls", "_numbers")

    def __init__(self, key: str, part: ToolPart) -> None:
        super().__init__(key, part)
        self._numbers: list[LineNumbers] = []
        self._calls: list[tuple[NestedCall, float]] = []

    @property
    def code(self) -> CodeText:
        """The code that is shown."""
        return self.part.code or CodeText("")

    @property
    def source(self) -> str:
        """Exactly the code, to copy."""
        return self.code.source

    # --------------------------------------------------------------------------------------------------------- layout

    def lay_out(self, look: PageLook, width: float, before: Piece | None) -> None:
        self._numbers, self._calls = [], []
        super().lay_out(look, width, before)

    def _lay_out_open(self, look: PageLook) -> None:
        code, part = self.code, self.part
        y = float(self.height) + look.px(4)
        self._copy_spot(look, y)
        y = self._section(look, "Code", y)
        y = self._lay_out_code(look, y)
        if part.nested:
            y = self._section(look, "Calls it made", y)
            y = self._lay_out_calls(look, part.nested, y)
        for title, text, token in self._said(code):
            y = self._section(look, title, y)
            first = len(self.boxes)
            y = self._result(look, shown(text), y)
            for placed in self.boxes[first:]:
                placed.token = token
        if part.detail:
            y = self._section(look, "Decision", y)
            y = self._chunks(look, shown(part.detail), y)
        self.height = round(y) + look.px(6)

    def _said(self, code: CodeText) -> list[tuple[str, str, str]]:
        where = f"\nLine {code.line} of the code." if code.line else ""
        result = code.value or (self.part.result if self.live else "")
        found = (
            ("Error", f"{code.error}{where}" if code.error else "", "failed"),
            ("Result of the run" if code.finished else "Value", result, "text-2"),
            ("Printed", code.stdout, "text-2"),
            ("Note", code.note, "ask"),
        )
        return [(title, text, token) for title, text, token in found if text]

    def _copy_spot(self, look: PageLook, y: float) -> None:
        width = look.metrics("small", 500).horizontalAdvance("Copy") + look.px(38)
        rect = QRectF(self._width - width - look.px(5), y - look.px(2), width, look.px(24))
        self._spots.append(Spot("copy", f"{self.key}/copy", rect, "Copy the code", self.key))

    def _lay_out_code(self, look: PageLook, y: float) -> float:
        lines = [shown(line) for line in lines_of(self.source)]
        gutter = look.px(13) + round(look.code_advance * max(2, len(str(len(lines))))) + look.px(12)
        room = self._width - gutter - look.px(13)
        count = self._lines_shown(lines)
        for chunk in numbered(lines[:count], CHUNK_LINES):
            formats = [(start, end, look.token_format(token)) for start, end, token in chunk.spans]
            box = TextBox(chunk.text, look.output_style, formats)
            box.lay_out(room)
            self.boxes.append(PlacedBox(box, gutter, y, 0, "text", room=room))
            self._numbers.append(LineNumbers(chunk.first, chunk.starts, box, y))
            y += box.height
        if count < len(lines):
            hidden = sum(len(line) + 1 for line in lines[count:])
            label = f"Show more ({size_words(hidden)} not shown)"
            width = look.metrics("small", 500).horizontalAdvance(label) + look.px(16)
            rect = QRectF(look.px(12), y + look.px(4), width, look.px(24))
            self._spots.append(Spot("more", f"{self.key}/more-code", rect, label, self.key))
            y += look.px(32)
        return y + look.px(4)

    def _lines_shown(self, lines: Sequence[str]) -> int:
        """The number of lines that fit into the pages asked for, at least one."""
        room = self._shown
        for count, line in enumerate(lines):
            room -= len(line) + 1
            if room < 0:
                return max(1, count)
        return len(lines)

    def _lay_out_calls(self, look: PageLook, calls: Sequence[NestedCall], y: float) -> float:
        for call in calls:
            box = TextBox(nested_line(call), look.output_style)
            room = self._width - look.px(13 + 30 + 13)
            box.lay_out(room)
            tall = max(look.px(ROW), box.height + look.px(6))
            self.boxes.append(PlacedBox(box, look.px(13 + 30), y + (tall - box.height) / 2, 0, "text-2", room=room))
            self._calls.append((call, y))
            y += tall + look.px(3)
        return y + look.px(4)

    # -------------------------------------------------------------------------------------------------------- drawing

    def _draw_body(self, canvas: Canvas, origin: QPointF) -> None:
        self._draw_lines(canvas, origin)
        self._draw_calls(canvas, origin)
        super()._draw_body(canvas, origin)

    def _draw_spot(self, canvas: Canvas, spot: Spot, origin: QPointF) -> None:
        if spot.kind != "copy":
            super()._draw_spot(canvas, spot, origin)
            return
        look, rect = canvas.look, spot.rect.translated(origin)
        canvas.glyph("copy", "text-2", rect.x() + look.px(8), rect.y() + look.px(4), 16)
        canvas.words("Copy", rect.adjusted(look.px(29), 0, 0, 0), "small", "text-2", 500)

    def _draw_lines(self, canvas: Canvas, origin: QPointF) -> None:
        look, failed = canvas.look, self.code.line
        tall = look.line("code")
        right = self.boxes[0].x - look.px(10) if self.boxes else 0.0
        for numbers in self._numbers:
            for number, top, bottom in numbers.rows():
                y = origin.y() + top
                if y > canvas.clip.bottom() or origin.y() + bottom < canvas.clip.top():
                    continue
                if number == failed:
                    band = QRectF(origin.x() + 1, y, self._width - 2, bottom - top)
                    canvas.painter.fillRect(band, look.color("diff-del-bg"))
                rect = QRectF(origin.x(), y, right, tall)
                canvas.words(str(number), rect, "mono-small", "failed" if number == failed else "text-3", right=True)

    def _draw_calls(self, canvas: Canvas, origin: QPointF) -> None:
        look = canvas.look
        for placed, (call, y) in zip(self._call_boxes(), self._calls, strict=True):
            tall = max(look.px(ROW), placed.box.height + look.px(6))
            frame = QRectF(origin.x() + look.px(13), origin.y() + y, self._width - look.px(26), tall)
            canvas.frame(frame, "bg", "border")
            icon, token, _ = STATES.get(call.state, ("", "text-2", ""))
            if icon:
                canvas.glyph(icon, token, frame.x() + look.px(8), frame.y() + (tall - look.px(16)) / 2, 16)

    def _call_boxes(self) -> list[PlacedBox]:
        first = len(self._numbers)
        return self.boxes[first : first + len(self._calls)]

    def spoken(self) -> str:
        """The call in words, for a screen reader."""
        failed = f", failed in line {self.code.line}" if self.code.line else ""
        return f"Code, {shown_line(self._summary[:120])}, {STATES.get(self.part.state, ('', '', ''))[2]}{failed}"


def make_card(key: str, part: ToolPart) -> ToolCard:
    """The card that fits a call."""
    return ToolCard(key, part) if part.code is None else CodeCard(key, part)


def fits(card: object, part: ToolPart) -> bool:
    """Whether the card is of the part's kind."""
    return isinstance(card, CodeCard) == (part.code is not None)
