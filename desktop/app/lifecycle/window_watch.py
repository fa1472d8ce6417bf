"""Sees the main window's first paint. Imported before it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

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


def since_process_start_ms(at_ns: int) -> float:
    """Milliseconds from the start of this process to ``at_ns`` (of ``time.monotonic_ns``), interpreter included.

    As the kernel counts, in steps of 10 ms. 0 where that is not known.
    """
    if not sys.platform.startswith("linux"):
        return 0.0
    ticks = int(Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()[19])
    now_ns, boot_ns = time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return (boot_ns - (now_ns - at_ns)) / 1e6 - ticks / os.sysconf("SC_CLK_TCK") * 1000


def pss_kb() -> int:
    """Proportional memory of this process in KiB; 0 where that is not known."""
    try:
        text = Path("/proc/self/smaps_rollup").read_text("ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
