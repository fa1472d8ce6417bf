"""The one queue of model requests that all runs share (R-SUP-14)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.supervision import Priority

MAX_REQUESTS = 16
STEP_S = 15.0
_CLASSES = tuple(sorted(Priority))

_Waiting = tuple[float, asyncio.Future[None]]


class ModelQueue:
    """At most ``limit`` requests under way; the others wait, the heaviest weight first, in order within one.

    Nobody starves: who has waited for ``step_s`` seconds counts as one class higher, after twice that as two higher,
    and so on, so after four times ``step_s`` the lightest stands beside CRITICAL, where the oldest goes first. A free
    place costs no more than a counter; a decision looks at the five heads. ``clock`` is monotonic seconds.
    """

    def __init__(
        self, limit: int = MAX_REQUESTS, *, step_s: float = STEP_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._free = limit
        self._step_s = step_s
        self._clock = clock
        self._lines: tuple[deque[_Waiting], ...] = tuple(deque() for _ in _CLASSES)

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return sum(1 for line in self._lines for _, future in line if not future.done())

    @property
    def full(self) -> bool:
        """Whether a request would have to wait."""
        return self._free <= 0

    @asynccontextmanager
    async def place(self, priority: Priority, token: CancellationToken) -> AsyncIterator[None]:
        """Hold one place in the queue inside the block. Raises CancellationError when the token is cancelled while
        waiting."""
        await self.acquire(priority, token)
        try:
            yield
        finally:
            self.release()

    async def acquire(self, priority: Priority, token: CancellationToken) -> None:
        """Take a place, to be given back with ``release``."""
        if self._free > 0:
            self._free -= 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line = self._lines[_CLASSES.index(priority)]
        entry = (self._clock(), future)
        line.append(entry)
        try:
            async with Interrupt(token):
                await future
        except BaseException:
            if not future.cancelled() and future.done():
                self.release()  # the place came in the same moment as the cancellation
            elif entry in line:
                line.remove(entry)
            raise

    def release(self) -> None:
        """Give a place back: to the next who waits."""
        while (line := self._next()) is not None:
            _, future = line.popleft()
            if not future.done():
                future.set_result(None)
                return
        self._free += 1

    def _next(self) -> deque[_Waiting] | None:
        """The line whose head comes next."""
        best: deque[_Waiting] | None = None
        best_key = (-1, 0.0, -1)
        now = self._clock()
        for rank, line in enumerate(self._lines):
            if not line:
                continue
            since = line[0][0]
            raised = min(len(_CLASSES) - 1, rank + int((now - since) / self._step_s))
            key = (raised, -since, rank)
            if best is None or key > best_key:
                best, best_key = line, key
        return best
