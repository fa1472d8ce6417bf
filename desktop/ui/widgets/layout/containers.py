"""Pane headers, empty states, notices, cards and flowing rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import set_property
from desktop.ui.widgets.reading_order import Ordered
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Piece, Text


class Resizing(QWidget):
    """Tells of its new size those who place what is in it."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt has given it another size."""
        super().resizeEvent(event)
        self.resized.emit()


class PaneHeader(QFrame):
    """The head of a pane, 48 pixels high: title, then what is added with ``add``; a line below."""

    def __init__(self, title: str, *, left: int = 24, right: int = 16) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48)
        self.row = Row(self, margins=(left, 1, right, 0), spacing=8)
        self.title = Text(title, "title", elide="right")
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.row.addWidget(self.title, 1)

    def add(self, widget: QWidget) -> None:
        """Append at the right."""
        self.row.addWidget(widget)


class _Dashed(QFrame):
    """Qt's own dashes of one pixel look like dots."""

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(t.color("border-strong"), 1)
        pen.setDashPattern([3, 3])
        painter.setPen(pen)
        radius = t.metric("radius-card")
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)


class EmptyState(QFrame):
    """Icon, title, one sentence, one action, one quiet action; ``framed`` draws the dashed outline inside panes."""

    def __init__(
        self, icon: str, title: str, sentence: str, actions: Sequence[QWidget] = (), *, framed: bool = False
    ) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        frame = _Dashed() if framed else self
        if framed:
            Column(self, spacing=0).addWidget(frame)
        column = Column(frame, margins=24, spacing=8)
        column.addStretch(1)
        mark = Icon(icon, "text-2", 20)
        column.addWidget(mark, 0, Qt.AlignmentFlag.AlignHCenter)
        self._title = Text(title, "title")
        self._sentence = sized(Paragraph(sentence, "body", "2", center=True), max_width=480)
        column.addWidget(self._title, 0, Qt.AlignmentFlag.AlignHCenter)
        words = Row(spacing=0)
        words.addStretch(1)
        words.addWidget(self._sentence, 4)
        words.addStretch(1)
        column.addLayout(words)
        if actions:
            row = Row(spacing=8)
            row.addStretch(1)
            for action in actions:
                row.addWidget(action)
            row.addStretch(1)
            column.addSpacing(4)
            column.addLayout(row)
        column.addStretch(1)
        self.setAccessibleName(f"{title}. {sentence}")

    def say(self, title: str, sentence: str) -> None:
        """Show other words."""
        self._title.setText(title)
        self._sentence.set_pieces(sentence)
        self.setAccessibleName(f"{title}. {sentence}")


class Notice(QFrame):
    """A filled strip with a glyph and words: kind allow, info, ask or failed. Actions stand at its right."""

    ICONS = {"allow": "allow", "info": "info", "ask": "ask", "failed": "failed"}

    def __init__(
        self, kind: str, pieces: str | Sequence[Piece] = "", *, icon: str = "", banner: bool = False, slim: bool = False
    ) -> None:
        super().__init__()
        self.setProperty("banner", "true" if banner else "false")
        self.setProperty("pane", kind)
        self.row = Row(self, margins=(12, 2, 6, 2) if slim else (12, 8, 12, 8), spacing=10)
        self._icon = Icon(icon or self.ICONS[kind], kind, 16, line="small" if kind == "failed" else "body")
        self._words = Paragraph(pieces, "small" if kind == "failed" else "body")
        self.row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self.row.addWidget(self._words, 1)
        self.setAccessibleName(self._words.text())

    def say(self, pieces: str | Sequence[Piece], kind: str = "") -> None:
        """Show other words, and in another kind if given."""
        if kind:
            set_property(self, "pane", kind)
            self._icon.set_icon(self.ICONS[kind], kind)
        self._words.set_pieces(pieces)
        self.setAccessibleName(self._words.text())

    @property
    def words(self) -> str:
        """The words that it shows."""
        return self._words.text()

    def add(self, widget: QWidget) -> None:
        """An action at the right."""
        self.row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)


class Scroller(QScrollArea):
    """A page that scrolls downwards; put widgets into ``column``. ``width`` limits the content at 100 %."""

    def __init__(self, *, margins: tuple[int, int, int, int] = (24, 16, 24, 24), spacing: int = 16) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        inside = Ordered()
        inside.setProperty("pane", "scrolled")
        inside.setAutoFillBackground(False)
        self.column: QVBoxLayout = Column(inside, margins=margins, spacing=spacing)
        self._inside = inside
        self.setWidget(inside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Content is never wider than the view."""
        self._inside.setMaximumWidth(self.viewport().width())  # before it is given its width: at once, if once only
        super().resizeEvent(event)


def clear(layout: QVBoxLayout | QHBoxLayout) -> None:
    """Remove everything from a layout and delete its widgets."""
    while (item := layout.itemAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()  # while it still has its place: keys that are in it go on beside it
        layout.takeAt(0)
        if widget is not None:
            widget.setParent(None)
            widget.deleteLater()
        elif isinstance(inner, Row | Column):
            clear(inner)
            inner.deleteLater()


def caption_value(caption: str, value: QWidget, *, column: int = 104) -> Row:
    """A line of facts: a quiet name in a column, then its value."""
    row = Row(spacing=0)
    name = sized(Text(caption, "body", "3"), width=column)
    row.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(value, 1)
    return row
