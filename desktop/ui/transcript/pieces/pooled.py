"""Runs callables in Qt's thread pool and gives their results back on the Qt thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from desktop.ui.widgets.pool_jobs import PoolJobs

Work = Callable[[], Any]
Done = Callable[[Any], None]


class Pool(QObject):
    """``run`` is a ``RunInThread``."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[int, Done] = {}
        self._count = 0
        self._jobs = PoolJobs(self, self._arrived)

    def run(self, work: Work, done: Done) -> None:
        """Runs ``work`` in the pool, later ``done`` with its result here. An exception becomes None: the caller then
        shows the source."""
        self._count += 1
        self._waiting[self._count] = done
        self._jobs.start(self._count, lambda: _or_none(work))

    def _arrived(self, number: int, result: object) -> None:
        done = self._waiting.pop(number, None)
        if done is not None:
            done(result)


def _or_none(work: Work) -> Any:
    try:
        return work()
    except Exception:  # a boundary: nothing may leave a pool thread but a result
        return None
