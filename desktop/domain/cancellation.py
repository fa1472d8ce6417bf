"""Cooperative cancellation: the token and the metadata that travel through every call.

Pure: no I/O, no global state. A token may be cancelled from any thread (R-CAN-12).
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from desktop.domain.errors import CancellationError
from desktop.domain.ids import short_id
from desktop.domain.supervision import Supervision

if TYPE_CHECKING:
    from desktop.domain.jobs import Unattended
    from desktop.domain.uncertain_calls import UncertainCalls

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
        """This token alone; its children are still to be cancelled."""
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
        """Leave the parent: the work this token stood for is over (R-CAN-5)."""
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


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What is known about a run wherever a call goes; passed explicitly, never global (R-CAN-7). ``unattended``: the
    permission of a run in which nobody can be asked (``jobs.Unattended``); None: a person is there (R-CRON-1).
    ``above``: the threads of the agents that this one works for, the person's own first; empty where nobody called.
    ``node``: the place in the run tree of the agent whose calls these are; "" for the one whose thread it is.
    ``call``: what names, in the run's log, the call that all this happens inside of (domain/call_keys.py); "" outside.
    ``uncertain``: calls that are not made unasked. ``environment``: the variables of the agent's thread (D-6)."""

    run_id: str
    cancellation: CancellationToken
    thread_id: str = ""
    supervision: Supervision | None = None
    deadline: float | None = None
    trace_id: str = field(default_factory=short_id)
    tenant_id: str | None = None
    unattended: Unattended | None = None
    above: tuple[str, ...] = ()
    node: str = ""
    call: str = ""
    uncertain: UncertainCalls | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def span(self, call: str = "") -> RunMeta:
        """A child span: same run, child token, new trace id (R-CAN-8); inside of ``call``, if that is said."""
        return replace(self, cancellation=self.cancellation.child(), trace_id=short_id(), call=call or self.call)

    def called(self, thread_id: str, cancellation: CancellationToken, supervision: Supervision) -> RunMeta:
        """Of an agent that is called from here and works in ``thread_id``: the same run and permission, and what binds
        the caller's thread binds it, too."""
        above = (*self.above, self.thread_id) if self.thread_id else self.above
        return replace(
            self,
            thread_id=thread_id,
            cancellation=cancellation,
            supervision=supervision,
            above=above,
            node="",
            call="",
            environment={},
        )
