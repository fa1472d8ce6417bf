"""The event bus: one topic a run, subscribers that can never hold up a run (R-TRC-7, R-TRC-8, R-LOOP-16)."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from desktop.domain.runs.events import (
    Event,
    ReasoningArrived,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallAdvanced,
    ToolCallOutput,
    ToolCallWriting,
)

_log = logging.getLogger(__name__)

DELTAS = (TextArrived, ReasoningArrived, ToolCallWriting, ToolCallOutput, ToolCallAdvanced)
"""Only these are dropped for a slow subscriber."""


class EventQueue:
    """A bounded queue of events, read with ``async for``. When full, the oldest delta gives way, and ``dropped``
    counts it; other events are always kept."""

    def __init__(self, bus: Bus, run_id: str | None, capacity: int) -> None:
        self._bus = bus
        self._runs = None if run_id is None else {run_id}
        self._own = run_id
        self._capacity = capacity
        self._events: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._closed = False
        self.dropped = 0

    def _offer(self, event: Event) -> None:
        if not self._concerns(event):
            return
        if len(self._events) >= self._capacity:
            self._make_room(event)
            if isinstance(event, DELTAS) and len(self._events) >= self._capacity:
                self.dropped += 1
                return
        self._events.append(event)
        self._wake.set()

    def _concerns(self, event: Event) -> bool:
        """Runs of called agents belong to the tree in which they were called."""
        if self._runs is None:
            return True
        if isinstance(event, RunStarted) and event.above in self._runs:
            self._runs.add(event.run_id)
        found = event.run_id in self._runs
        if isinstance(event, RunEnded) and event.run_id != self._own:
            self._runs.discard(event.run_id)
        return found

    def _make_room(self, event: Event) -> None:
        for position, old in enumerate(self._events):
            if isinstance(old, DELTAS):
                del self._events[position]
                self.dropped += 1
                return

    def close(self) -> None:
        """End the iteration after what is queued, and leave the bus."""
        self._closed = True
        self._wake.set()
        self._bus.forget(self._offer)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._closed:
                return
            self._wake.clear()
            await self._wake.wait()


class Bus:
    """Publishes on the loop's thread. ``publish`` is an EventSink: it never raises and never waits."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []

    def publish(self, event: Event) -> None:
        """Hand ``event`` to everyone; a listener that raises is logged and keeps its place."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # a listener: it never affects the run (R-TRC-7)
                _log.exception("a listener failed on %s", type(event).__name__)

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``listener`` with every event, at once; it must be quick. Returns how to stop."""
        self._listeners.append(listener)
        return lambda: self.forget(listener)

    def subscribe(self, run_id: str | None = None, *, capacity: int = 2000) -> EventQueue:
        """Events of one run's whole tree, or of all runs."""
        subscription = EventQueue(self, run_id, capacity)
        self._listeners.append(subscription._offer)
        return subscription

    def forget(self, listener: Callable[[Event], None]) -> None:
        """Stop calling ``listener``."""
        with suppress(ValueError):
            self._listeners.remove(listener)
