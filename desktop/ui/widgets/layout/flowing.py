"""Chips and other small widgets in lines that break where the room ends."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.ui.theme import theme

LINE_GAP = 6


class FlowRow(QWidget):
    """Places its widgets from left to right and goes on below; ``gap`` in pixels at 100 %."""

    def __init__(self, gap: int = 8) -> None:
        super().__init__()
        self._gap = gap
        self._items: list[QWidget] = []
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_items(self, items: Sequence[QWidget]) -> None:
        """Show other widgets; those that are not among them any more only become hidden."""
        for widget in self._items:
            if widget not in items:
                widget.hide()
        self._items = list(items)
        for widget in self._items:
            if widget.parentWidget() is not self:
                widget.setParent(self)
            widget.show()
        self.place()

    def place(self) -> None:
        """Lay them out for the width there is."""
        height = self._run(self.width(), move=True)
        if height != self.minimumHeight():
            self.setFixedHeight(height)

    def heightForWidth(self, width: int) -> int:
        """The height in pixels at this width: as many lines as it takes."""
        return self._run(width, move=False)

    def hasHeightForWidth(self) -> bool:
        """The height depends on the width."""
        return True

    def sizeHint(self) -> QSize:
        """At the present width."""
        return QSize(theme().px(120), self.heightForWidth(max(self.width(), theme().px(120))))

    def minimumSizeHint(self) -> QSize:
        """The least size: as narrow as the widest item."""
        return QSize(theme().px(40), theme().px(24) if self._items else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the widgets in lines for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.place()

    def event(self, event: QEvent) -> bool:
        """Place the widgets anew when one of them changes its size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.place()
        return super().event(event)

    def _run(self, width: int, *, move: bool) -> int:
        px = theme().px
        x = y = line = 0
        placed: list[tuple[QWidget, QRect]] = []
        for widget in self._items:
            hint = widget.sizeHint().expandedTo(widget.minimumSize()).boundedTo(widget.maximumSize())
            item = min(hint.width(), max(width, 1))
            if x and x + item > width:
                _centre(placed, line, move=move)
                x, y, line, placed = 0, y + line + px(LINE_GAP), 0, []
            placed.append((widget, QRect(x, y, item, hint.height())))
            x += item + px(self._gap)
            line = max(line, hint.height())
        _centre(placed, line, move=move)
        return y + line


def _centre(placed: Sequence[tuple[QWidget, QRect]], height: int, *, move: bool) -> None:
    """Place the widgets of one line, the lower ones in its middle."""
    for widget, place in placed if move else ():
        widget.setGeometry(place.translated(0, (height - place.height()) // 2))
