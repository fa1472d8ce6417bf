"""Fields beside each other that stand below each other where there is no room."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.scaling import Row


class Turning(QWidget):
    """Widgets beside each other where there is room, else below each other. ``minimum``: pixels at 100 % from which on
    they stand beside each other, as wide as each other unless ``shares`` says else."""

    def __init__(self, *widgets: QWidget, minimum: int, shares: tuple[int, ...] = ()) -> None:
        super().__init__()
        self._minimum = minimum
        self._row = Row(self, spacing=16)
        for widget, share in zip(widgets, shares or (1,) * len(widgets), strict=True):
            self._row.addWidget(widget, share)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the direction for the new width."""
        super().resizeEvent(event)
        beside = self.width() >= theme().px(self._minimum)
        wanted = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._row.direction() != wanted:
            self._row.setDirection(wanted)
            self.updateGeometry()  # what it lies in has given it the height of before
