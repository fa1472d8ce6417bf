"""Work that could hold the window up for more than a frame, done in Qt's thread pool; its result comes as a signal."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from desktop.ui.widgets.pool_jobs import PoolJobs


class Background(QObject):
    """``start`` replaces what was under way: only the newest result is delivered. A parent's end ends delivery."""

    def __init__(self, parent: QObject, deliver: Callable[[object], None]) -> None:
        super().__init__(parent)
        self._number = 0
        self._deliver = deliver
        self._jobs = PoolJobs(self, self._arrived)

    def start(self, work: Callable[[], object]) -> None:
        """Run ``work`` in a thread; it must be pure."""
        self._number += 1
        self._jobs.start(self._number, work)

    def cancel(self) -> None:
        """Forget what is under way."""
        self._number += 1

    def _arrived(self, number: int, result: object) -> None:
        if number == self._number:
            self._deliver(result)
