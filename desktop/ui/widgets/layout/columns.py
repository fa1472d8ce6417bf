"""Widgets of one width beside each other as far as each has its room, the others in rows below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop.ui.theme import theme


class Columns(QWidget):
    """Widgets in as many columns as fit, at most ``maximum``. ``minimum``: pixels that each needs at 100 %. Rows are
    filled evenly: five widgets where four fit stand as three and two."""

    def __init__(self, widgets: Sequence[QWidget] = (), *, minimum: int, maximum: int) -> None:
        super().__init__()
        self._minimum, self._maximum, self._across = minimum, maximum, 0
        self._widgets: tuple[QWidget, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self.fill(widgets)

    @property
    def across(self) -> int:
        """How many stand beside each other."""
        return self._across

    def fill(self, widgets: Sequence[QWidget]) -> None:
        """Others, in the place of those that were here, which are deleted."""
        for widget in self._widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
        self._widgets, self._across = tuple(widgets), 0
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the number of columns for the new width."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        gap = theme().px(12)
        self._grid.setSpacing(gap)
        fit = max(1, min(self._maximum, (self.width() + gap) // (theme().px(self._minimum) + gap)))
        rows = -(-len(self._widgets) // fit)
        across = -(-len(self._widgets) // rows) if rows else 0
        if across == self._across:
            return
        self._across = across
        for at, widget in enumerate(self._widgets):
            self._grid.removeWidget(widget)
            self._grid.addWidget(widget, at // across, at % across, Qt.AlignmentFlag.AlignTop)
        for column in range(self._maximum):
            self._grid.setColumnStretch(column, 1 if column < across else 0)
