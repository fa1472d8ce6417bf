"""Owned tasks and the queue of runs: the only place of the runtime that starts a task on the loop."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from desktop.domain.runs.supervision import Priority

_log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_RUNS = 4


class TaskOwner:
    """Keeps a reference to every task it starts and sees each of them out.

    A task's failure is its awaiter's to handle; one that nobody awaited is logged. After ``close`` nothing runs.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def spawn(self, body: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start ``body`` as a task of this owner. RuntimeError once closed."""
        if self._closed:
            body.close()
            raise RuntimeError("this owner of tasks is closed")
        task = asyncio.get_running_loop().create_task(body, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.debug("task %s ended with %r", task.get_name(), task.exception())

    @property
    def closed(self) -> bool:
        """Whether nothing begins any more."""
        return self._closed

    @property
    def alive(self) -> int:
        """How many of its tasks still run."""
        return len(self._tasks)

    async def close(self, timeout_s: float = 3.0) -> list[str]:
        """Cancel everything and wait; returns the names of tasks that would not end in time (R-UI-8)."""
        self._closed = True
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)
        return [task.get_name() for task in tasks if not task.done()]


class RunSlots:
    """At most ``limit`` runs at once; others queue, higher priority first, in order within one (14, R-SUP-14). Runs of
    less than normal priority, which nobody waits for, leave one place free for a person."""

    def __init__(self, limit: int = MAX_RUNS) -> None:
        self._free = limit
        self._spare = 1 if limit > 1 else 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0

    @property
    def waiting(self) -> int:
        """How many runs wait for a slot."""
        return sum(1 for _, _, future in self._waiting if not future.done())

    def full(self, priority: Priority = Priority.NORMAL) -> bool:
        """Whether a run of this priority would have to wait."""
        return self._free <= (self._spare if priority < Priority.NORMAL else 0)

    @asynccontextmanager
    async def slot(self, priority: Priority = Priority.NORMAL) -> AsyncIterator[None]:
        """Hold one slot inside the block; cancelling while queued leaves the queue as it was."""
        await self._acquire(priority)
        try:
            yield
        finally:
            self._release()

    async def _acquire(self, priority: Priority) -> None:
        if not self.full(priority):
            self._free -= 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._waiting, (-int(priority), self._count, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        self._free += 1
        while self._waiting:
            weight, _, future = self._waiting[0]
            if not future.done():
                if self.full(Priority(-weight)):
                    return
                self._free -= 1
                future.set_result(None)
            heapq.heappop(self._waiting)
