"""One laid-out text: lines of a fixed height, drawn, hit and measured in characters of the Python string."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextOption

Wrap = QTextOption.WrapMode
Marked = tuple[int, int, QTextCharFormat]
"""(start, end, format) in characters."""
_UNBOUNDED = 1e7


class BoxStyle:
    """How a box sets its text; sizes in pixels. Make one for many boxes: it keeps what Qt needs."""

    __slots__ = ("_backward", "_forward", "align", "baseline", "code", "font", "line", "wrap")

    def __init__(
        self,
        font: QFont,
        line: int,
        wrap: Wrap = Wrap.WrapAtWordBoundaryOrAnywhere,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        code: bool = False,
    ) -> None:
        self.font, self.line, self.wrap, self.align, self.code = font, line, wrap, align, code
        metrics = QFontMetricsF(font)
        self.baseline = (line - metrics.ascent() - metrics.descent()) / 2 + metrics.ascent()
        self._forward = _option(self, align)
        left = align == Qt.AlignmentFlag.AlignLeft
        self._backward = _option(self, Qt.AlignmentFlag.AlignRight) if left else self._forward

    def option(self, right_to_left: bool) -> QTextOption:
        """Text that runs from the right begins at the right."""
        return self._backward if right_to_left else self._forward


class TextBox:
    """Text in one style with formats. ``lead`` indents the first line, so that one paragraph can go on in two boxes."""

    __slots__ = ("_astral", "_layout", "_rtl", "_style", "height", "text", "used_lead", "width")

    def __init__(self, text: str, style: BoxStyle, formats: Iterable[Marked] = ()) -> None:
        self.text = text
        self._style = style
        self._astral = bool(text) and max(text) > "\uffff"
        self._layout = QTextLayout(text.replace("\n", "\u2028"), style.font)
        self._layout.setCacheEnabled(True)
        self._rtl = not style.code and not text.isascii() and _is_right_to_left(text)
        self._layout.setTextOption(style.option(self._rtl))
        ranges = self._ranges(formats)
        if ranges:
            self._layout.setFormats(ranges)
        self.height = 0
        self.width = 0.0
        self.used_lead = 0.0

    # --------------------------------------------------------------------------------------------------------- layout

    def lay_out(self, width: float, lead: float = 0.0) -> None:
        """Breaks the text into lines of ``width``; without room for the first word after ``lead``, ``lead`` is 0."""
        if lead and (self._layout.text()[:1].strip() == "" or lead > width - 2):
            lead = 0.0
        self._break(width, lead)
        if lead and self._breaks_a_word(width):
            lead = 0.0
            self._break(width, lead)
        self.used_lead = lead

    def _break(self, width: float, lead: float) -> None:
        style, layout = self._style, self._layout
        unbroken = style.wrap == Wrap.NoWrap
        baseline, room = style.baseline, _UNBOUNDED if unbroken else width
        y, widest = 0, 0.0
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, room - lead))
            line.setPosition(QPointF(lead, y + baseline - line.ascent()))
            widest = max(widest, lead + line.naturalTextWidth())
            y += style.line
            lead = 0.0
        layout.endLayout()
        self.height = max(y, style.line)
        self.width = widest

    def _breaks_a_word(self, width: float) -> bool:
        first = self._layout.lineAt(0)
        text = self._layout.text()
        end = first.textStart() + first.textLength()
        crowded = first.naturalTextWidth() > width - first.x() + 0.5
        return crowded or (end < len(text) and not text[end - 1].isspace() and ord(text[end - 1]) < 0x2E80)

    def end_x(self) -> float:
        """Where the last line ends, with its trailing space."""
        count = self._layout.lineCount()
        if not count or self._layout.text().isspace():
            return 0.0
        line = self._layout.lineAt(count - 1)
        return self._x(line, self._units(len(self.text)))

    def reaches(self, left: float, right: float) -> bool:
        """Whether there may be ink between two x; of one line that begins at the left it is known."""
        style = self._style
        known = self.height <= style.line and not self._rtl and style.align == Qt.AlignmentFlag.AlignLeft
        return not known or (self.used_lead <= right and self.width >= left)

    def right_to_left(self) -> bool:
        """Whether the text runs from the right."""
        return self._rtl

    # ------------------------------------------------------------------------------------------------------- painting

    def draw(
        self, painter: QPainter, x: float, y: float, color: QColor, clip: QRectF, marks: Sequence[Marked] = ()
    ) -> None:
        """Draws the lines that ``clip`` needs; ``marks`` are laid over the formats (selection, found places)."""
        painter.setPen(color)
        self._layout.draw(painter, QPointF(x, y), self._ranges(marks), clip)

    def _ranges(self, marks: Iterable[Marked]) -> list[QTextLayout.FormatRange]:
        made = []
        for start, end, style in marks:
            item = QTextLayout.FormatRange()
            item.start = self._units(start)
            item.length = self._units(end) - item.start
            item.format = style
            if item.length > 0:
                made.append(item)
        return made

    # ------------------------------------------------------------------------------------------------------ positions

    def offset_at(self, x: float, y: float) -> int:
        """The gap between characters nearest to a point."""
        count = self._layout.lineCount()
        if not count:
            return 0
        line = self._layout.lineAt(max(0, min(count - 1, int(y // self._style.line))))
        return self._characters(int(line.xToCursor(x)))

    def inside(self, x: float, y: float) -> bool:
        """Whether there is ink of a line at the point (not only the empty rest of it)."""
        index = int(y // self._style.line)
        if not 0 <= index < self._layout.lineCount():
            return False
        line = self._layout.lineAt(index)
        left = line.x() + (line.naturalTextRect().x() - line.x() if line.width() < _UNBOUNDED else 0)
        return bool(left <= x <= left + line.naturalTextWidth())

    def cursor_rect(self, offset: int) -> QRectF:
        """A 2-pixel bar before the character."""
        units = self._units(min(offset, len(self.text)))
        line = self._layout.lineForTextPosition(units)
        if not line.isValid():
            return QRectF(0, 0, 2, self._style.line)
        return QRectF(self._x(line, units), line.lineNumber() * self._style.line, 2, self._style.line)

    def _x(self, line: object, units: int) -> float:
        found = line.cursorToX(units)  # type: ignore[attr-defined]
        return float(found[0] if isinstance(found, tuple) else found)

    def _units(self, characters: int) -> int:
        """Python counts code points, Qt UTF-16 units."""
        if not self._astral:
            return characters
        return len(self.text[:characters].encode("utf-16-le", "surrogatepass")) // 2

    def _characters(self, units: int) -> int:
        if not self._astral:
            return units
        encoded = self.text.encode("utf-16-le", "surrogatepass")[: units * 2]
        return len(encoded.decode("utf-16-le", "ignore"))


def _option(style: BoxStyle, align: Qt.AlignmentFlag) -> QTextOption:
    option = QTextOption(align)
    option.setWrapMode(style.wrap)
    direction = Qt.LayoutDirection.LeftToRight if style.code else Qt.LayoutDirection.LayoutDirectionAuto
    option.setTextDirection(direction)
    if style.code:
        option.setTabStopDistance(4 * QFontMetricsF(style.font).horizontalAdvance("0"))
    return option


def _is_right_to_left(text: str) -> bool:
    """By the first letter with a direction (Hebrew and Arabic blocks)."""
    for character in text[:200]:
        if character.isalpha():
            return "\u0590" <= character <= "\u08ff" or "\ufb1d" <= character <= "\ufefc"
    return False
