"""Sockets, pipes and children on Windows: completion ports, which a thread of qasync's waits for and Qt is told of.

Not run on Windows by us. What differs from other systems: a thread that wants something done wakes Qt by a signal, for
nobody reads asyncio's own pipe to itself.
"""

from __future__ import annotations

import sys

import qasync
from PySide6.QtCore import QObject, Qt, Signal

if sys.platform != "win32":
    raise ImportError("for Windows alone")


class Waker(QObject):
    """Wakes the loop from another thread."""

    woken = Signal()


class WindowsDescriptors(qasync.QEventLoop):  # type: ignore[misc]
    """What asyncio's proactor does, told to Qt."""

    def _make_watch_tables(self) -> None:
        self._waker = Waker()
        self._waker.woken.connect(self._drain, Qt.ConnectionType.QueuedConnection)

    def _clear_watch_tables(self) -> None:
        self._waker.woken.disconnect()

    def _write_to_self(self) -> None:
        self._waker.woken.emit()

    def _drain(self) -> None:
        raise NotImplementedError  # the loop's own
