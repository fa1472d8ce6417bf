"""Sockets and pipes on the Qt loop: one notifier a descriptor and direction, asleep while its callback waits to run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QSocketNotifier

READ = QSocketNotifier.Type.Read
WRITE = QSocketNotifier.Type.Write


class Queue(Protocol):
    """The part of the event loop that a watch of a descriptor uses."""

    def enqueue(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the loop, after what is already waiting there."""
        ...


class Watch:
    """One descriptor in one direction.

    A notifier is level-triggered: it is switched off when it fires and on again after the callback has run, so that
    a descriptor that nobody reads cannot spin the Qt loop.
    """

    def __init__(
        self, queue: Queue, source: Any, number: int, kind: QSocketNotifier.Type, handle: asyncio.Handle
    ) -> None:
        self._queue = queue
        self.source = source
        self._handle: asyncio.Handle | None = handle
        self._notifier = QSocketNotifier(number, kind)
        self._notifier.activated.connect(self._fired)

    def replace(self, handle: asyncio.Handle) -> None:
        """Replace the callback of the descriptor; the old one never runs again."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = handle
        self._notifier.setEnabled(True)

    def drop(self) -> None:
        """Stop watching, for good."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
            self._notifier.setEnabled(False)
            self._notifier.activated.disconnect(self._fired)

    def _fired(self, *_: object) -> None:
        self._notifier.setEnabled(False)
        self._queue.enqueue(self._run)

    def _run(self) -> None:
        handle = self._handle
        if handle is None:
            return
        try:
            if not handle.cancelled():
                handle._run()
        finally:
            if self._handle is not None:
                self._notifier.setEnabled(True)


class WatchTable:
    """The watches of one direction, by descriptor number."""

    def __init__(self, queue: Queue, kind: QSocketNotifier.Type) -> None:
        self._queue = queue
        self._kind = kind
        self._watches: dict[int, Watch] = {}

    def __len__(self) -> int:
        return len(self._watches)

    def add(self, source: Any, handle: asyncio.Handle) -> None:
        """Call ``handle`` whenever ``source`` (a descriptor, or something with ``fileno()``) is ready."""
        number = number_of(source)
        watch = self._watches.get(number)
        if watch is None:
            self._watches[number] = Watch(self._queue, source, number, self._kind, handle)
        else:
            watch.source = source
            watch.replace(handle)

    def remove(self, source: Any) -> bool:
        """Stop watching a source; False when it was not watched. Finds a file object also after it was closed."""
        try:
            number = number_of(source)
        except ValueError:
            number = next((n for n, watch in self._watches.items() if watch.source is source), -1)
        watch = self._watches.pop(number, None)
        if watch is None:
            return False
        watch.drop()
        return True

    def clear(self) -> None:
        """Stop watching everything."""
        for watch in self._watches.values():
            watch.drop()
        self._watches.clear()


def number_of(source: Any) -> int:
    """The descriptor's number. Raises ValueError when there is none (any more)."""
    try:
        number = source if isinstance(source, int) else int(source.fileno())
    except (AttributeError, TypeError, ValueError):
        number = -1
    if number < 0:
        raise ValueError(f"Invalid file object: {source!r}")
    return number
