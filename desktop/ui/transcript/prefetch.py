"""Lays out the messages that the reader will see next, a few milliseconds at a time."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer

from desktop.ui.transcript.surface import Surface

MESSAGES = 3
BUDGET = 0.003
"""Seconds of one go, so that scrolling stays smooth."""


class Prefetch(QObject):
    """Runs 1 ms after each scroll, in the direction of scrolling."""

    def __init__(self, area: Surface) -> None:
        super().__init__(area)
        self._area = area
        self._direction = 1
        self._timer = QTimer(self, singleShot=True, interval=1)
        self._timer.timeout.connect(self._go)

    def start(self, direction: int) -> None:
        """Lay out ahead after a scroll: 1 down, -1 up."""
        self._direction = direction
        if not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """The page is hidden."""
        self._timer.stop()

    def _go(self) -> None:
        page = self._area.page
        numbers = [index for index, _ in self._area.visible()]
        if not numbers:
            return
        first, last = numbers[0], numbers[-1]
        wanted = range(last + 1, last + 1 + MESSAGES)
        if self._direction < 0:
            wanted = range(first - 1, first - 1 - MESSAGES, -1)
        started = time.perf_counter()
        for index in wanted:
            if 0 <= index < len(page) and page.messages[index].flows is None:
                self._area.absorb(index, page.ensure(index))
                if time.perf_counter() - started > BUDGET:
                    self._timer.start()
                    return
