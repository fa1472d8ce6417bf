"""Deadlines of the loop: one heap of asyncio's timers behind one precise timer of Qt."""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import Qt, QTimer

LONGEST_TIMER_MS = 86_400_000
"""A Qt timer counts 32-bit milliseconds: a later deadline is looked at again once a day."""


class Deadlines(qasync.QEventLoop):  # type: ignore[misc]
    """The half of the loop that waits. The other half runs what is in ``_ready`` once ``_arm`` was called."""

    _scheduled: list[Any]
    _timer_cancelled_count: int
    _thread_id: int | None

    def _make_deadline_timer(self) -> None:
        self._due_at = math.inf
        self._deadline = QTimer()
        self._deadline.setObjectName("loop.deadline")
        self._deadline.setSingleShot(True)
        self._deadline.setTimerType(Qt.TimerType.PreciseTimer)
        self._deadline.timeout.connect(self._deadline_passed)

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run ``callback`` in ``delay`` seconds, never earlier; any length."""
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(time.monotonic() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run ``callback`` when ``time()`` reaches ``when``."""
        if when is None:
            raise TypeError("when cannot be None")
        self._check(callback, "call_at")
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        if self._debug and timer._source_traceback:  # type: ignore[attr-defined]
            del timer._source_traceback[-1]  # type: ignore[attr-defined]
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True  # type: ignore[attr-defined]
        if when < self._due_at:
            self._set_deadline()
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are swept out once they are half of the heap, so none outlive the last live one."""
        if not handle._scheduled:  # type: ignore[attr-defined]
            return
        self._timer_cancelled_count += 1
        if self._timer_cancelled_count * 2 <= len(self._scheduled):
            return
        kept = []
        for timer in self._scheduled:
            if timer._cancelled or timer is handle:  # asyncio marks the handle only after this call
                timer._scheduled = False
            else:
                kept.append(timer)
        heapq.heapify(kept)
        self._scheduled = kept
        self._timer_cancelled_count = 0
        if not kept:
            self._set_deadline()

    def _deadline_passed(self) -> None:
        self._collect_due()
        if self._ready and not self._armed:
            self._arm()

    def _collect_due(self) -> None:
        """Move what is due into the deque, earliest first."""
        heap = self._scheduled
        now = time.monotonic() + self._clock_resolution
        while heap and heap[0]._when <= now:
            timer = heapq.heappop(heap)
            timer._scheduled = False
            if timer._cancelled:
                self._timer_cancelled_count -= 1
            else:
                self._ready.append(timer)
        self._set_deadline()

    def _set_deadline(self) -> None:
        heap = self._scheduled
        while heap and heap[0]._cancelled:
            heapq.heappop(heap)._scheduled = False
            self._timer_cancelled_count -= 1
        self._due_at = heap[0]._when if heap else math.inf
        if not heap:
            self._deadline.stop()
        elif self._thread_id is not None:
            wait_ms = (self._due_at - time.monotonic()) * 1000
            self._deadline.start(math.ceil(max(0.0, wait_ms)) if wait_ms < LONGEST_TIMER_MS else LONGEST_TIMER_MS)
