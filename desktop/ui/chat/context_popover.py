"""How the model's window is filled, below the figures in a chat's head: what the tokens are, what a cache saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from desktop.presenter.chat.context import ContextViewModel, shares_words
from desktop.presenter.chat.state import Meters
from desktop.presenter.common.words import cache_words, human_count
from desktop.ui.chat.models import ChatModels
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text

WIDTH = 336
SHADES = ("text", "text-2", "control-border")
"""Colours of what the tokens are, in the order of the rows."""
NOT_YET = "What it is made of is known once a message was sent."
NOTHING_OLD = "There is nothing older to sum up yet."
FEW = 6
"""Messages below which nothing is older."""


class ShareBar(QWidget):
    """How much of the window each part takes."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: Sequence[tuple[float, str]] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        sized(self, height=8)

    def show_parts(self, parts: Sequence[tuple[float, str]]) -> None:
        """(share of the window, colour) of each."""
        self._parts = parts
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Parts side by side with a thin gap, on the window's whole length."""
        t, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box, radius = QRectF(self.rect()), self.height() / 2
        shape = QPainterPath()
        shape.addRoundedRect(box, radius, radius)
        painter.setClipPath(shape)
        painter.fillRect(box, t.color("border"))
        x, gap = box.x(), max(1, t.px(1))
        for share, token in self._parts:
            width = min(box.right() - x, max(gap * 2.0, box.width() * share)) if share else 0.0
            painter.fillRect(QRectF(x, box.y(), max(0.0, width - gap), box.height()), t.color(token))
            x += width


class Dot(QWidget):
    """The colour of a part, beside its words."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        sized(self, width=8, height=8)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A small square with round corners."""
        t, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color(self._token))
        painter.drawRoundedRect(QRectF(self.rect()), t.px(2), t.px(2))


class ContextPopover(QFrame):
    """``sum_up``: older messages are to be summed up; ``all_wanted``: all that is sent is to be shown. It follows the
    chat while it is open; Escape closes it."""

    sum_up = Signal()
    all_wanted = Signal()

    def __init__(self, parent: QWidget, context: ContextViewModel, *, popup: bool = True) -> None:
        super().__init__(parent, Qt.WindowType.Popup if popup else Qt.WindowType.Widget)
        self.setProperty("pane", "card-attention")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName("Context")
        self._context, self._meters = context, Meters()
        self._anchor: QWidget | None = None
        column = Column(self, margins=1, spacing=0)
        top = Column(margins=(16, 12, 16, 12), spacing=6)
        head = Row(spacing=8)
        head.addWidget(Text("Context", "strong"))
        head.addStretch(1)
        self.figures = Text("", "body", "2")
        head.addWidget(self.figures)
        self.bar, self.parts = ShareBar(), Column(spacing=2)
        top.addLayout(head)
        top.addWidget(self.bar)
        top.addLayout(self.parts)
        column.addLayout(top)
        self.cache = QWidget()
        column.addWidget(self.cache)
        saved = Column(self.cache, spacing=0)
        saved.addWidget(pane("line"))
        row = Row(margins=(16, 10, 16, 10), spacing=8)
        row.addWidget(Icon("retry", "text-2", 16, line="body"), 0, Qt.AlignmentFlag.AlignTop)
        words = Column(spacing=2)
        self.saved, self.about = Paragraph("", "medium"), Paragraph("", "small", "2")
        words.addWidget(self.saved)
        words.addWidget(self.about)
        row.addLayout(words, 1)
        saved.addLayout(row)
        column.addWidget(pane("line"))
        foot = Row(margins=(8, 6, 8, 6), spacing=4)
        self.older = Button("Sum up older messages", "quiet", small=True)
        self.all = Button("What is sent", "quiet", small=True)
        foot.addWidget(self.older)
        foot.addStretch(1)
        foot.addWidget(self.all)
        column.addLayout(foot)
        self.older.clicked.connect(lambda: self._act(self.sum_up))
        self.all.clicked.connect(lambda: self._act(self.all_wanted))
        sized(self, width=WIDTH)
        context.changed.connect(self._follow)
        self.hide()

    def _act(self, signal: object) -> None:
        self.close()
        signal.emit()  # type: ignore[attr-defined]

    def _follow(self) -> None:
        self.show_meters(self._meters)

    def show_meters(self, meters: Meters) -> None:
        """Show how it is now."""
        self._meters = meters
        window, used = meters.context_window, meters.context_used
        whole = max(window or 0, used, 1)
        self.figures.setText(f"{human_count(used)} of {human_count(window)}" if window else human_count(used))
        rows = shares_words(self._context.shares)
        clear(self.parts)
        lines: list[QWidget] = [_part(what, tokens, token) for (what, tokens), token in zip(rows, SHADES, strict=False)]
        for line in lines or [Paragraph(NOT_YET, "small", "2")]:
            self.parts.addWidget(line)
            line.show()  # a layout counts what shows, and would show it a turn later
        shares = [(tokens / whole, token) for (_, tokens), token in zip(rows, SHADES, strict=False)]
        self.bar.show_parts(shares or [(used / whole, "text-2")])
        self.bar.setVisible(bool(window or rows))
        saved, about = cache_words(meters.used)
        self.cache.setVisible(bool(saved))
        self.saved.set_pieces(saved)
        self.about.set_pieces(about)
        account = self._context.account
        few = account is None or account.kept + account.shrunk < FEW
        self.older.setEnabled(not few and not self._context.writing)
        self.older.setToolTip(NOTHING_OLD if few else "The chat itself stays as it is")
        self.older.setAccessibleDescription(NOTHING_OLD if few else "")
        said = ", ".join(f"{what} {human_count(tokens)}" for what, tokens in rows)
        self.setAccessibleDescription(". ".join(filter(None, (self.figures.text(), said, saved, about))))
        self._place()

    def open_at(self, anchor: QWidget) -> None:
        """Below the figures, at their right end, inside the window."""
        self._anchor = anchor
        self._place()
        self.show()
        (self.older if self.older.isEnabled() else self.all).setFocus(Qt.FocusReason.PopupFocusReason)

    def _place(self) -> None:
        anchor = self._anchor
        if anchor is None:
            return
        px, window = theme().px, anchor.window()
        room = QRect(window.mapToGlobal(QPoint(0, 0)), window.size()).adjusted(px(4), px(4), -px(4), -px(4))
        pressed = QRect(anchor.mapToGlobal(QPoint(0, 0)), anchor.size())
        width, layout = min(px(WIDTH), room.width()), self.layout()
        if layout is not None:
            layout.activate()
            turns = layout.hasHeightForWidth()
            self.setFixedSize(width, layout.totalHeightForWidth(width) if turns else layout.sizeHint().height())
        left = max(room.left(), min(pressed.right() - self.width(), room.right() + 1 - self.width()))
        spot, above_all = QPoint(left, pressed.bottom() + px(8)), self.parentWidget()
        self.move(spot if self.isWindow() or above_all is None else above_all.mapFromGlobal(spot))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)


def open_below(figures: QWidget, page: QWidget, models: ChatModels, all_wanted: Callable[[], None]) -> None:
    """Open it for the open chat."""
    popover = ContextPopover(page, models.context)
    popover.show_meters(models.chat.meters)
    models.chat.meters_changed.connect(popover.show_meters)
    popover.sum_up.connect(models.context.sum_up)
    popover.all_wanted.connect(all_wanted)
    popover.open_at(figures)


def _part(what: str, tokens: int, token: str) -> QWidget:
    holder = QWidget()
    row = Row(holder, spacing=10)
    row.addWidget(Dot(token))
    row.addWidget(Text(what, "small", elide="right"), 1)
    row.addWidget(Text(human_count(tokens), "small", "2"))
    return holder
