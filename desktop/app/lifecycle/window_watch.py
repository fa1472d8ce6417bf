"""Sees the main window's first paint. Imported before it."""

from __future__ import annotations

import time

from PySide6.QtCore import QEventLoop, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.shell.first_paint import FirstPaint

TIMEOUT_MS = 3000
"""A window that is not shown on any screen (started minimised) never paints; the start goes on after this."""


class WindowWatch(QObject):
    """Make it before the window is shown."""

    painted = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.painted_at_ns = 0
        FirstPaint.of(window).painted.connect(self._painted)

    def _painted(self) -> None:
        self.painted_at_ns = time.monotonic_ns()
        self.painted.emit()

    def wait_for_paint(self) -> None:
        """Run Qt, and nothing of asyncio, until the first paint is over."""
        loop = QEventLoop()
        self.painted.connect(loop.quit)
        QTimer.singleShot(TIMEOUT_MS, loop, loop.quit)
        loop.exec()
