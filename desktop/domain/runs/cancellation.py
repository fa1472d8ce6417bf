"""Cooperative cancellation: the token that travels through every call.

Pure: no I/O, no global state. A token may be cancelled from any thread (R-CAN-12).
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable

from desktop.domain.errors import CancellationError

STOPPED = "stopped by the person"
"""The reason of a token that a person cancelled, wherever they did."""


class CancellationToken:
    """Requests the end of a piece of work; children follow their parent, never the other way (R-CAN-4).

    ``deadline`` is on the monotonic clock (seconds, ``time.monotonic``) (R-CAN-9). Children are held weakly and
    detach when they finish, so a long-lived parent accumulates nothing (R-CAN-5).
    """

    def __init__(self, *, deadline: float | None = None, parent: CancellationToken | None = None) -> None:
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._children: weakref.WeakSet[CancellationToken] = weakref.WeakSet()
        self._callbacks: dict[int, Callable[[str], None]] = {}
        self._next_key = 0
        self._parent = parent
        limits = [d for d in (deadline, parent.deadline if parent else None) if d is not None]
        self.deadline: float | None = min(limits) if limits else None
        if parent is not None:
            parent._adopt(self)

    def _adopt(self, child: CancellationToken) -> None:
        with self._lock:
            reason = self._reason
            if reason is None:
                self._children.add(child)
        if reason is not None:
            child.cancel(reason)

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel this token and its children; the first reason wins (R-CAN-1). Callbacks that raise do not stop
        the others (R-CAN-6)."""
        waiting = [self]
        while waiting:
            waiting.extend(reversed(waiting.pop()._cancel(reason)))

    def _cancel(self, reason: str) -> list[CancellationToken]:
        """Cancel this token alone and return its children, which are still to be cancelled."""
        with self._lock:
            if self._reason is not None:
                return []
            self._reason = reason
            callbacks = list(self._callbacks.values())
            children = list(self._children)
            self._callbacks.clear()
        for callback in callbacks:
            try:
                callback(reason)
            except Exception:  # noqa: BLE001 - a listener: R-CAN-6
                continue
        return children

    @property
    def reason(self) -> str | None:
        """Why it was cancelled, or None."""
        return self._reason

    @property
    def cancelled(self) -> bool:
        """True once cancelled or past the deadline."""
        return self._reason is not None or self._expired()

    def _expired(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def check(self) -> None:
        """Raise CancellationError when cancelled or past the deadline (R-CAN-2)."""
        if self._reason is not None:
            raise CancellationError(self._reason)
        if self._expired():
            raise CancellationError("deadline")

    def on_cancel(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call ``callback(reason)`` once on cancellation, on the cancelling thread; returns how to detach it."""
        with self._lock:
            reason = self._reason
            if reason is None:
                key = self._next_key
                self._next_key += 1
                self._callbacks[key] = callback
        if reason is not None:
            callback(reason)
            return lambda: None

        def detach() -> None:
            with self._lock:
                self._callbacks.pop(key, None)

        return detach

    def child(self, *, deadline: float | None = None) -> CancellationToken:
        """A token that follows this one; its deadline can only be earlier (R-SUP-9)."""
        return CancellationToken(deadline=deadline, parent=self)

    def detach(self) -> None:
        """Detach from the parent token: the work that this token stood for is over (R-CAN-5)."""
        if self._parent is not None:
            with self._parent._lock:
                self._parent._children.discard(self)

    async def wait(self) -> str:
        """Suspend until cancelled or the deadline passes; returns the reason (R-CAN-3)."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[str] = loop.create_future()

        def set_once(reason: str) -> None:
            if not done.done():
                done.set_result(reason)

        def wake(reason: str) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(set_once, reason)

        detach = self.on_cancel(wake)
        timer = None
        if self.deadline is not None:
            timer = loop.call_later(max(0.0, self.deadline - time.monotonic()), set_once, "deadline")
        try:
            return await done
        finally:
            detach()
            if timer is not None:
                timer.cancel()
