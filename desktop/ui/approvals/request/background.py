"""Work that could hold the window up for more than a frame, done in Qt's thread pool; its result comes as a signal."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal


class Background(QObject):
    """``start`` replaces what was under way: only the newest result is delivered. A parent's end ends delivery."""

    _ready = Signal(int, object)

    def __init__(self, parent: QObject, deliver: Callable[[object], None]) -> None:
        super().__init__(parent)
        self._number = 0
        self._deliver = deliver
        self._ready.connect(self._arrived, Qt.ConnectionType.QueuedConnection)

    def start(self, work: Callable[[], object]) -> None:
        """Run ``work`` in a thread; it must be pure."""
        self._number += 1
        QThreadPool.globalInstance().start(_BackgroundJob(self, self._number, work))

    def cancel(self) -> None:
        """Forget what is under way."""
        self._number += 1

    def hand_over(self, number: int, result: object) -> None:
        """Called in the worker thread."""
        try:
            self._ready.emit(number, result)
        except RuntimeError:  # the page was closed meanwhile, and its C++ side is gone
            return

    def _arrived(self, number: int, result: object) -> None:
        if number == self._number:
            self._deliver(result)


class _BackgroundJob(QRunnable):
    def __init__(self, owner: Background, number: int, work: Callable[[], object]) -> None:
        super().__init__()
        self._owner, self._number, self._work = owner, number, work

    def run(self) -> None:
        self._owner.hand_over(self._number, self._work())
