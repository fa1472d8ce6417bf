"""The rail: the mark, one item a page, settings at the foot. Arrow keys move, Tab enters and leaves it once.

It is on screen right after the first paint, so it is made of Qt's own widgets and the style sheet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6 import QtCore
from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QToolButton, QWidget

from desktop.domain.loading.lazy import lazy_module
from desktop.ui.theme import theme
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.tips import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent

    from desktop.ui.widgets import focus
else:
    focus = lazy_module("desktop.ui.widgets.focus")

ITEMS = (
    ("chats", "Chats", "Ctrl+1"),
    ("debates", "Debates", "Ctrl+2"),
    ("skills", "Skills", "Ctrl+3"),
    ("approvals", "Approvals", "Ctrl+4"),
    ("schedules", "Schedules", "Ctrl+6"),
    ("settings", "Settings", "Ctrl+5"),
)
ICON_ONLY, TEXT_UNDER_ICON, TAB_FOCUS, NO_FOCUS = 0, 3, 1, 0
"""Values of Qt::ToolButtonStyle and Qt::FocusPolicy, set as properties to leave the namespace alone."""
MARK = 28
EDGE, ABOVE_MARK, BELOW_MARK, FOOT, BETWEEN, ITEM, ICON = 4, 14, 14, 4, 4, 52, 20
AROUND = 17
"""Pixels at any text size: over the icon, between it and the caption, and below that."""


class RailButton(QToolButton):
    """Icon over caption, with the count of what waits. Clicks leave the focus where it is."""

    spoken_role = "page tab"

    def __init__(self, page: str, title: str, shortcut: str) -> None:
        super().__init__()
        self.page = page
        self._title = title
        self._shortcut = shortcut
        self._count = 0
        self._badge: QLabel | None = None
        self.setProperty("kind", "rail")
        self.setProperty("toolButtonStyle", TEXT_UNDER_ICON)
        self.setCheckable(True)
        self.setText(title)
        self.setAccessibleName(title)
        self.setToolTip(plain_tip(f"{title} ({shortcut})"))
        sized(self, width=56, icon=20)
        self.toggled.connect(self.dress)

    def dress(self) -> None:
        """The icon of the theme and state as they are now."""
        t = theme()
        side, ratio = t.px(20), self.devicePixelRatio()
        token = "text" if self.isChecked() else "text-2"
        self.setIcon(QIcon(t.pixmap(self.page, token, side, ratio)))
        self.setIconSize(QSize(side, side))
        self._place_badge()

    def set_count(self, number: int) -> None:
        """How many things wait here."""
        if number == self._count:
            return
        self._count = number
        waiting = f", {number} waiting" if number else ""
        self.setAccessibleName(self._title + waiting)
        self.setToolTip(plain_tip(f"{self._title}{waiting} ({self._shortcut})"))
        self._place_badge()

    @property
    def count(self) -> int:
        """How many things wait behind this button."""
        return self._count

    def _place_badge(self) -> None:
        if self._badge is None:
            if not self._count:
                return
            self._badge = QLabel(self)
            self._badge.setProperty("kind", "count")
        self._badge.setText(str(self._count) if self._count < 100 else "99+")
        self._badge.setVisible(bool(self._count))
        self._badge.adjustSize()
        px = theme().px
        self._badge.move(px(56) - px(6) - self._badge.width(), px(2))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The ring lies around it: a border would leave its caption too little room."""
        super().focusInEvent(event)
        focus.ring_in(self, event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        focus.ring_out(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows are for the rail."""
        if event.key() in (QtCore.Qt.Key.Key_Up, QtCore.Qt.Key.Key_Down):
            event.ignore()
        else:
            super().keyPressEvent(event)


class Rail(QFrame):
    """``chosen`` carries the page's name."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "rail")
        self.setAccessibleName("Pages")
        sized(self, width=64)
        column = self._column = Column(self, margins=(4, EDGE, 3, EDGE), spacing=BETWEEN)
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # what it needs follows its height
        self._mark = sized(QLabel(), width=MARK, height=MARK)
        self._head = QWidget()
        row = Row(self._head, margins=(14, ABOVE_MARK, 0, BELOW_MARK), spacing=0)
        row.addWidget(self._mark)
        row.addStretch(1)
        column.addWidget(self._head)
        self._buttons: dict[str, RailButton] = {}
        for page, title, shortcut in ITEMS:
            button = RailButton(page, title, shortcut)
            button.clicked.connect(lambda _=False, page=page: self._clicked(page))
            self._buttons[page] = button
            if page == "settings":
                column.addStretch(1)
            column.addWidget(button)
        self._foot = sized(QWidget(), height=FOOT)
        column.addWidget(self._foot)
        self.dress()
        theme().changed.connect(self.dress)

    def dress(self) -> None:
        """The mark and the icons of the theme as it is now."""
        self._mark.setPixmap(theme().mark(theme().px(MARK), self.devicePixelRatio()))
        for button in self._buttons.values():
            button.dress()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the items into the new height."""
        super().resizeEvent(event)
        self._fit()
        self._column.activate()  # what has come to be seen stands in its place before it is painted

    def minimumSizeHint(self) -> QSize:
        """The size with icons alone."""
        return QSize(theme().px(64), len(ITEMS) * theme().px(ICON + BETWEEN) + 2 * theme().px(EDGE))

    def _fit(self) -> None:
        """Every item whole, however large the text and low the window: first the mark goes, then the captions."""
        px, buttons = theme().px, tuple(self._buttons.values())
        room = self.height() - 2 * px(EDGE) - len(buttons) * px(BETWEEN)
        around = px(ABOVE_MARK) + px(MARK) + px(BELOW_MARK) + px(FOOT) + 2 * px(BETWEEN)
        each = min(px(ITEM), room // len(buttons))
        for widget in (self._head, self._foot):
            widget.setVisible(room >= len(buttons) * px(ITEM) + around)
        captions = each >= px(ICON) + buttons[0].fontMetrics().height() + AROUND
        for button in buttons:
            button.setProperty("toolButtonStyle", TEXT_UNDER_ICON if captions else ICON_ONLY)
            button.setFixedHeight(max(each, px(ICON)))

    def set_page(self, page: str) -> None:
        """Mark the page that shows."""
        for name, button in self._buttons.items():
            button.setChecked(name == page)
            button.setProperty("focusPolicy", TAB_FOCUS if name == page else NO_FOCUS)

    def set_count(self, page: str, number: int) -> None:
        """Show a count on the item of a page."""
        self._buttons[page].set_count(number)

    def button(self, page: str) -> RailButton:
        """The item of a page."""
        return self._buttons[page]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down move between items."""
        step = {QtCore.Qt.Key.Key_Up: -1, QtCore.Qt.Key.Key_Down: 1}.get(QtCore.Qt.Key(event.key()), 0)
        names = list(self._buttons)
        focused = next((i for i, name in enumerate(names) if self._buttons[name].hasFocus()), None)
        if not step or focused is None:
            super().keyPressEvent(event)
            return
        self._buttons[names[(focused + step) % len(names)]].setFocus(QtCore.Qt.FocusReason.TabFocusReason)

    def _clicked(self, page: str) -> None:
        self._buttons[page].setChecked(True)
        self.chosen.emit(page)
