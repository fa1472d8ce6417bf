"""What supervision and journal cost a call, how soon a run goes on, and how soon a cancelled tree is quiet."""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.request import ask_within
from desktop.domain.approval.judgement import Category
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.models import Finished, ModelRef, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import FunctionContext
from desktop.domain.runs.supervision import ExecutionBudget, SpawnBudget, Supervision
from desktop.domain.runs.tree import NodeState
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.recovery.history import CallHistory
from desktop.recovery.journal import CallJournal
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.store import Store
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.model_queue import ModelQueue
from desktop.workers.python_skill.run_context import RunContext
from tests.bench.registry import Figure, bench
from tests.unit.supervision.kit import Bench, said

ROOT = AgentId("root", "0")
ANSWER = "The answer has a few sentences, as they mostly do. " * 16
OUTPUT = "A line of a file that was read by a tool.\n" * 100
CALLS = 1000
MANY = ExecutionBudget(max_rounds=10_000)
WRITE = ToolSpec("write-file", "", {}, Category.WRITE)

Inbox = list[Mapping[str, Any]]


@asynccontextmanager
async def opened() -> AsyncGenerator[Store, None]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "assent.db")
        await store.open()
        await store.threads.create(record=ThreadRecord("t", "T", 1.0, 1.0))
        yield store
        await store.close()


async def started(store: Store, run_id: str) -> None:
    await store.runs.start(record=RunRecord(run_id, "t", 1.0, "root", "demo/demo"))


def conversation(number: int) -> tuple[ChatMessage, ...]:
    """Grows by two messages a round, as a loop's does; the first ones stay the same objects."""
    while len(TALK) < number % 40 + 20:
        TALK.append(ChatMessage("user", (TextBlock(f"{len(TALK)} {ANSWER}"),)))
    return tuple(TALK[: number % 40 + 20])


TALK: list[ChatMessage] = []


class Model:
    """Answers when its request's line is written: without a wait for it the lines of many calls share a commit."""

    def __init__(self, written: Callable[[], Awaitable[None]]) -> None:
        self._written = written

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        await self._written()
        yield TextDelta(ANSWER)
        yield Finished("end", (), Usage(1000, 100, cost_usd=0.01), "demo/demo")


Call = Callable[[LiveRuns | None, RunMeta, Callable[[], Awaitable[None]], int], Awaitable[Any]]


async def _cpu(call: Call) -> float:
    """CPU microseconds of the whole process, all threads, that a call costs beyond its own work; the best of seven,
    for the machine is shared. With the app's own redactor, which knows a few secrets."""
    redactor = SecretRedactor()
    for number in range(5):
        redactor.remember(f"a-secret-of-some-length-{number}")
    async with opened() as store:
        await started(store, "r")
        numbers = iter(range(10_000_000))
        calls = CallJournal(
            lambda _c: f"m:{next(numbers)}",
            repeatable=lambda c: False,
            describe=lambda c: f"{c.tool} {c.arguments}"[:600],
        )
        live = LiveRuns(
            store.effects,
            calls,
            lambda _event: None,
            queue=ModelQueue(100),
            redact=redactor.redact_text,
            mask=redactor.mask_known,
        )
        token = CancellationToken()
        meta = RunMeta("r", token, "t", Supervision.root(ROOT, session_id="t"))
        await live.open(meta, ROOT)
        journal = calls.journal("r")
        assert journal is not None
        gc.collect()
        gc.freeze()

        async def nothing() -> None:
            await asyncio.sleep(0)

        found = []
        for _ in range(7):
            at = time.process_time()
            for number in range(CALLS):
                await call(live, meta, journal.settle, number)
            middle = time.process_time()
            for number in range(CALLS):
                await call(None, meta, nothing, number)
            found.append((middle - at) - (time.process_time() - middle))
        await live.close("r", AgentOutcome("completed"))
    return min(found) / CALLS * 1e6


async def _model_call(
    live: LiveRuns | None, meta: RunMeta, written: Callable[[], Awaitable[None]], number: int
) -> None:
    request = ModelRequest(ModelRef("demo", "demo"), conversation(number), "system")
    layers = (live.models,) if live is not None else ()
    await ask_within(layers, Answerer(Model(written)), request, meta, lambda _event: None)


async def _tool_call(live: LiveRuns | None, meta: RunMeta, written: Callable[[], Awaitable[None]], number: int) -> None:
    arguments = {"path": f"notes/{number}.md", "content": "x" * 500}
    context = FunctionContext(meta, tool="write-file", arguments=arguments, definition=WRITE)

    async def made() -> None:
        await written()
        context.result = ToolResult(OUTPUT)

    await (live.calls.process(context, made) if live is not None else made())


@bench("supervision: CPU that a model call costs more", target="<= 100", unit="us")
def model_call() -> Figure:
    measured = asyncio.run(_cpu(_model_call))
    return Figure(measured, note="all threads, each line a commit; digest of 20 to 60 messages, queue, budget")


@bench("supervision: CPU that a tool call costs more", target="<= 300", unit="us")
def tool_call() -> Figure:
    measured = asyncio.run(_cpu(_tool_call))
    return Figure(measured, note="all threads, each line a commit; a write with 4 KB of output, summary redacted")


async def _resume() -> float:
    async def body(ctx: RunContext, inbox: Inbox) -> Any:
        for number in range(500):
            await ctx.tool("write", {"number": number})
            await ctx.llm(str(number))
        if not went_on:
            went_on.append(0.0)
            made.token.cancel("closing")
            await asyncio.sleep(60)
        return [time.perf_counter()]

    went_on: list[float] = []
    async with opened() as store:
        await started(store, "run")
        made = Bench(log=store.effects, budget=MANY)
        await made.run(body, leave_open=True)
        if (await store.effects.load("run"))[-1].kind == "end":
            raise ValueError("the run has ended, there is nothing to go on with")
        at = time.perf_counter()
        await started(store, "again")
        outcome = await Bench(log=store.effects, budget=MANY, run_id="again", before=("run",)).run(body)
    return float((outcome.value[0] - at) * 1000)


@bench("supervision: from a start to where a run of 1,000 effects stood", target="<= 300", unit="ms")
def resume() -> Figure:
    measured = statistics.median(asyncio.run(_resume()) for _ in range(3))
    return Figure(measured, note="an agent in code: the journal read, each effect a call that is given back")


async def _history() -> float:
    async def body(ctx: RunContext, inbox: Inbox) -> Any:
        for number in range(1000):
            await ctx.tool("write", {"number": number})

    async with opened() as store:
        await started(store, "run")
        await Bench(log=store.effects).run(body)
        at = time.perf_counter()
        found = CallHistory.of(await store.effects.load("run"))
        took = (time.perf_counter() - at) * 1000
        if len(found.calls) < 1000:
            raise ValueError("the journal has too few calls")
    return took


@bench("supervision: the history of a run of 1,000 calls, read", target="<= 100", unit="ms")
def history() -> Figure:
    return Figure(statistics.median(asyncio.run(_history()) for _ in range(3)), note="from the database")


async def _crowd(agents: int, seconds: float) -> list[float]:
    """How late a sleeper of 5 ms wakes, in ms, while so many agents call models and tools as fast as models stream."""
    late: list[float] = []

    async def worker(ctx: RunContext, inbox: Inbox) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await ctx.llm("the next step, please")
            await asyncio.sleep(0.1)
            await ctx.tool("write", {"content": "x" * 200})
            await asyncio.sleep(0.1)

    async def body(ctx: RunContext, inbox: Inbox) -> None:
        children = [await ctx.spawn("worker-agent", "x") for _ in range(agents - 2)]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            at = time.perf_counter()
            await asyncio.sleep(0.005)
            late.append((time.perf_counter() - at - 0.005) * 1000)
        for child in children:
            await ctx.join(child)

    async def answer(_request: ModelRequest) -> ChatMessage:
        return said(ANSWER)

    async with opened() as store:
        await started(store, "run")
        made = Bench(log=store.effects, answer=answer, spawn=SpawnBudget(60), queue=ModelQueue(100))
        await made.run(body, worker=worker)
    return late


@bench("supervision: p99 of lateness with 50 agents at work", target="<= 16", unit="ms", by="gap")
def crowd() -> Figure:
    late = sorted(asyncio.run(_crowd(50, 4.0)))
    return Figure(late[int(len(late) * 0.99)], note=f"50 agents in code, 500 effects a second; worst {late[-1]:.1f} ms")


async def _cancel() -> float:
    async def worker(ctx: RunContext, inbox: Inbox) -> None:
        await ctx.sleep_until(time.time() + 3600)

    async def branch(ctx: RunContext, inbox: Inbox) -> None:
        for child in [await ctx.spawn("worker-agent", "x") for _ in range(6)]:
            await ctx.join(child)

    async def body(ctx: RunContext, inbox: Inbox) -> None:
        for child in [await ctx.spawn("branch-agent", "x") for _ in range(7)]:
            await ctx.join(child)

    async with opened() as store:
        await started(store, "run")
        made = Bench(log=store.effects, spawn=SpawnBudget(60))
        running = asyncio.ensure_future(made.run(body, worker=worker, branch=branch))
        while not hasattr(made, "tree") or not _asleep(made):
            await asyncio.sleep(0.005)
        at = time.perf_counter()
        made.tree.cancel("0", "enough")
        await running
        return (time.perf_counter() - at) * 1000


def _asleep(made: Bench) -> bool:
    facts = made.tree.facts()
    return len(facts) > 50 and all(one.state is not NodeState.WORKING for one in facts)


@bench("supervision: from cancel to quiet, a tree of 50 agents", target="<= 1000", unit="ms")
def cancel() -> Figure:
    measured = max(asyncio.run(_cancel()) for _ in range(5))
    return Figure(measured, note="worst of five; every agent ended, the terminal entries committed")


async def _runs(count: int) -> None:
    async def worker(ctx: RunContext, inbox: Inbox) -> None:
        await ctx.llm("x")

    async def body(ctx: RunContext, inbox: Inbox) -> None:
        await ctx.join(await ctx.spawn("worker-agent", "x"))

    async with opened() as store:
        for number in range(count):
            await started(store, f"r{number}")
            await Bench(log=store.effects, run_id=f"r{number}").run(body, worker=worker)


async def _growth() -> float:
    await _runs(100)
    gc.collect()
    before = _memory()
    await _runs(400)
    gc.collect()
    return (_memory() / before - 1) * 100


def _memory() -> float:
    return float(Path("/proc/self/statm").read_text().split()[1])


@bench("supervision: growth of memory over 400 runs", target="<= 2", unit="%")
def growth() -> Figure:
    return Figure(asyncio.run(_growth()), note="each with two agents in code and a real journal; more in the soak test")
