"""Work in Qt's thread pool whose results come back to an object of the window, which may be destroyed meanwhile.

A signal that a thread emits while the window destroys its sender takes the process along, whatever the thread checked
before. So the sender is no part of the window: it ends once its owner is gone and no job is under way any more.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, Qt, QThreadPool, Signal, Slot

_NOTHING = -1
"""The number of a job that failed."""


class PoolJobs(QObject):
    """``deliver`` is called on the Qt thread with a job's number, from 0 on, and its result, while ``owner`` lives."""

    _ended = Signal(int, object)

    def __init__(self, owner: QObject, deliver: Callable[[int, object], None]) -> None:
        super().__init__(QCoreApplication.instance())
        self._deliver: Callable[[int, object], None] | None = deliver
        self._under_way = 0
        self._ended.connect(self._arrived, Qt.ConnectionType.QueuedConnection)
        owner.destroyed.connect(self._leave)

    def start(self, number: int, work: Callable[[], object]) -> None:
        """Run ``work`` in a thread; it must be pure. One that raises delivers nothing."""
        self._under_way += 1
        QThreadPool.globalInstance().start(_Job(self, number, work))

    def hand_over(self, number: int, result: object) -> None:
        """Called in a job's thread, once for each."""
        self._ended.emit(number, result)

    def _arrived(self, number: int, result: object) -> None:
        self._under_way -= 1
        if self._deliver is None:
            self._end()
        elif number != _NOTHING:
            self._deliver(number, result)

    @Slot()
    def _leave(self) -> None:
        self._deliver = None
        self._end()

    def _end(self) -> None:
        if not self._under_way:
            self.deleteLater()


class _Job(QRunnable):
    def __init__(self, jobs: PoolJobs, number: int, work: Callable[[], object]) -> None:
        super().__init__()
        self._jobs, self._number, self._work = jobs, number, work

    def run(self) -> None:
        try:
            result = self._work()
        except BaseException:
            self._jobs.hand_over(_NOTHING, None)
            raise
        self._jobs.hand_over(self._number, result)
