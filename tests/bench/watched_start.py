"""The app under watch from its first paint on: a wiring as the app's own, whose window tells how it went.

One line of JSON: when it painted (``painted_ns``), when its page stood (``page_ns``), and how long the Qt thread was
busy in one go, in milliseconds of its processor time, the longest first (``blocks``). It goes on for ``AFTER`` seconds.
"""

import json
import os
import time

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from desktop.app.lifecycle import wiring
from desktop.ui.shell.first_paint import FirstPaint
from desktop.ui.shell.main_window import MainWindow

AFTER = 2.0
furnish, build = wiring.furnish, wiring.build


def make_window(home: wiring.Home) -> QWidget:
    window = wiring.make_window(home)
    assert isinstance(window, MainWindow)
    Watch(window)
    return window


class Watch(QObject):
    """Looks at a window a thousand times a second, as far as it is let."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._painted_ns = self._page_ns = 0
        self._blocks: list[float] = []
        self._timer = QTimer(window)
        self._timer.timeout.connect(self._look)
        FirstPaint.of(window).painted.connect(self._begin)

    def _begin(self) -> None:
        self._painted_ns, self._at = time.monotonic_ns(), time.thread_time()
        self._timer.start(1)

    def _look(self) -> None:
        now = time.thread_time()
        self._blocks.append((now - self._at) * 1000)
        self._at = now
        stack = getattr(self._window, "stack", None)
        if self._page_ns:
            if time.monotonic_ns() > self._page_ns + AFTER * 1e9:
                self._tell()
        elif stack is not None and hasattr(stack.currentWidget(), "first_focus"):
            self._page_ns = time.monotonic_ns()

    def _tell(self) -> None:
        longest = [round(block, 1) for block in sorted(self._blocks, reverse=True)[:6]]
        told = {"painted_ns": self._painted_ns, "page_ns": self._page_ns, "blocks": longest}
        print(json.dumps(told), flush=True)
        os._exit(0)
