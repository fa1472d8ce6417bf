"""Words and what is chosen about them: side by side where both have room, below each other where not."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QSizePolicy, QWidget

from desktop.ui.theme import theme

_WORDS = 200  # pixels at 100 % that words need beside a control that keeps its width


class Beside(QWidget):
    """Words with a control at their right, or below where there is no room.

    ``minimum``: pixels at 100 % that the control gets at the right of the words, which get as much. Never wider than
    what it lies in, however long the choices are. 0: the control keeps the width that it has by itself.
    """

    def __init__(self, words: QWidget, control: QWidget, *, minimum: int) -> None:
        super().__init__()
        self._control, self._minimum = control, minimum
        control.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.addWidget(words, 1)
        self._box.addWidget(control)

    def minimumSizeHint(self) -> QSize:
        """No least width: where it is narrow, the control is below the words."""
        return QSize(0, self._box.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the places for the new width."""
        super().resizeEvent(event)
        px, width, own = theme().px, self.width(), self._control.sizeHint().width()
        narrow = width < (px(2 * self._minimum) if self._minimum else own + px(_WORDS))
        wanted = min(max(px(self._minimum), own), (width - px(16)) // 2) if self._minimum else own
        self._box.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
        self._box.setSpacing(px(8 if narrow else 16))
        self._control.setFixedWidth(width if narrow else wanted)
