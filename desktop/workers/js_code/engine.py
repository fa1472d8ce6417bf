"""The app's side of the sandbox: a worker for each session, one more kept ready, nothing on the pipe trusted.

A worker belongs to one session for as long as both live; whatever goes wrong (time, memory, a broken protocol, a
cancelled call) ends it with its group, and the session's next piece of code gets a fresh one and is told (R-COD-16).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.code import CodeFailure, CodeLimits, CodeOutcome, ServeCode
from desktop.domain.errors import ChildDied, ToolFailure
from desktop.workers.js_code.messages import Violation
from desktop.workers.js_code.piece import Pace, RunningCode
from desktop.workers.js_code.process import CodeProcess, WorkerSpec

__all__ = ["JsEngine", "JsSession", "WorkerSpec"]

MAX_LIVE = 32
"""Workers at work at one time, beside the one that is kept ready."""


class JsEngine:
    """Implements ``domain.code.CodeEngine``. ``spec`` is asked when a worker starts, in a thread."""

    def __init__(self, spec: Callable[[], WorkerSpec], limits: CodeLimits | None = None) -> None:
        self.limits = limits or CodeLimits()
        self.pace = Pace()
        self._spec = spec
        self._ready: asyncio.Task[CodeProcess] | None = None
        self._starting: set[asyncio.Task[CodeProcess]] = set()
        self._live: set[CodeProcess] = set()
        self._closed = False
        self._held: bool | None = None

    def session(self, memory: Mapping[str, Any] | None = None) -> JsSession:
        return JsSession(self, memory or {})

    async def held(self) -> bool:
        if self._held is None:
            self._held = bool((await asyncio.to_thread(self._spec)).launcher)
        return self._held

    async def prewarm(self) -> None:
        """Have a worker ready; raises nothing, for who needs one hears why there is none."""
        self._warm()
        ready = self._ready
        if ready is not None:
            await asyncio.wait([ready])

    async def close(self) -> None:
        self._closed = True
        self._ready = None
        starting = list(self._starting)
        for task in starting:
            task.cancel()
        if starting:
            await asyncio.wait(starting)
        for task in starting:
            if not task.cancelled() and task.exception() is None:
                await task.result().end()
        self._starting.clear()
        for worker in list(self._live):
            await self.drop(worker)

    async def take(self) -> CodeProcess:
        """A worker of one's own; another one is made ready for the next. Raises ChildDied, and ToolFailure when there
        are too many."""
        if len(self._live) >= MAX_LIVE:
            raise ToolFailure(f"{MAX_LIVE} pieces of code are at work already.", code="denied.limit")
        while True:
            self._warm()
            ready, self._ready = self._ready, None
            if ready is None:
                raise ChildDied("Assent is closing.")
            try:
                worker = await asyncio.shield(ready)
            except asyncio.CancelledError:
                await asyncio.shield(self._give_back(ready))
                raise
            self._starting.discard(ready)
            if not worker.ended:  # one that waited for long may have been ended by the system
                self._live.add(worker)
                self._warm()
                return worker

    async def drop(self, worker: CodeProcess) -> None:
        """End a worker, also when the caller is cancelled meanwhile."""
        self._live.discard(worker)
        await asyncio.shield(worker.end())

    async def _give_back(self, ready: asyncio.Task[CodeProcess]) -> None:
        """Keep a started worker for the next session; end it where one is kept already."""
        if self._ready is None and not self._closed:
            self._ready = ready
            return
        ready.cancel()
        await asyncio.wait([ready])
        self._starting.discard(ready)
        if not ready.cancelled() and ready.exception() is None:
            await ready.result().end()

    def _warm(self) -> None:
        gone = (
            self._ready is not None
            and self._ready.done()
            and (self._ready.cancelled() or self._ready.exception() is not None)
        )
        if (self._ready is None or gone) and not self._closed:
            self._ready = asyncio.get_running_loop().create_task(self._start(), name="code worker")
            self._starting.add(self._ready)

    async def _start(self) -> CodeProcess:
        spec = await asyncio.to_thread(self._spec)
        try:
            return await CodeProcess.start(spec, self.limits)
        except OSError as error:
            raise ChildDied(f"The code sandbox could not be started: {error.strerror}.") from error


class JsSession:
    """Implements ``domain.code.CodeSession``."""

    def __init__(self, engine: JsEngine, memory: Mapping[str, Any]) -> None:
        self._engine = engine
        self._memory = dict(memory)
        self._worker: CodeProcess | None = None
        self._lost = False
        self._turn = asyncio.Lock()
        self._closed = False

    async def held(self) -> bool:
        return await self._engine.held()

    async def run(self, code: str, serve: ServeCode, *, args: Any = None) -> CodeOutcome:
        maximum = self._engine.limits.message_bytes
        problem = f"the code is larger than {maximum} characters" if len(code) > maximum else _wrong(args, maximum)
        if problem:
            return CodeOutcome(failure=CodeFailure("RangeError", problem, code="code.message"))
        async with self._turn:
            worker = await self._at_hand()
            lost, self._lost = self._lost, False
            piece = RunningCode(worker, self._engine.limits, serve, self._engine.pace)
            try:
                outcome = await piece.run(code, args)
            except Violation as broken:
                await self._drop()
                outcome = piece.died(broken)
            except BaseException:
                await self._drop()
                raise
            if not piece.clean:
                await self._drop()
            return CodeOutcome(outcome.value, outcome.failure, outcome.stdout, outcome.finished, lost)

    async def close(self) -> None:
        self._closed = True
        await self._drop()

    async def _at_hand(self) -> CodeProcess:
        """The session's worker, started if needed. Raises ToolFailure when the session is closed or its memory cannot
        be given to a worker."""
        if self._worker is not None and self._worker.ended:
            await self._drop()
        if self._worker is None:
            seed = None if self._lost or not self._memory else _seed(self._memory, self._engine.limits.message_bytes)
            self._worker = await self._engine.take()
            if seed is not None:
                self._worker.write(seed)
        if self._closed:
            await self._drop()
            raise ToolFailure("The code's session is over.", code="code.died")
        return self._worker

    async def _drop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._lost = True
            await self._engine.drop(worker)


def _wrong(args: Any, maximum: int) -> str:
    """Why these arguments cannot be given to code, or ""."""
    try:
        size = len(json.dumps(args, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "the arguments are no JSON"
    return f"the arguments are larger than {maximum} bytes" if size > maximum else ""


def _seed(memory: Mapping[str, Any], maximum: int) -> bytes:
    try:
        text = json.dumps(memory, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolFailure("The memory to begin with is no JSON.", code="code.message") from error
    if len(text) > maximum:
        raise ToolFailure(f"The memory to begin with is larger than {maximum} bytes.", code="code.message")
    return b'{"t":"seed","memory":%b}' % text.encode()
