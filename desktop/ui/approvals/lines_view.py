"""Rows of code, a diff or arguments: painted as they come into sight, so that five megabytes open like five lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy

from desktop.ui.approvals.diffing import DiffRow, plain_rows
from desktop.ui.theme import theme
from desktop.ui.theme.paint import focus_ring

ROW = 20
NUMBER, SIGN, PAD = 36, 20, 8
WRAP_LIMIT = 200_000
"""Characters up to which text is wrapped to the view; beyond, rows are cut at a fixed length and scroll sideways."""
_SIGNS = {"add": "+", "del": "-"}


class LinesView(QAbstractScrollArea):
    """Read-only rows with numbers and signs. Keys scroll; Ctrl+C copies all of the text."""

    def __init__(self, name: str, *, max_rows: int = 0) -> None:
        super().__init__()
        self._rows: Sequence[DiffRow] = ()
        self._max_rows = max_rows
        self._longest = 0
        self._ring = False
        self._indent = NUMBER + SIGN
        self._wrapped: tuple[str, bool, int] | None = None
        self._start = 0
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        theme().changed.connect(self._measure)
        self.verticalScrollBar().actionTriggered.connect(self._scrolled)

    def _scrolled(self) -> None:
        """The person went elsewhere."""
        self._start = 0

    def set_text(self, text: str, *, numbered: bool = False) -> None:
        """A text whose long lines go on in the next row, so that nothing stands out of sight."""
        self.set_rows(plain_rows(text, numbered=numbered))
        if len(text) <= WRAP_LIMIT:
            self._wrapped = (text, numbered, 0)
            self._wrap()

    def _wrap(self) -> None:
        """Cut the rows anew when the view's width holds another number of characters."""
        if self._wrapped is None:
            return
        text, numbered, before = self._wrapped
        advance = QFontMetricsF(theme().font("code")).horizontalAdvance("0")
        room = self.viewport().width() - theme().px(self._indent + 2 * PAD)
        columns = max(20, int(room / advance) - 1)
        if columns != before:
            self._wrapped = (text, numbered, columns)
            self._rows = plain_rows(text, numbered=numbered, columns=columns)
            self._longest = max((len(row.text) for row in self._rows), default=0)
            self.updateGeometry()

    def set_rows(self, rows: Sequence[DiffRow], *, start: int = 0) -> None:
        """Replace what is shown and go to its top, or where it does not all fit to the row ``start``."""
        self._rows = rows
        self._start = start
        self._wrapped = None
        self._longest = max((len(row.text) for row in rows), default=0)
        self.setAccessibleDescription("\n".join(_spoken(row) for row in rows[:200]))
        self.verticalScrollBar().setValue(0)
        self.horizontalScrollBar().setValue(0)
        self._measure()
        self.updateGeometry()

    def set_indent(self, pixels: int) -> None:
        """Where text begins, at 100 %: less than the columns of numbers and signs when there are none."""
        self._indent = pixels
        self._measure()

    @property
    def rows(self) -> Sequence[DiffRow]:
        """What is shown."""
        return self._rows

    def text(self) -> str:
        """All rows as text, with signs."""
        return "\n".join(_SIGNS.get(row.kind, " ") + row.text for row in self._rows)

    def sizeHint(self) -> QSize:
        """All rows, up to ``max_rows`` or 5; a view may grow beyond."""
        return QSize(theme().px(240), min(self.full_height(), theme().px(ROW) * (self._max_rows or 5)))

    def full_height(self) -> int:
        """Pixels that all rows take."""
        bar = theme().px(12) if self._content_width() > self.viewport().width() else 0
        return theme().px(ROW) * max(1, len(self._rows)) + bar

    def minimumSizeHint(self) -> QSize:
        """Three rows."""
        return QSize(theme().px(120), theme().px(ROW) * min(3, max(1, len(self._rows))))

    def _content_width(self) -> int:
        advance = QFontMetricsF(theme().font("code")).horizontalAdvance("0")
        return round(theme().px(self._indent + 2 * PAD) + advance * (self._longest + 1))

    def _measure(self) -> None:
        px = theme().px
        height, width = self.viewport().height(), self.viewport().width()
        vertical, horizontal = self.verticalScrollBar(), self.horizontalScrollBar()
        vertical.setRange(0, max(0, px(ROW) * len(self._rows) - height))
        vertical.setPageStep(max(1, height))
        vertical.setSingleStep(px(ROW))
        if self._start:
            vertical.setValue(px(ROW) * self._start)
        horizontal.setRange(0, max(0, self._content_width() - width))
        horizontal.setPageStep(max(1, width))
        horizontal.setSingleStep(px(24))
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ranges and wrapped rows follow the size."""
        self._wrap()
        self._measure()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Repaint: only visible rows cost anything."""
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows in sight."""
        t = theme()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height, top = t.px(ROW), self.verticalScrollBar().value()
        first = top // height
        last = min(len(self._rows), (top + self.viewport().height()) // height + 1)
        for at in range(first, last):
            self._paint_row(painter, self._rows[at], at * height - top, height)
        if self._ring:
            focus_ring(painter, QRectF(self.viewport().rect()), t.px(6))

    def _paint_row(self, painter: QPainter, row: DiffRow, y: int, height: int) -> None:
        t = theme()
        width = self.viewport().width()
        fill = {"add": "diff-add-bg", "del": "diff-del-bg", "hunk": "bg"}.get(row.kind)
        left = -self.horizontalScrollBar().value()
        ink = {"add": "diff-add", "del": "diff-del", "hunk": "text-3"}.get(row.kind, "text")
        if row.struck:
            fill, ink = None, "text-3"
        if fill:
            painter.fillRect(QRect(0, y, width, height), t.color(fill))
        if row.number:
            painter.setFont(t.font("mono-small"))
            painter.setPen(t.color("text-3"))
            box = QRect(left, y, t.px(NUMBER) - t.px(7), height)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), str(row.number))
        painter.setFont(t.font("code"))
        painter.setPen(t.color(ink))
        sign = _SIGNS.get(row.kind)
        if sign:
            painter.drawText(QRect(left + t.px(NUMBER) + t.px(6), y, t.px(SIGN), height), _LEFT, sign)
        x = left + t.px(self._indent)
        advance = QFontMetricsF(t.font("code")).horizontalAdvance("0")
        for start, length in row.marks:
            prefix = QFontMetricsF(t.font("code")).horizontalAdvance(row.text[:start])
            span = QFontMetricsF(t.font("code")).horizontalAdvance(row.text[start : start + length]) or advance
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("diff-add-mark" if row.kind == "add" else "diff-del-mark"))
            painter.drawRoundedRect(QRectF(x + prefix, y + t.px(2), span, height - t.px(4)), t.px(2), t.px(2))
        painter.setPen(t.color(ink))
        painter.setFont(_struck(t.font("code")) if row.struck else t.font("code"))
        painter.drawText(QRect(x, y, self._content_width(), height), _LEFT | int(Qt.TextFlag.TextExpandTabs), row.text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, or copy all."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.text())
            return
        bar = self.verticalScrollBar()
        jumps = {Qt.Key.Key_Home: bar.minimum(), Qt.Key.Key_End: bar.maximum()}
        key = Qt.Key(event.key())
        if key in jumps:
            bar.setValue(jumps[key])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Ring for keys."""
        self._ring = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No ring."""
        self._ring = False
        self.viewport().update()


def _struck(font: QFont) -> QFont:
    struck = QFont(font)
    struck.setStrikeOut(True)
    return struck


def _spoken(row: DiffRow) -> str:
    return ("no longer: " if row.struck else "") + {"add": "added: ", "del": "removed: "}.get(row.kind, "") + row.text


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
