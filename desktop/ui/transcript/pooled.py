"""Runs a callable in Qt's thread pool and gives its result back on the Qt thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal


class _Messenger(QObject):
    done = Signal(object)


class _Job(QRunnable):
    def __init__(self, work: Callable[[], Any], messenger: _Messenger) -> None:
        super().__init__()
        self._work, self._messenger = work, messenger

    def run(self) -> None:
        """In the worker. What the work raises becomes None: the caller shows the source instead."""
        try:
            result = self._work()
        except Exception:  # a boundary: nothing may leave a pool thread but a result
            result = None
        self._messenger.done.emit(result)


_waiting: set[_Messenger] = set()
"""Keeps the messengers of running jobs alive."""


def pooled(work: Callable[[], Any], done: Callable[[Any], None]) -> None:
    """See ``RunInThread``."""
    messenger = _Messenger()
    _waiting.add(messenger)

    def arrived(result: Any) -> None:
        _waiting.discard(messenger)
        done(result)

    messenger.done.connect(arrived)
    QThreadPool.globalInstance().start(_Job(work, messenger))
