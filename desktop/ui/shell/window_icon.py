"""The app's icon, for its windows and the tray: the mark on a plate, so that it can be seen on any panel."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from desktop.ui.theme import theme

SIDES = (16, 24, 32, 48, 64, 128)
"""Pixels. Plain window managers scale none of them well."""
ROUND, INSET = 0.22, 0.1
"""Parts of the side: the plate's corners, and its edge around the mark."""


def app_icon() -> QIcon:
    """In the colours of the theme as it is now."""
    icon = QIcon()
    for side in SIDES:
        icon.addPixmap(_plate(side))
    return icon


def _plate(side: int) -> QPixmap:
    t = theme()
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(t.color("surface"))
    painter.drawRoundedRect(QRectF(0, 0, side, side), side * ROUND, side * ROUND)
    edge = round(side * INSET)
    painter.drawPixmap(edge, edge, t.mark(side - 2 * edge))
    painter.end()
    return pixmap


class WindowIcon(QObject):
    """Gives a window and whatever else the app opens its icon, and another one with another theme."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._mode = ""
        theme().changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        if theme().mode == self._mode:
            return
        self._mode = theme().mode
        icon = app_icon()
        QApplication.setWindowIcon(icon)
        self._window.setWindowIcon(icon)
