"""What keeps room free at its right for something that lies over it there, as for a request beside its conversation."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.scaling import Column, Row


class SideRoom(QWidget):
    """A column of widgets that narrows while something stands at its right.

    ``uncovered``: what lay over it has gone.
    """

    uncovered = Signal()

    def __init__(self, *held: QWidget) -> None:
        super().__init__()
        row = Row(self, spacing=0)
        column = Column(spacing=0)
        for widget in held:
            column.addWidget(widget, 1)
        row.addLayout(column, 1)
        self._free = QWidget()
        self._free.hide()
        row.addWidget(self._free)

    @property
    def kept(self) -> int:
        """Pixels that are kept free."""
        return 0 if self._free.isHidden() else self._free.width()

    def keep(self, width: int) -> None:
        """Keep so many pixels free at the right, 0 for none."""
        self._free.setFixedWidth(width)
        self._free.setVisible(width > 0)
