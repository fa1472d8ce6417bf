"""The app's side of the sandbox: a worker for each session, one more kept ready, nothing on the pipe trusted.

A worker belongs to one session for as long as both live; whatever goes wrong (time, memory, a broken protocol, a
cancelled call) ends it with its group, and the session's next piece of code gets a fresh one and is told (R-COD-16).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop.domain.code import CodeCall, CodeFailure, CodeLimits, CodeOutcome, ServeCode
from desktop.domain.errors import ChildDied, KnownError, ToolFailure

SCRIPT = Path(__file__).parent / "__main__.py"
START_S = 20.0
SLICE_S = 0.004
PROCESS_BYTES = 192 << 20
"""What the worker may hold beside the engine's heap."""
MAX_ASKED = 1000
"""Requests beyond the allowed calls after which the worker is ended: it is told no each time before."""
OPS = ("invoke", "finish", "fail", "next")


class Violation(Exception):
    """The worker said something that it may not say."""


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """How to start a worker: ``launcher`` is the file that shuts it in and ``program`` the filter of system calls in
    hexadecimal; both empty where the system has no such walls. ``folder`` is an empty one."""

    folder: str
    launcher: str = ""
    program: str = ""
    python: str = sys.executable


@dataclass(slots=True)
class _Said:
    """What one piece of code has done so far."""

    stdout: list[str] = field(default_factory=list)
    size: int = 0
    asked: int = 0
    open: int = 0
    finished: bool = False


class _Worker:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ended = False

    @classmethod
    async def start(cls, spec: WorkerSpec, limits: CodeLimits) -> _Worker:
        """Ready for code. Raises ChildDied."""
        given = json.dumps({
            "heap": limits.heap_bytes, "stack": limits.stack_bytes, "message": limits.message_bytes,
            "output": limits.output_bytes, "process": limits.heap_bytes + PROCESS_BYTES,
        })  # fmt: skip
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            spec.python, "-I", "-X", "utf8", str(SCRIPT), spec.launcher, spec.program, given,
            stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env={}, cwd=spec.folder,
            start_new_session=True, limit=6 * limits.message_bytes,
        )  # fmt: skip
        worker = cls(process)
        try:
            async with asyncio.timeout(START_S):
                ready = await worker.hear()
        except (TimeoutError, Violation) as error:
            await worker.end()
            raise ChildDied("The code sandbox could not be started.", next_step="Try once more.") from error
        except BaseException:
            await worker.end()
            raise
        if ready.get("t") != "ready":
            await worker.end()
            raise ChildDied("The code sandbox could not be started.", next_step="Try once more.")
        return worker

    def say(self, message: Mapping[str, Any]) -> None:
        """Queue a line."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(json.dumps(message).encode() + b"\n")

    async def hear(self) -> Mapping[str, Any]:
        """The next line. Raises Violation for the end and for what is no JSON object of a fair size."""
        stdout = self._process.stdout
        assert stdout is not None
        try:
            line = await stdout.readline()
        except ValueError as error:
            raise Violation("a line is too long") from error
        if not line.endswith(b"\n"):
            raise Violation("it ended")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Violation("a line is no JSON") from error
        if not isinstance(message, dict):
            raise Violation("a line is no object")
        return message

    async def end(self) -> None:
        """Kill it with its group."""
        self.ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, 9)
            else:  # pragma: no cover - Windows has no process groups of this kind
                self._process.kill()
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


class JsEngine:
    """Implements ``domain.code.CodeEngine``. ``spec`` is asked when a worker starts, in a thread."""

    def __init__(self, spec: Callable[[], WorkerSpec], limits: CodeLimits | None = None) -> None:
        self.limits = limits or CodeLimits()
        self._spec = spec
        self._ready: asyncio.Task[_Worker] | None = None
        self._live: set[_Worker] = set()
        self._closed = False

    def session(self, memory: Mapping[str, Any] | None = None) -> JsSession:
        return JsSession(self, memory or {})

    async def prewarm(self) -> None:
        """Have a worker ready; raises nothing, for who needs one hears why there is none."""
        self._warm()
        ready = self._ready
        if ready is not None:
            await asyncio.wait([ready])

    async def close(self) -> None:
        self._closed = True
        ready, self._ready = self._ready, None
        if ready is not None:
            ready.cancel()
            await asyncio.wait([ready])
            if not ready.cancelled() and ready.exception() is None:
                await ready.result().end()
        for worker in list(self._live):
            await self.drop(worker)

    async def take(self) -> _Worker:
        """A worker of one's own; another one is made ready for the next. Raises ChildDied."""
        self._warm()
        ready, self._ready = self._ready, None
        if ready is None:
            raise ChildDied("Assent is closing.")
        try:
            worker = await asyncio.shield(ready)
        except asyncio.CancelledError:
            self._ready = self._ready or ready
            raise
        self._live.add(worker)
        self._warm()
        return worker

    async def drop(self, worker: _Worker) -> None:
        """End a worker; cancelling the caller does not leave it alive."""
        self._live.discard(worker)
        await asyncio.shield(worker.end())

    def _warm(self) -> None:
        gone = self._ready is not None and self._ready.done() and (
            self._ready.cancelled() or self._ready.exception() is not None
        )  # fmt: skip
        if (self._ready is None or gone) and not self._closed:
            self._ready = asyncio.get_running_loop().create_task(self._start(), name="code worker")

    async def _start(self) -> _Worker:
        spec = await asyncio.to_thread(self._spec)
        try:
            return await _Worker.start(spec, self.limits)
        except OSError as error:
            raise ChildDied(f"The code sandbox could not be started: {error.strerror}.") from error


class JsSession:
    """Implements ``domain.code.CodeSession``."""

    def __init__(self, engine: JsEngine, memory: Mapping[str, Any]) -> None:
        self._engine = engine
        self._memory = dict(memory)
        self._worker: _Worker | None = None
        self._lost = False
        self._turn = asyncio.Lock()
        self._closed = False

    async def run(self, code: str, serve: ServeCode, *, args: Any = None) -> CodeOutcome:
        async with self._turn:
            lost, self._lost = self._lost, False
            worker = self._worker or await self._fresh(lost)
            self._worker = worker
            piece = _Piece(worker, self._engine.limits, serve)
            try:
                outcome = await piece.run(code, args)
            except Violation as broken:
                outcome = piece.died(str(broken))
                await self._drop()
            except BaseException:
                await self._drop()
                raise
            return CodeOutcome(outcome.value, outcome.failure, outcome.stdout, outcome.finished, lost)

    async def close(self) -> None:
        self._closed = True
        await self._drop()

    async def _fresh(self, lost: bool) -> _Worker:
        worker = await self._engine.take()
        if self._memory and not lost:
            worker.say({"t": "seed", "memory": self._memory})
        return worker

    async def _drop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._lost = True
            await self._engine.drop(worker)


class _Piece:
    """One piece of code at work."""

    def __init__(self, worker: _Worker, limits: CodeLimits, serve: ServeCode) -> None:
        self._worker = worker
        self._limits = limits
        self._serve = serve
        self._said = _Said()
        self._answering: set[asyncio.Task[None]] = set()
        self._out_of_time = False

    async def run(self, code: str, args: Any) -> CodeOutcome:
        """Raises Violation when the worker is to be ended, and what ``serve`` raises beside ToolFailure."""
        self._worker.say({"t": "run", "code": code, "args": args})
        try:
            async with asyncio.TaskGroup() as group:
                outcome = await self._follow(group)
                for task in tuple(self._answering):  # calls that nobody waits for any more
                    task.cancel()
                return outcome
        except BaseExceptionGroup as failures:
            raise _first(failures) from None

    def died(self, why: str) -> CodeOutcome:
        """What to say of a worker that was ended."""
        if self._out_of_time:
            message = f"The code computed for more than {self._limits.cpu_s:g} s and was ended."
            return self._outcome(failure=CodeFailure("TimeoutError", message, code="code.time"))
        return self._outcome(failure=CodeFailure("Error", f"The code's process was ended: {why}.", code="code.died"))

    async def _follow(self, group: asyncio.TaskGroup) -> CodeOutcome:
        left, began = self._limits.cpu_s, time.perf_counter()
        while True:
            waits, since = self._said.open > 0, time.monotonic()
            try:
                async with asyncio.timeout(None if waits else max(0.0, left)):
                    message = await self._worker.hear()
            except TimeoutError:
                self._out_of_time = True
                raise Violation("time") from None
            if not waits:
                left -= time.monotonic() - since
            ended = self._take(message, group)
            if ended is not None:
                return ended
            if time.perf_counter() - began > SLICE_S:
                await asyncio.sleep(0)
                began = time.perf_counter()

    def _take(self, message: Mapping[str, Any], group: asyncio.TaskGroup) -> CodeOutcome | None:
        kind = message.get("t")
        if kind == "log":
            self._log(message.get("text"))
        elif kind == "ask":
            self._said.asked += 1
            if self._said.asked > self._limits.calls + MAX_ASKED:
                raise Violation("it asked too much")
            call, number = _checked(message)
            self._said.open += 1
            task = group.create_task(self._answer(call, number), name="code asks")
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif kind == "done":
            return self._outcome(message.get("value"))
        elif kind == "failed":
            return self._outcome(failure=_failure(message))
        else:
            raise Violation("a line of no known kind")
        return None

    async def _answer(self, call: CodeCall, number: int) -> None:
        try:
            value = await self._serve(call)
            text = json.dumps(value)
            if len(text) > self._limits.message_bytes:
                raise ToolFailure(
                    f"The result is larger than {self._limits.message_bytes} bytes; ask for less.", code="code.message"
                )
        except ToolFailure as failure:
            answer = {"t": "answer", "id": number, "ok": False, "error": str(failure)[:4000], "code": failure.code}
        except (TypeError, ValueError, RecursionError):
            answer = {"t": "answer", "id": number, "ok": False, "error": "The result is no JSON.", "code": ""}
        else:
            self._said.finished = self._said.finished or call.op == "finish"
            answer = {"t": "answer", "id": number, "ok": True, "value": value}
        self._said.open -= 1
        self._worker.say(answer)

    def _log(self, text: Any) -> None:
        if not isinstance(text, str):
            raise Violation("a line of console that is no text")
        room = self._limits.output_bytes - self._said.size
        self._said.stdout.append(text[: max(0, room)])
        self._said.size += len(text)

    def _outcome(self, value: Any = None, failure: CodeFailure | None = None) -> CodeOutcome:
        return CodeOutcome(value, failure, "".join(self._said.stdout), self._said.finished)


def _checked(message: Mapping[str, Any]) -> tuple[CodeCall, int]:
    """A request, with the shape that it has to have. Raises Violation."""
    op, number, line = message.get("op"), message.get("id"), message.get("line")
    ref, args, options = message.get("ref", ""), message.get("args"), message.get("options")
    good = (
        op in OPS and type(number) is int and type(line) is int and isinstance(ref, str)
        and isinstance(args or {}, dict) and isinstance(options or {}, dict)
    )  # fmt: skip
    if not good:
        raise Violation("a request of the wrong shape")
    assert isinstance(number, int)
    return CodeCall(op, ref, args, options, message.get("value"), int(line or 0)), number  # type: ignore[arg-type]


def _failure(message: Mapping[str, Any]) -> CodeFailure:
    line = message.get("line")
    return CodeFailure(
        str(message.get("name"))[:100], str(message.get("message"))[:2000], line if type(line) is int else 0,
        str(message.get("code"))[:40],
    )  # fmt: skip


def _first(failures: BaseExceptionGroup[Any]) -> BaseException:
    """One exception of a group, however deep; a known one before others."""
    found: BaseException = failures
    while isinstance(found, BaseExceptionGroup):
        known: list[BaseException] = [one for one in found.exceptions if isinstance(one, KnownError)]
        found = (known or list(found.exceptions))[0]
    return found
