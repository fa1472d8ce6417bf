"""A list pane beside the work: folds away in a narrow window and then slides over the work when asked for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import IconButton


class FoldingPane(QWidget):
    """``side`` is ``width`` pixels (at 100 %) wide; below ``fold-width`` of the window, or where the work would have
    less than ``minimum`` pixels beside it, it folds.

    Put ``button`` into the work's header: it shows only while folded and opens the side over the work.
    ``folded`` says when that changed.
    """

    folded = Signal(bool)

    def __init__(self, side: QWidget, work: QWidget, *, width: int, name: str, minimum: int = 0) -> None:
        super().__init__()
        self._side, self._work, self._width, self._minimum = side, work, width, minimum
        side.setParent(self)
        work.setParent(self)
        self._folded = False
        self._over = False
        self.button = IconButton("sidebar", name)
        self.button.hide()
        self.button.clicked.connect(self.toggle)
        side.installEventFilter(self)
        work.installEventFilter(self)

    @property
    def is_folded(self) -> bool:
        """Whether the side is out of the way."""
        return self._folded

    def toggle(self) -> None:
        """Open the side over the work, or close it, while folded."""
        if not self._folded:
            return
        self._over = not self._over
        self._place()
        if self._over:
            self._side.setFocus(Qt.FocusReason.OtherFocusReason)

    def put_away(self) -> None:
        """Give the room back to the work while folded, because something was picked."""
        if self._folded and self._over:
            self._over = False
            self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold, by the width of the window."""
        super().resizeEvent(event)
        px = theme().px
        squeezed = self.width() < px(self._width) + px(self._minimum)
        folded = squeezed or self.window().width() < theme().metric("fold-width")
        if folded != self._folded:
            self._folded = folded
            self._over = False
            self.button.setVisible(folded)
            self.folded.emit(folded)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click in the work or Escape in the side puts the side away."""
        if not self._over:
            return False
        if watched is self._work and event.type() == QEvent.Type.MouseButtonPress:
            self.put_away()
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if watched is self._side and event.type() == QEvent.Type.KeyPress and escape:
            self.put_away()
            return True
        return False

    def _place(self) -> None:
        width = min(theme().px(self._width), self.width())
        side = QRect(0, 0, width, self.height())
        if self._folded:
            self._work.setGeometry(self.rect())
            self._side.setGeometry(side)
            self._side.setVisible(self._over)
            self._side.raise_()
        else:
            self._side.setGeometry(side)
            self._side.show()
            self._work.setGeometry(QRect(width, 0, self.width() - width, self.height()))
