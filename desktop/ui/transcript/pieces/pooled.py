"""Runs callables in Qt's thread pool and gives their results back on the Qt thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal

Work = Callable[[], Any]
Done = Callable[[Any], None]


class _Job(QRunnable):
    def __init__(self, number: int, work: Work, pool: Pool) -> None:
        super().__init__()
        self._number, self._work, self._pool = number, work, pool

    def run(self) -> None:
        """Do the work in a pool thread. An exception becomes None: the caller then shows the source."""
        try:
            result = self._work()
        except Exception:  # a boundary: nothing may leave a pool thread but a result
            result = None
        try:
            self._pool.finished.emit(self._number, result)
        except RuntimeError:  # the view is gone, and with it the pool object: nobody waits for this any more
            return


class Pool(QObject):
    """``run`` is a ``RunInThread``."""

    finished = Signal(int, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[int, Done] = {}
        self._count = 0
        self.finished.connect(self._arrived, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Work, done: Done) -> None:
        """Runs ``work`` in the pool, later ``done`` with its result here."""
        self._count += 1
        self._waiting[self._count] = done
        QThreadPool.globalInstance().start(_Job(self._count, work, self))

    def _arrived(self, number: int, result: object) -> None:
        done = self._waiting.pop(number, None)
        if done is not None:
            done(result)
