"""Calls under way to a child, seen from the parent: one-answer calls and streams are the same thing."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from desktop.workers.frames import WINDOW, BadFrame

SLICE_SECONDS = 0.004  # how long a consumer of buffered items may keep the loop


class CallStream:
    """The stream of one call. ``begin`` sends the call, and sets how to acknowledge a batch and how to cancel; it
    runs at the first ``__anext__``. Implements ``desktop.domain.processes.ChildStream``."""

    def __init__(
        self,
        begin: Callable[[CallStream], Awaitable[None]],
        *,
        deadline_s: float | None = None,
        idle_s: float | None = None,
    ) -> None:
        self._begin: Callable[[CallStream], Awaitable[None]] | None = begin
        self._batches: deque[deque[Any]] = deque()
        self._waiter: asyncio.Future[bool] | None = None
        self._over = False
        self._error: BaseException | None = None
        self._value: Any = None
        self._idle_s = idle_s
        self._end = None if deadline_s is None else time.monotonic() + deadline_s
        self._slice = time.monotonic()
        self.acknowledge: Callable[[], None] = lambda: None
        self.tell_cancelled: Callable[[], None] = lambda: None

    @property
    def value(self) -> Any:
        return self._value

    def __aiter__(self) -> CallStream:
        return self

    async def __anext__(self) -> Any:
        if self._begin is not None:
            await self._start()
        while not self._batches:
            if self._over:
                self._raise_end()
            await self._wait()
        if time.monotonic() - self._slice > SLICE_SECONDS:
            await asyncio.sleep(0)
            self._slice = time.monotonic()
            if not self._batches:  # cancelled meanwhile
                return await self.__anext__()
        return self._take()

    async def _start(self) -> None:
        begin, self._begin = self._begin, None
        if begin is None or self._over:
            return
        try:
            async with asyncio.timeout(self._left()):
                await begin(self)
        except BaseException as error:
            self._over = True
            self.tell_cancelled()
            if isinstance(error, TimeoutError):
                raise TimeoutError("deadline") from None
            raise
        self._slice = time.monotonic()

    def _raise_end(self) -> None:
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    def _left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    async def _wait(self) -> None:
        """Until there is something, or a limit is reached: then the child is told and TimeoutError raised."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiter = waiter
        limits = [limit for limit in (self._left(), self._idle_s) if limit is not None]
        timer = loop.call_later(min(limits), self._wake, False) if limits else None
        try:
            came = await waiter
        except asyncio.CancelledError:
            self.cancel()
            raise
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()
        self._slice = time.monotonic()
        if not came and not self._batches and not self._over:
            self.cancel()
            raise TimeoutError("deadline" if self._left() == 0.0 else "idle")

    def _wake(self, came: bool = True) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(came)

    def _take(self) -> Any:
        batch = self._batches[0]
        item = batch.popleft()
        if not batch:
            self._batches.popleft()
            if not self._over:
                self.acknowledge()
        return item

    def push(self, items: list[Any]) -> None:
        """A batch from the child. Raises BadFrame when the child ignores the window."""
        if self._over:
            return
        if len(self._batches) >= WINDOW:
            raise BadFrame(f"more than {WINDOW} batches ahead of their reader")
        if not items:
            raise BadFrame("an empty batch")
        self._batches.append(deque(items))
        self._wake()

    def finish(self, value: Any = None, error: BaseException | None = None) -> None:
        """The call is over; what is buffered is still read first."""
        if not self._over:
            self._over, self._value, self._error = True, value, error
            self._wake()

    def cancel(self) -> None:
        if self._over and not self._batches:
            return
        over, self._over = self._over, True
        self._begin = None
        self._batches.clear()
        self._error = None
        if not over:
            self.tell_cancelled()
        self._wake()

    async def result(self) -> Any:
        """Reads to the end and returns the value."""
        async for _ in self:
            pass
        return self._value
