"""The rail: the mark, one item a page, settings at the foot. Arrow keys move, Tab enters and leaves it once."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import count, focus_ring, glyph
from desktop.ui.widgets.focus import KEYBOARD
from desktop.ui.widgets.scaling import Column, sized

ITEMS = (
    ("chats", "Chats", "Ctrl+1"),
    ("debates", "Debates", "Ctrl+2"),
    ("skills", "Skills", "Ctrl+3"),
    ("approvals", "Approvals", "Ctrl+4"),
    ("settings", "Settings", "Ctrl+5"),
)


class RailButton(QAbstractButton):
    """Icon over caption, with the count of what waits."""

    def __init__(self, page: str, title: str, shortcut: str) -> None:
        super().__init__()
        self.page = page
        self._title = title
        self._shortcut = shortcut
        self._count = 0
        self._ring = False
        self.setCheckable(True)
        self.setText(title)
        self.setAccessibleName(title)
        self.setToolTip(f"{title} ({shortcut})")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_count(self, number: int) -> None:
        """How many things wait here."""
        if number == self._count:
            return
        self._count = number
        waiting = f", {number} waiting" if number else ""
        self.setAccessibleName(self._title + waiting)
        self.setToolTip(f"{self._title}{waiting} ({self._shortcut})")
        self.update()

    @property
    def count(self) -> int:
        """How many wait."""
        return self._count

    def sizeHint(self) -> QSize:
        """56 x 52."""
        return QSize(theme().metric("rail-item"), theme().metric("rail-item-height"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill, icon, caption, count, ring."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = t.metric("radius-card")
        on = self.isChecked()
        fill = "surface" if on else "pressed" if self.isDown() else "hover" if self.underMouse() else ""
        if fill:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color(fill))
            painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        token = "text" if on else "text-2"
        side = t.metric("icon")
        glyph(painter, QRect(0, t.px(7), self.width(), side), self.page, token, side)
        painter.setPen(t.color(token))
        painter.setFont(t.font("caption"))
        painter.drawText(QRect(0, t.px(29), self.width(), t.px(16)), Qt.AlignmentFlag.AlignCenter, self._title)
        if self._count:
            count(painter, QPointF(self.width() - t.px(6), t.px(2)), self._count)
        if self._ring:
            focus_ring(painter, QRectF(self.rect()), radius)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows are for the rail."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Ring for keys."""
        self._ring = event.reason() in KEYBOARD
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No ring."""
        self._ring = False
        super().focusOutEvent(event)


class Rail(QFrame):
    """``chosen`` carries the page's name."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("pane", "rail")
        self.setAccessibleName("Pages")
        sized(self, width=64)
        column = Column(self, margins=(4, 64, 3, 12), spacing=4)
        self._buttons: dict[str, RailButton] = {}
        for page, title, shortcut in ITEMS:
            button = RailButton(page, title, shortcut)
            button.clicked.connect(lambda _=False, page=page: self._clicked(page))
            self._buttons[page] = button
            if page == "settings":
                column.addStretch(1)
            column.addWidget(button)

    def set_page(self, page: str) -> None:
        """Mark the page that shows."""
        for name, button in self._buttons.items():
            button.setChecked(name == page)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus if name == page else Qt.FocusPolicy.ClickFocus)

    def set_count(self, page: str, number: int) -> None:
        """The count on an item."""
        self._buttons[page].set_count(number)

    def button(self, page: str) -> RailButton:
        """An item."""
        return self._buttons[page]

    def paintEvent(self, event: QPaintEvent) -> None:
        """The mark on the rail."""
        super().paintEvent(event)
        t = theme()
        side = t.px(28)
        painter = QPainter(self)
        mark = t.mark(side, self.devicePixelRatio())
        painter.drawPixmap((self.width() - side) // 2, t.px(18), mark)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down move between items."""
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        names = list(self._buttons)
        focused = next((i for i, name in enumerate(names) if self._buttons[name].hasFocus()), None)
        if not step or focused is None:
            super().keyPressEvent(event)
            return
        self._buttons[names[(focused + step) % len(names)]].setFocus(Qt.FocusReason.TabFocusReason)

    def _clicked(self, page: str) -> None:
        self._buttons[page].setChecked(True)
        self.chosen.emit(page)
