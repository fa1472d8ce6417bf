"""A small choice that is as wide as what is chosen, not as the widest of what could be."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionComboBox, QStylePainter

from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.controls.fields import Combo

WIDEST = 200
LEFT, RIGHT = 9, 28
"""Pixels at 100 % beside its text; the chevron stands in the right ones."""


class Chooser(Combo):
    """A quiet combo box; its list is as wide as its entries."""

    adjusts = Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon

    def __init__(self, name: str, *, widest: int = WIDEST) -> None:
        super().__init__(name, quiet=True)
        self._widest = widest
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.currentIndexChanged.connect(lambda _: self.updateGeometry())

    def sizeHint(self) -> QSize:
        """The text, and the chevron."""
        px = theme().px
        words = QFontMetrics(theme().font("small")).horizontalAdvance(self.currentText())
        return QSize(min(words + px(LEFT + RIGHT), px(self._widest)), px(24))

    def minimumSizeHint(self) -> QSize:
        """The width of a few letters."""
        return QSize(min(self.sizeHint().width(), theme().px(72)), theme().px(24))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box from the style sheet; the text with as little room around it as the house's small buttons have."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = ""
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        px = theme().px
        token = "text-2" if self.isEnabled() else "text-disabled"
        painter.setFont(theme().font("small"))
        painter.setPen(theme().color(token))
        room = self.rect().adjusted(px(LEFT), 0, -px(RIGHT), 0)
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
        painter.drawText(room, flags, elided(self.currentText(), "small", room.width() + px(2)))
        glyph(painter, QRect(self.width() - px(22), 0, px(14), self.height()), "down", token, px(14))

    def showPopup(self) -> None:
        """Wide enough to read."""
        words = QFontMetrics(theme().font("small"))
        longest = max((words.horizontalAdvance(self.itemText(at)) for at in range(self.count())), default=0)
        self.view().setMinimumWidth(longest + theme().px(40))
        super().showPopup()
