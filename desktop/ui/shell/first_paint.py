"""Sees when a window is on the screen for the first time, without any event passing through Python.

The first event that PySide hands to Python makes it build ``QEvent`` with its 180 kinds and the classes around it,
which takes 2 ms; asking the window costs less than one.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

EAGER = 2000
"""Looks without a pause in between; a window that is still not on a screen then was started minimised."""

PAUSE_MS = 25


class FirstPaint(QObject):
    """Tells when a window has painted first: ``painted`` comes once. Make it before the window is shown; it lives as
    long as the window."""

    painted = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._looks = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(0)

    @classmethod
    def of(cls, window: QWidget) -> FirstPaint:
        """The one that the window has, else a new one."""
        return window.findChild(cls) or cls(window)

    def _look(self) -> None:
        """Qt paints a window inside the event that exposes it, so that one which is exposed has been painted."""
        handle = self._window.windowHandle()
        if handle is not None and handle.isExposed():
            self._timer.stop()
            self.painted.emit()
            return
        self._looks += 1
        if self._looks == EAGER:
            self._timer.setInterval(PAUSE_MS)
