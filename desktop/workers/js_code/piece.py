"""One piece of code at work in a worker: its calls, its output, its time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from desktop.domain.code import CodeCall, CodeFailure, CodeLimits, CodeOutcome, ServeCode
from desktop.domain.errors import KnownError, ToolFailure
from desktop.workers.js_code import messages
from desktop.workers.js_code.messages import Violation
from desktop.workers.js_code.process import CodeProcess

SLICE_S = 0.002
T = TypeVar("T")
AT_ONCE = 4
"""Calls that begin before others get their turn: the gates look at each for a while."""
LOOK_S = 0.25
"""How often the time that code computes is looked at, while it says nothing."""
SETTLE_S = 10.0
"""Seconds in which a worker has to be rid of what a piece of code left behind."""
MAX_ASKED = 1000
"""Requests beyond the allowed calls after which the worker is ended: it is told no each time before."""
ENDINGS = ("finish", "fail")


class OutOfTime(Violation):
    """The code computed for too long."""


class Pace:
    """What an engine's pieces compute on the loop for their calls, in slices: of many calls that come or are answered
    at one time, others get their turn in between."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._spent = 0.0

    async def do(self, work: Callable[..., T], *args: Any) -> T:
        """What ``work`` returns or raises; it begins in the order in which it was asked for."""
        if self._one.locked() or self._spent > SLICE_S:
            async with self._one:
                if self._spent > SLICE_S:
                    self._spent = 0.0
                    await asyncio.sleep(0)
        began = time.perf_counter()
        try:
            return work(*args)
        finally:
            self._spent += time.perf_counter() - began


@dataclass(slots=True)
class _CodeProgress:
    """What the code has done so far."""

    stdout: list[str] = field(default_factory=list)
    """What it printed."""
    size: int = 0
    """How much that was."""
    asked: int = 0
    """How many calls it asked for."""
    open: int = 0
    """Calls that are unanswered."""
    fresh: int = 0
    """Calls that have not begun."""
    finished: bool = False
    """Whether it gave its value."""
    over: bool = False
    """Whether it has ended."""
    unheard: ToolFailure | None = None
    """The no that was said after its end."""


class _Clock:
    """How long the code has computed: the process's own time where the system tells it, else the time in which no call
    of it was open."""

    def __init__(self, worker: CodeProcess, maximum: float) -> None:
        self._worker = worker
        self._maximum = maximum
        self._start = worker.cpu_s()
        self._last = time.monotonic()
        self._elapsed = 0.0

    def look(self, *, waits: bool) -> None:
        """Count the time since the last look. Raises OutOfTime."""
        now = time.monotonic()
        self._elapsed += 0 if waits else now - self._last
        self._last = now
        spent = self._worker.cpu_s() if self._start is not None else None
        used = self._elapsed if spent is None or self._start is None else spent - self._start
        if used > self._maximum:
            raise OutOfTime("time")


class RunningCode:
    """One run of one piece of code; an object is used once."""

    def __init__(self, worker: CodeProcess, limits: CodeLimits, serve: ServeCode, pace: Pace) -> None:
        self._worker = worker
        self._pace = pace
        self._limits = limits
        self._serve = serve
        self._said = _CodeProgress()
        self._answering: dict[asyncio.Task[None], CodeCall] = {}
        self.clean = False
        """Whether nothing of it is left in the worker."""

    async def run(self, code: str, args: Any) -> CodeOutcome:
        """Raises Violation when the worker is to be ended, and what ``serve`` raises beside ToolFailure."""
        self._worker.write(messages.run(code, args))
        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._watch(), name="code's time")
                ended = await self._follow(group)
                watch.cancel()
                self._said.over = True
                await self._endings()
                for task in tuple(self._answering):  # calls that nobody waits for any more
                    task.cancel()
                self.clean = await self._settled()
        except BaseExceptionGroup as failures:
            raise _first(failures) from None
        return self._outcome(ended)

    def died(self, why: Violation) -> CodeOutcome:
        """What to say of a worker that was ended."""
        if isinstance(why, OutOfTime) or self._worker.timed_out:
            message = f"The code computed for more than {self._limits.cpu_s:g} s and was ended."
            return self._told(failure=CodeFailure("TimeoutError", message, code="code.time"))
        return self._told(failure=CodeFailure("Error", f"The code's process was ended: {why}.", code="code.died"))

    async def _watch(self) -> None:
        """Watch the clock while the code runs. Raises OutOfTime."""
        clock, pause = _Clock(self._worker, self._limits.cpu_s), min(LOOK_S, self._limits.cpu_s / 4)
        while True:
            await asyncio.sleep(pause)
            clock.look(waits=self._said.open > 0)

    async def _follow(self, group: asyncio.TaskGroup) -> Mapping[str, Any]:
        """Serve the worker's messages until the last one, which is returned."""
        began = time.perf_counter()
        while True:
            message = await self._worker.hear()
            if message.get("t") in ("done", "failed"):
                return message
            self._take(message, group)
            if self._said.fresh == AT_ONCE or time.perf_counter() - began > SLICE_S:
                await asyncio.sleep(0)
                began = time.perf_counter()

    def _take(self, message: Mapping[str, Any], group: asyncio.TaskGroup) -> None:
        kind, said = message.get("t"), self._said
        if kind == "log":
            self._log(message.get("text"))
        elif kind == "ask":
            said.asked += 1
            if said.asked > self._limits.calls + MAX_ASKED:
                raise Violation("it asked too much")
            call, number = messages.asked(message)
            said.open += 1
            said.fresh += 1
            task = group.create_task(self._answer(call, number), name="code asks")
            self._answering[task] = call
            task.add_done_callback(self._answering.pop)
        else:
            raise Violation("a line of no known kind")

    async def _answer(self, call: CodeCall, number: int) -> None:
        self._said.fresh -= 1
        try:
            await self._pace.do(messages.fair, call)
            value = await self._serve(call)
            if call.op == "finish":
                self._said.finished, value = True, None
            await self._pace.do(messages.weigh, value, self._limits.message_bytes)
            line = await self._pace.do(messages.answer, number, value, self._limits.message_bytes)
        except ToolFailure as failure:
            line = messages.refusal(number, failure)
            if self._said.over:
                self._said.unheard = failure
        self._said.open -= 1
        self._worker.write(line)
        await self._worker.drained()

    async def _endings(self) -> None:
        """What the code said of its result counts, though it did not wait for the answer."""
        ending = [task for task, call in self._answering.items() if call.op in ENDINGS]
        if ending:
            await asyncio.wait(ending)

    async def _settled(self) -> bool:
        """Whether the worker is rid of it, in a fair time."""
        try:
            async with asyncio.timeout(min(SETTLE_S, 10 * self._limits.cpu_s)):
                return (await self._worker.hear()).get("t") == "idle"
        except (TimeoutError, Violation):
            return False

    def _log(self, text: Any) -> None:
        if not isinstance(text, str):
            raise Violation("a line of console that is no text")
        said, maximum = self._said, self._limits.output_bytes
        if said.size > 2 * maximum:
            raise Violation("it wrote too much")
        said.stdout.append(messages.whole(text[: max(0, maximum - said.size)]))
        said.size += max(1, len(text))

    def _outcome(self, ended: Mapping[str, Any]) -> CodeOutcome:
        if ended["t"] == "failed":
            return self._told(failure=messages.failure_of(ended))
        unheard, value = self._said.unheard, ended.get("value")
        if unheard is not None:
            return self._told(failure=CodeFailure("ToolError", str(unheard)[:2000]))
        problem = messages.problem_of(value, messages.MAX_RETURNED)
        if problem:
            return self._told(failure=CodeFailure("RangeError", f"the value is {problem}", code="code.message"))
        return self._told(value)

    def _told(self, value: Any = None, failure: CodeFailure | None = None) -> CodeOutcome:
        return CodeOutcome(value, failure, "".join(self._said.stdout), self._said.finished)


def _first(failures: BaseExceptionGroup[Any]) -> BaseException:
    """One exception of a group, however deep; a known one before others."""
    found: BaseException = failures
    while isinstance(found, BaseExceptionGroup):
        known: list[BaseException] = [one for one in found.exceptions if isinstance(one, KnownError)]
        found = (known or list(found.exceptions))[0]
    return found
