"""What supervision and journal cost a call, how soon a run goes on, and how soon a cancelled tree is quiet."""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from desktop.domain.agent import Inbox, RunContext
from desktop.domain.cancellation import CancellationToken
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.run_tree import NodeState
from desktop.domain.supervision import Priority, SpawnBudget, Supervision
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.domain.tools import ToolResult
from desktop.recovery.effect_journal import EffectJournal
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.store import Store
from desktop.supervision.hosting import AgentKinds, RunHost
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.run_context import EffectPorts
from desktop.supervision.tree import RunTree
from tests.bench.registry import Figure, bench

ROOT = AgentId("root", "0")
ANSWER = "The answer has a few sentences, as they mostly do. " * 16
OUTPUT = "A line of a file that was read by a tool.\n" * 100
CALLS = 1000

Body = Callable[[RunContext, Inbox], Awaitable[Any]]


class Made:
    """An agent made of a function."""

    def __init__(self, agent_id: AgentId, body: Body) -> None:
        self.id = agent_id
        self._body = body

    async def run(self, ctx: RunContext, inbox: Inbox) -> Any:
        return await self._body(ctx, inbox)


async def _nothing() -> None:
    await asyncio.sleep(0)


WRITTEN: list[Callable[[], Awaitable[None]]] = [_nothing]
"""A call takes time, in which its line is written: without a wait for it the lines of many calls share a commit."""


async def llm(request: ModelRequest, meta: RunMeta) -> ChatMessage:
    await WRITTEN[-1]()
    return ChatMessage("assistant", (TextBlock(ANSWER),), "end", Usage(1000, 100, cost_usd=0.01), "demo/demo")


async def tool(name: str, arguments: Mapping[str, Any], meta: RunMeta, waits: object = None) -> ToolResult:
    await WRITTEN[-1]()
    return ToolResult(OUTPUT)


async def opened(folder: str) -> Store:
    store = Store(Path(folder) / "assent.db")
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "T", 1.0, 1.0))
    return store


async def hosted(store: Store, run_id: str, kinds: Mapping[str, Body] | None = None) -> RunHost:
    """A run on a real database, with the app's own redactor, which knows a few secrets."""
    redactor = SecretRedactor()
    for number in range(5):
        redactor.remember(f"a-secret-of-some-length-{number}")
    journal = EffectJournal(run_id, store.effects, redact=redactor.redact_text, mask=redactor.mask_known)
    await journal.load()
    node = Supervision.root(ROOT, session_id="t", spawn_budget=SpawnBudget(60))
    token = CancellationToken()
    ports = EffectPorts(llm, tool, lambda name, _: name == "read", lambda *_: None)
    made = AgentKinds({name: _maker(body) for name, body in (kinds or {}).items()})
    tree = RunTree(ROOT, node, token, publish=lambda _facts: None)
    meta = RunMeta(run_id, token, "t", node)
    return RunHost(tree=tree, meta=meta, journal=journal, ports=ports, kinds=made, queue=ModelQueue(100))


def _maker(body: Body) -> Callable[[AgentId], Made]:
    return lambda agent_id: Made(agent_id, body)


async def started(store: Store, run_id: str) -> None:
    await store.runs.start(record=RunRecord(run_id, "t", 1.0, "root", "demo/demo"))


def message(text: str) -> ChatMessage:
    return ChatMessage("user", (TextBlock(text),))


def conversation(number: int) -> tuple[ChatMessage, ...]:
    """Grows by two messages a round, as a loop's does; the first ones stay the same objects."""
    while len(TALK) < number % 40 + 20:
        TALK.append(message(f"{len(TALK)} {ANSWER}"))
    return tuple(TALK[: number % 40 + 20])


TALK: list[ChatMessage] = []


async def _cpu(call: Callable[[RunContext, int], Awaitable[Any]], bare: Callable[[int], Awaitable[Any]]) -> float:
    """CPU microseconds of the whole process, all threads, that a call costs beyond its own work; the best of seven,
    for the machine is shared."""

    async def body(ctx: RunContext, inbox: Inbox) -> list[float]:
        found = []
        for _ in range(7):
            WRITTEN.append(host.journal.settle)
            at = time.process_time()
            for number in range(CALLS):
                await call(ctx, number)
            middle = time.process_time()
            WRITTEN.pop()
            for number in range(CALLS):
                await bare(number)
            found.append((middle - at) - (time.process_time() - middle))
        return found

    with tempfile.TemporaryDirectory() as folder:
        store = await opened(folder)
        await started(store, "r")
        gc.collect()
        gc.freeze()
        host = await hosted(store, "r")
        outcome = await host.run(Made(ROOT, body), [])
        await store.close()
    return min(outcome.value) / CALLS * 1e6


@bench("supervision: CPU that a model call costs more", target="<= 100", unit="us")
def model_call() -> Figure:
    ref = ModelRef("demo", "demo")
    meta = RunMeta("r", CancellationToken())
    measured = asyncio.run(
        _cpu(
            lambda ctx, number: ctx.llm(ModelRequest(ref, conversation(number), "system")),
            lambda number: llm(ModelRequest(ref, conversation(number), "system"), meta),
        )
    )
    return Figure(measured, note="all threads, each line a commit; digest of 20 to 60 messages, queue, budget")


@bench("supervision: CPU that a tool call costs more", target="<= 300", unit="us")
def tool_call() -> Figure:
    meta = RunMeta("r", CancellationToken())
    measured = asyncio.run(
        _cpu(
            lambda ctx, number: ctx.tool("write", {"path": f"notes/{number}.md", "content": "x" * 500}),
            lambda number: tool("write", {}, meta),
        )
    )
    return Figure(measured, note="all threads, each line a commit; a write with 4 KB of output, summary redacted")


async def _resume() -> float:
    async def body(ctx: RunContext, inbox: Inbox) -> Any:
        for number in range(500):
            await ctx.tool("write", {"number": number})
            await ctx.llm(ModelRequest(ModelRef("demo", "demo"), (message(str(number)),)))
        if inbox:
            ctx.meta.cancellation.cancel("closing")
            await asyncio.sleep(60)
        return time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        store = await opened(folder)
        await started(store, "r")
        host = await hosted(store, "r")
        host.leave_open = frozenset({"closing"})
        await host.run(Made(ROOT, body), [message("x")])
        if (await store.effects.load("r"))[-1].kind == "end":
            raise ValueError("the run has ended, there is nothing to go on with")
        at = time.perf_counter()
        outcome = await (await hosted(store, "r")).run(Made(ROOT, body), [])
        await store.close()
    return (outcome.value - at) * 1000


@bench("supervision: from a start to where a run of 1,000 effects stood", target="<= 300", unit="ms")
def resume() -> Figure:
    measured = statistics.median(asyncio.run(_resume()) for _ in range(3))
    return Figure(measured, note="the journal read, every effect given back")


async def _crowd(agents: int, seconds: float) -> list[float]:
    """How late a sleeper of 5 ms wakes, in ms, while so many agents call models and tools as fast as models stream."""
    late: list[float] = []

    async def worker(ctx: RunContext, inbox: Inbox) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await ctx.llm(ModelRequest(ModelRef("demo", "demo"), conversation(5)))
            await asyncio.sleep(0.1)
            await ctx.tool("write", {"content": "x" * 200})
            await asyncio.sleep(0.1)

    async def body(ctx: RunContext, inbox: Inbox) -> None:
        children = [await ctx.spawn("worker", [], priority=Priority.NORMAL) for _ in range(agents - 1)]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            at = time.perf_counter()
            await asyncio.sleep(0.005)
            late.append((time.perf_counter() - at - 0.005) * 1000)
        for child in children:
            await ctx.join(child)

    with tempfile.TemporaryDirectory() as folder:
        store = await opened(folder)
        await started(store, "r")
        await (await hosted(store, "r", {"worker": worker})).run(Made(ROOT, body), [])
        await store.close()
    return late


@bench("supervision: p99 of lateness with 50 agents at work", target="<= 16", unit="ms")
def crowd() -> Figure:
    late = sorted(asyncio.run(_crowd(50, 4.0)))
    return Figure(late[int(len(late) * 0.99)], note=f"50 agents, 500 effects a second; worst {late[-1]:.1f} ms")


async def _cancel() -> float:
    async def worker(ctx: RunContext, inbox: Inbox) -> None:
        await ctx.sleep_until(time.time() + 3600)

    async def branch(ctx: RunContext, inbox: Inbox) -> None:
        for child in [await ctx.spawn("worker", []) for _ in range(6)]:
            await ctx.join(child)

    async def body(ctx: RunContext, inbox: Inbox) -> None:
        for child in [await ctx.spawn("branch", []) for _ in range(7)]:
            await ctx.join(child)

    with tempfile.TemporaryDirectory() as folder:
        store = await opened(folder)
        await started(store, "r")
        host = await hosted(store, "r", {"worker": worker, "branch": branch})
        async with asyncio.TaskGroup() as group:
            running = group.create_task(host.run(Made(ROOT, body), []))
            while len(host.tree.facts()) < 50 or any(f.state is NodeState.WORKING for f in host.tree.facts()):
                await asyncio.sleep(0.005)
            at = time.perf_counter()
            host.tree.cancel("0", "enough")
            await running
            took = (time.perf_counter() - at) * 1000
        await store.close()
    return took


@bench("supervision: from cancel to quiet, a tree of 50 agents", target="<= 1000", unit="ms")
def cancel() -> Figure:
    measured = max(asyncio.run(_cancel()) for _ in range(5))
    return Figure(measured, note="worst of five; every agent ended, the terminal entries committed")


async def _runs(count: int) -> None:
    async def worker(ctx: RunContext, inbox: Inbox) -> None:
        await ctx.llm(ModelRequest(ModelRef("demo", "demo"), (message("x"),)))

    async def body(ctx: RunContext, inbox: Inbox) -> None:
        await ctx.join(await ctx.spawn("worker", []))

    with tempfile.TemporaryDirectory() as folder:
        store = await opened(folder)
        for number in range(count):
            await started(store, f"r{number}")
            await (await hosted(store, f"r{number}", {"worker": worker})).run(Made(ROOT, body), [])
        await store.close()


async def _growth() -> float:
    await _runs(500)
    gc.collect()
    before = _memory()
    await _runs(2000)
    gc.collect()
    return (_memory() / before - 1) * 100


def _memory() -> float:
    return float(Path("/proc/self/statm").read_text().split()[1])


@bench("supervision: growth of memory over 2,000 runs", target="<= 2", unit="%")
def growth() -> Figure:
    return Figure(asyncio.run(_growth()), note="each with a child and a real journal; 10,000 in the soak test")
