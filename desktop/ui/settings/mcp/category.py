"""The small choice of a tool's category, in its colour."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionComboBox, QStylePainter

from desktop.ui.approvals.chooser import Chooser
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge_look, glyph

CATEGORIES = (
    ("read", "read: runs"),
    ("write", "write: asks each time"),
    ("admin", "admin: asks each time, never remembered"),
)
WIDTH = 104


class CategoryChooser(Chooser):
    """``chosen`` carries the category that a person took; it shows the old one until that is in force. Its list is
    made when it is reached for: for Qt that is as much as all else of a tool's row."""

    chosen = Signal(str)

    def __init__(self, name: str, category: str) -> None:
        super().__init__(name)
        self._category = category
        self.setAccessibleDescription(next((words for value, words in CATEGORIES if value == category), category))
        self.activated.connect(self._taken)

    def make_list(self) -> None:
        """Have the choices there."""
        if not self.count():
            self.fill([(words, value) for value, words in CATEGORIES], self._category)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keys may choose now."""
        self.make_list()
        super().focusInEvent(event)

    def showPopup(self) -> None:
        """A click may choose."""
        self.make_list()
        super().showPopup()

    def _taken(self, index: int) -> None:
        wanted = str(self.itemData(index))
        self.fill([(words, value) for value, words in CATEGORIES], self._category)
        if wanted != self._category:
            self.chosen.emit(wanted)

    def sizeHint(self) -> QSize:
        """As wide as the others below it."""
        return QSize(theme().px(WIDTH), theme().px(24))

    def minimumSizeHint(self) -> QSize:
        """Never narrower: its word is short."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box, the category's glyph and word in its colour, the chevron."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = ""
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        px, look = theme().px, badge_look(self._category)
        token = (look.token or "text") if self.isEnabled() else "text-disabled"
        glyph(painter, QRect(px(9), 0, px(14), self.height()), look.icon, token, px(14))
        painter.setFont(theme().font("small", 500))
        painter.setPen(theme().color(token))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
        painter.drawText(self.rect().adjusted(px(28), 0, -px(22), 0), flags, look.word)
        chevron = "text-2" if self.isEnabled() else "text-disabled"
        glyph(painter, QRect(self.width() - px(22), 0, px(14), self.height()), "down", chevron, px(14))
