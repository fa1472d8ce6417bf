"""Brings a window to the front and waits until it really is there: keys go nowhere before."""

import asyncio
import time
from collections.abc import Iterator

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from tests.harness.timeouts import WAIT_S

STEADY = 3
"""So many looks in a row: the offscreen platform takes a first activation back."""
LOOK_MS = 10


def activate(window: QWidget) -> None:
    """Shows a window and waits until it is active. For tests without a running loop."""
    for _ in _looks(window):
        loop = QEventLoop()
        QTimer.singleShot(LOOK_MS, loop.quit)
        loop.exec()


async def activated(window: QWidget) -> None:
    """As ``activate``, for tests on the app's loop."""
    for _ in _looks(window):
        await asyncio.sleep(LOOK_MS / 1000)


def _looks(window: QWidget) -> Iterator[None]:
    window.show()
    end, steady = time.monotonic() + WAIT_S, 0
    while steady < STEADY:
        assert time.monotonic() < end, f"{window} did not become active within {WAIT_S:.0f} s"
        if not window.isActiveWindow():
            steady = 0
            window.activateWindow()
        yield
        steady = steady + 1 if window.isActiveWindow() else 0
