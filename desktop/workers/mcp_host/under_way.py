"""Requests under way to one server: their time limits, which stand still while a person is asked, and the questions
that belong to them and go away with them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any


class RequestUnderWay:
    """One request. ``key`` is the app's name of a call of a tool, "" of anything else."""

    def __init__(self, key: str, tool: str, clock: asyncio.Timeout) -> None:
        self.key, self.tool = key, tool
        self._clock = clock
        self._paused = 0
        self._left = 0.0

    @property
    def left(self) -> float:
        """Seconds of its time."""
        when = self._clock.when()
        return self._left if when is None else when - asyncio.get_running_loop().time()

    def pause(self) -> None:
        """Stop its time; nests."""
        self._paused += 1
        when = self._clock.when()
        if self._paused == 1 and when is not None and not self._clock.expired():
            self._left = when - asyncio.get_running_loop().time()
            self._clock.reschedule(None)

    def resume(self) -> None:
        """Let its time run on."""
        self._paused -= 1
        if self._paused == 0 and not self._clock.expired():
            self._clock.reschedule(asyncio.get_running_loop().time() + max(0.0, self._left))


class RequestsUnderWay:
    """All of them; ``question`` runs one wish of the server."""

    def __init__(self) -> None:
        self._open: list[RequestUnderWay] = []
        self._questions: dict[asyncio.Future[Any], set[RequestUnderWay]] = {}

    @contextlib.asynccontextmanager
    async def one(self, seconds: float, key: str, tool: str) -> AsyncIterator[RequestUnderWay]:
        """A request that may take so long. Raises TimeoutError."""
        async with asyncio.timeout(seconds) as clock:
            request = RequestUnderWay(key, tool, clock)
            self._open.append(request)
            try:
                yield request
            finally:
                self._over(request)

    @property
    def calls(self) -> tuple[RequestUnderWay, ...]:
        """The calls of tools among them: a server of the older era does not say for which of them it asks."""
        return tuple(one for one in self._open if one.tool)

    def _over(self, request: RequestUnderWay) -> None:
        """A request has its answer, or none: what was asked for its sake alone is withdrawn."""
        self._open.remove(request)
        for asked, of in list(self._questions.items()):
            of.discard(request)
            if not of:
                asked.cancel()

    async def question(self, asking: Coroutine[Any, Any, dict[str, Any]], of: Iterable[RequestUnderWay]) -> Any:
        """What a person answers, while the time of these requests stands still; None where they ended before that."""
        requests = set(of)
        task = asyncio.ensure_future(asking)
        self._questions[task] = set(requests)
        for request in requests:
            request.pause()
        try:
            await asyncio.wait([task])
            return None if task.cancelled() else task.result()
        finally:
            task.cancel()
            del self._questions[task]
            for request in requests:
                request.resume()
