"""Rows of code, a diff or arguments: painted as they come into sight, so that five megabytes open like five lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy

from desktop.ui.approvals.request.diffing import DiffRow, cells, folded_rows, plain_rows, wrapped_rows
from desktop.ui.theme import theme
from desktop.ui.theme.paint import focus_ring, glyph

ROW = 20
NUMBER, SIGN, PAD = 36, 20, 8
WRAP_LIMIT = 200_000
"""Characters up to which text is wrapped to the view; beyond, rows are cut at a fixed length and scroll sideways."""
GONE_THROUGH = 2_000
"""Rows that a person goes through; of more it is enough that the end was on the screen, too."""
ALL = 1 << 60
"""More rows than there can be."""
_SIGNS = {"add": "+", "del": "-"}


class LinesView(QAbstractScrollArea):
    """Read-only rows with numbers and signs. Keys scroll; Ctrl+C copies all of the text.

    ``read`` is emitted once when every row has been on the screen to its end, from the first on, none of them passed
    over (of more than 2,000 rows: when the end has). Long rows go on in the next; only those of very long texts, and
    letters wider than any, scroll sideways. ``wrapped``: there is another number of rows. A click on a fold, or Return,
    shows what is folded.
    """

    read = Signal()
    wrapped = Signal()

    def __init__(self, name: str, *, max_rows: int = 0) -> None:
        super().__init__()
        self._rows: Sequence[DiffRow] = ()
        self._max_rows = max_rows
        self._given: Sequence[DiffRow] = ()
        self._longest = self._columns = self._widest = 0
        self._wraps = False
        self._ring = self._both = False
        self._indent = NUMBER + SIGN
        self._text: tuple[str, bool] | None = None
        self._folds = True
        self._on_screen = 0
        self._start = self._passed = 0
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
        if len(text) > WRAP_LIMIT:
            self.set_rows(plain_rows(text, numbered=numbered))
            return
        self.set_rows(folded_rows(text, numbered=numbered))
        self._text = (text, numbered)
        self._wrap(again=True)

    def unfold(self) -> None:
        """Show what is folded, for as long as this text is shown."""
        if self._folds and self._text is not None and any(row.kind == "fold" for row in self._rows):
            self._folds = False
            self._on_screen = ALL if self.is_read else 0
            self._wrap(again=True)
            self._measure()

    def _wrap(self, *, again: bool = False) -> None:
        """Cut the rows anew when the view's width holds another number of characters."""
        advance = QFontMetricsF(theme().font("code")).horizontalAdvance("0")
        room = self.viewport().width() - theme().px(self._indent + 2 * PAD)
        columns = max(20, int(room / advance) - 1)
        if columns == self._columns and not again:
            return
        self._columns = columns
        before = len(self._rows)
        seen = sum(len(row.text) for row in self._rows[: self._on_screen])
        if self._text is not None:
            text, numbered = self._text
            make = folded_rows if self._folds else plain_rows
            self._rows = wrapped_rows(make(text, numbered=numbered, columns=columns), columns)
        elif self._wraps and self._widest > columns:
            self._rows = wrapped_rows(self._given, columns)
            if self._start:
                self._start = len(wrapped_rows(self._given[: self._passed], columns))
        else:
            self._rows, self._start = self._given, self._passed if self._start else 0
        if not self.is_read:
            self._on_screen = max(self._start, _rows_of(self._rows, seen))
        whole = self._rows is self._given
        self._longest = self._widest if whole else max((cells(row.text) for row in self._rows), default=0)
        self.updateGeometry()
        if len(self._rows) != before:
            self.wrapped.emit()

    def set_rows(self, rows: Sequence[DiffRow], *, start: int = 0) -> None:
        """Replace what is shown and go to its top, or where it does not all fit to the row ``start``; what stands over
        that need not be read."""
        self._rows = self._given = rows
        self._widest = max((cells(row.text) for row in rows), default=0)  # once: a resize asks for it many times
        self._wraps = sum(len(row.text) for row in rows) <= WRAP_LIMIT
        self._start = self._passed = self._on_screen = start
        self._text = None
        self._wrap(again=True)
        self.setAccessibleDescription("\n".join(_spoken(row) for row in rows[:200]))
        self.verticalScrollBar().setValue(0)
        self.horizontalScrollBar().setValue(0)
        self._measure()
        self.updateGeometry()

    def number_both(self) -> None:
        """Two columns of numbers: where a line is in the old file, and where in the new one."""
        self._both = True
        self.set_indent(2 * NUMBER + SIGN)

    def go_to(self, row: int) -> int:
        """Bring a row to the top of what is in sight; returns where it is in this view then."""
        self._start = 0
        top = theme().px(ROW) * row
        self.verticalScrollBar().setValue(top)
        return top - self.verticalScrollBar().value()

    def set_indent(self, pixels: int) -> None:
        """Where text begins, at 100 %: less than the columns of numbers and signs when there are none."""
        self._indent = pixels
        self._measure()

    @property
    def is_read(self) -> bool:
        """Whether all of it has been on the screen."""
        return self._on_screen == ALL

    @property
    def is_long(self) -> bool:
        """Whether it has more rows than a person goes through."""
        return len(self._given if self._text is None else self._rows) > GONE_THROUGH

    @property
    def unread(self) -> int:
        """Rows that have not been on the screen yet."""
        return 0 if self.is_read else len(self._rows) - self._on_screen

    def first_unread(self) -> int:
        """Scroll to the first row that has not been on the screen, of very many to the end; returns where that now is
        in this view."""
        self._start = 0
        top = theme().px(ROW) * min(self._on_screen, len(self._rows))
        if self.is_long and self._on_screen:
            top = theme().px(ROW) * max(0, len(self._rows) - 1)
        self.verticalScrollBar().setValue(top)
        row = min(self._on_screen, len(self._rows) - 1)
        if row >= 0 and self._reach() < self._width(row):
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().maximum())
        return top - self.verticalScrollBar().value()

    def _note_seen(self) -> None:
        """What has just been painted, as far as nothing clips it away."""
        if self.is_read:
            return
        seen = self.viewport().visibleRegion().boundingRect()
        height, top = theme().px(ROW), self.verticalScrollBar().value()
        first = (top + seen.top() + height - 1) // height
        after = (top + seen.bottom() + 2) // height
        begun = first <= self._on_screen or (self.is_long and self._on_screen > 0 and after >= len(self._rows))
        if not seen.isEmpty() and begun and self._on_screen < after:
            rows = range(self._on_screen, min(after, len(self._rows)))
            self._on_screen = next((at for at in rows if self._width(at) > self._reach()), after)
        if self._on_screen >= len(self._rows):
            self._on_screen = ALL
            QTimer.singleShot(0, self, self.read.emit)  # nothing is laid out anew while this is being painted

    def _width(self, at: int) -> int:
        """Pixels that a row takes; what fits for sure is not measured."""
        row = self._rows[at]
        if row.kind == "fold" or (row.text.isascii() and cells(row.text) <= self._columns):
            return 0
        flags = int(Qt.TextFlag.TextSingleLine) | int(Qt.TextFlag.TextExpandTabs)
        wide = theme().px(self._indent) + round(QFontMetricsF(theme().font("code")).size(flags, row.text).width())
        if wide > self._content_width():
            self._longest = 2 * max(self._longest, cells(row.text))
            QTimer.singleShot(0, self, self._measure)
        return wide

    def _reach(self) -> int:
        """How far to the right rows are in sight now."""
        return self.viewport().width() + self.horizontalScrollBar().value()

    @property
    def rows(self) -> Sequence[DiffRow]:
        """The rows that are shown."""
        return self._rows

    def text(self) -> str:
        """All rows as text, with signs."""
        return "\n".join(_SIGNS.get(row.kind, " ") + row.text for row in self._rows)

    def sizeHint(self) -> QSize:
        """All rows, up to ``max_rows`` or 5; a view may grow beyond."""
        return QSize(theme().px(240), self.full_height(self._max_rows or 5))

    def full_height(self, maximum: int = 0) -> int:
        """Pixels that all rows take, or so many of them."""
        bar = theme().px(12) if self._content_width() > self.viewport().width() else 0
        return theme().px(ROW) * max(1, min(len(self._rows), maximum or ALL)) + bar

    def minimumSizeHint(self) -> QSize:
        """The height of three rows."""
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
        """Paint the rows in sight."""
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
        self._note_seen()

    def _paint_row(self, painter: QPainter, row: DiffRow, y: int, height: int) -> None:
        t = theme()
        width = self.viewport().width()
        if row.kind == "fold":
            _paint_fold(painter, row, QRect(0, y, self.viewport().width(), height), t.px(self._indent))
            return
        if row.kind in ("head", "news"):
            _paint_head(painter, row, QRect(0, y, width, height))
            return
        fill = {"add": "diff-add-bg", "del": "diff-del-bg", "hunk": "bg"}.get(row.kind)
        left = -self.horizontalScrollBar().value()
        ink = {"add": "diff-add", "del": "diff-del", "hunk": "text-3"}.get(row.kind, "text")
        if row.struck:
            fill, ink = None, "text-3"
        if fill:
            painter.fillRect(QRect(0, y, width, height), t.color(fill))
        _paint_numbers(painter, row, QRect(left, y, t.px(NUMBER) - t.px(7), height), both=self._both)
        painter.setFont(t.font("code"))
        painter.setPen(t.color(ink))
        sign = _SIGNS.get(row.kind)
        if sign:
            numbers = t.px(NUMBER) * (2 if self._both else 1)
            painter.drawText(QRect(left + numbers + t.px(6), y, t.px(SIGN), height), _LEFT, sign)
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

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a fold opens it."""
        super().mouseReleaseEvent(event)
        row = (round(event.position().y()) + self.verticalScrollBar().value()) // theme().px(ROW)
        if 0 <= row < len(self._rows) and self._rows[row].kind == "fold":
            self.unfold()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, show what is folded, or copy all."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self._text[0] if self._text is not None else self.text())
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.unfold()
            return
        bar = self.verticalScrollBar()
        jumps = {Qt.Key.Key_Home: bar.minimum(), Qt.Key.Key_End: bar.maximum()}
        key = Qt.Key(event.key())
        if key in jumps:
            bar.setValue(jumps[key])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw a ring when keys brought the focus."""
        self._ring = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Draw no ring."""
        self._ring = False
        self.viewport().update()


def _paint_fold(painter: QPainter, row: DiffRow, box: QRect, left: int) -> None:
    """Words of ours, not of the text: another font, a ground of its own over the whole width, and a glyph."""
    t = theme()
    inner = box.adjusted(0, t.px(1), 0, -t.px(1))
    painter.fillRect(inner, t.color("ask-soft"))
    side = t.px(14)
    glyph(painter, QRect(left, inner.y(), side, inner.height()), "right", "ask", side)
    painter.setFont(t.font("small", 500))
    painter.setPen(t.color("ask"))
    painter.drawText(inner.adjusted(left + side + t.px(6), 0, 0, 0), _LEFT, f"{row.text} not shown")


def _paint_numbers(painter: QPainter, row: DiffRow, box: QRect, *, both: bool) -> None:
    """The line in the old file, in the new one, or in both."""
    t = theme()
    painter.setFont(t.font("mono-small"))
    painter.setPen(t.color("text-3"))
    beside = box.translated(t.px(NUMBER), 0) if both and row.kind != "del" else box
    for number, place in ((row.number, beside), (row.old if both else 0, box)):
        if number:
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), str(number))


def _paint_head(painter: QPainter, row: DiffRow, box: QRect) -> None:
    """Words of ours over the lines that follow: a title, and what is to be known of them."""
    t, news = theme(), row.kind == "news"
    painter.fillRect(box, t.color("info-soft" if news else "surface"))
    painter.fillRect(QRect(box.x(), box.y(), box.width(), t.px(1)), t.color("border"))
    cut = row.marks[0][1] if row.marks else 0
    title, rest = row.text[:cut], row.text[cut:].lstrip()
    x = float(box.x() + t.px(12))
    if title:
        painter.setFont(t.font("body", 500))
        painter.setPen(t.color("info" if news else "text"))
        painter.drawText(box.adjusted(round(x), 0, 0, 0), _LEFT, title)
        x += QFontMetricsF(t.font("body", 500)).horizontalAdvance(title) + t.px(8)
    painter.setFont(t.font("small"))
    painter.setPen(t.color("text-2"))
    painter.drawText(box.adjusted(round(x), 0, 0, 0), _LEFT, rest)


def _struck(font: QFont) -> QFont:
    struck = QFont(font)
    struck.setStrikeOut(True)
    return struck


def _rows_of(rows: Sequence[DiffRow], characters: int) -> int:
    """How many whole rows hold so many characters."""
    for at, row in enumerate(rows):
        characters -= len(row.text)
        if characters < 0:
            return at
    return len(rows)


def _spoken(row: DiffRow) -> str:
    return ("no longer: " if row.struck else "") + {"add": "added: ", "del": "removed: "}.get(row.kind, "") + row.text


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
