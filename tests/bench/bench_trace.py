"""The trace panel on a run of 200 rounds with 50 calls each and 20 agents in it: while it comes, opened, searched.

Processor time of the Qt thread in one go, with real painting on the offscreen platform; collections of garbage are in
it, but for what is there from the start, as in the app.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

from shots.trace import NoSource

from desktop.domain.messages import Usage
from desktop.domain.runs.events import (
    AgentTraced,
    Event,
    MessageClosed,
    MessageOpened,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
)
from desktop.domain.runs.traces import TraceEntry, entry_of
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.trace.panel import TraceViewModel, grown
from desktop.ui.trace.panel import TracePanel
from tests.bench.application import app, in_app_loop
from tests.bench.bench_skill_page import Blocks
from tests.bench.registry import Figure, bench

ROUNDS, CALLS, AGENTS = 200, 50, 20
WHERE: dict[str, Any] = {"thread_id": "t", "run_id": "run"}
ARGUMENTS = {"path": "data/gauge-07/2026-03.csv", "query": "x" * 200}
RESULT = "time,level_m\n" * 200


def run() -> Iterator[tuple[Event, ...]]:
    """All events of the run, a batch a round."""
    yield (RunStarted(**WHERE, agent="assistant", model="m/x", user_message_id="u"),)
    for number in range(1, ROUNDS + 1):
        found: list[Event] = [
            MessageOpened(**WHERE, message_id=f"m{number}", parent_id=None, side="a", author="a", round_number=number),
            *(TextArrived(**WHERE, message_id=f"m{number}", text="some words of it ") for _ in range(40)),
            MessageClosed(**WHERE, message_id=f"m{number}", stop_reason="tool_calls", usage=Usage(9, 2), elapsed_ms=9),
        ]
        for call in range(CALLS):
            found += called(number, call)
        yield tuple(found)
    yield (RunEnded(**WHERE, reason="response"),)


def called(number: int, call: int) -> Iterator[Event]:
    call_id, message = f"{number}-{call}", f"m{number}"
    tool = "helper" if call == 0 and number % (ROUNDS // AGENTS) == 0 else "read_file"
    yield ToolCallStarted(**WHERE, message_id=message, call_id=call_id, tool=tool, arguments=ARGUMENTS, category="read")
    if tool == "helper":
        yield from agent(number, call_id)
    yield ToolCallFinished(
        **WHERE,
        message_id=message,
        call_id=call_id,
        tool=tool,
        state="done",
        text=RESULT,
        is_error=False,
        code="",
        elapsed_ms=3,
        facts={"category": "read", "bytes": 2600},
    )


def agent(number: int, call_id: str) -> Iterator[Event]:
    """Five rounds of three calls, its texts in pieces."""

    def told(kind: str, **data: Any) -> AgentTraced:
        return AgentTraced(
            **WHERE,
            context_id=f"a{number}",
            ancestor_context_id="",
            call_id=call_id,
            agent="helper",
            sequence=1,
            type=kind,
            at=time.time(),
            data=data,
        )

    yield told("agent-start", skill="helper", provider="agent-litellm")
    for turn in range(1, 6):
        yield told("turn-start", turnNumber=turn)
        yield from (told("message", text="a piece of it ", delta=True) for _ in range(50))
        for call in range(3):
            yield told("tool-call", tool="read_file", args=ARGUMENTS, callId=f"x{turn}{call}")
            yield told("tool-result", tool="read_file", callId=f"x{turn}{call}", result=RESULT, isError=False)
        yield told("turn-end", turnNumber=turn, stopReason="tool_calls", toolCalls=3)
    yield told("agent-complete", status="done", rounds=5, toolCalls=15)


def all_entries() -> list[TraceEntry]:
    found = (entry_of(event, 1.0 + at * 0.01) for at, batch in enumerate(run()) for event in batch)
    return [entry for entry in found if entry is not None]


class Shown:
    """A panel, and the bridge that brings it events."""

    def __init__(self) -> None:
        self.bridge = Bridge()
        self.trace = TraceViewModel(NoSource(), self.bridge, lambda data: data, {})
        self.bridge.events.connect(self.trace.take)
        self.panel = TracePanel(self.trace)
        self.panel.resize(384, 800)

    def open(self) -> None:
        self.panel.show()
        self.trace.open_thread("t")

    async def rest(self) -> None:
        while self.bridge.task_names:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.3)

    async def end(self) -> None:
        self.panel.hide()
        self.panel.deleteLater()
        await self.bridge.shutdown(2.0)


def with_panel(work: Callable[[Shown], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        shown = Shown()
        try:
            return await work(shown)
        finally:
            await shown.end()

    return in_app_loop(go)


async def arrive(shown: Shown, act: Callable[[int], None] = lambda _: None) -> None:
    """A round every few milliseconds, through the bridge as in the app."""
    for number, batch in enumerate(run()):
        for event in batch:
            shown.bridge.sink(event)
        act(number)
        await asyncio.sleep(0.02)
    await shown.rest()


@bench("trace panel: 200 rounds x 50 calls and 20 agents arriving, longest block", target="<= 16", unit="ms", by="gap")
def arriving() -> Figure:
    async def work(shown: Shown) -> tuple[float, int]:
        shown.open()
        await shown.rest()
        with Blocks() as blocks:
            await arrive(shown)
        assert shown.trace.tree is not None
        return blocks.longest, shown.trace.tree.nodes

    longest, nodes = with_panel(work)
    return Figure(longest, None, f"{nodes:,} nodes; a round with its 50 calls each 20 ms")


@bench("trace panel: the same with every line open, longest block", target="<= 16", unit="ms", by="gap")
def arriving_open() -> Figure:
    async def work(shown: Shown) -> tuple[float, int]:
        shown.open()
        await shown.rest()
        folding = shown.panel.model.folding

        def open_all(_: int) -> None:
            tree = shown.trace.tree
            if tree is not None and tree.root is not None:
                for node in tree.root.children[-2:]:
                    for below in node.walk():
                        folding.choose(below, True)

        with Blocks() as blocks:
            await arrive(shown, open_all)
        return blocks.longest, shown.panel.model.rowCount()

    longest, rows = with_panel(work)
    return Figure(longest, None, f"{rows:,} lines at the end")


@bench("trace panel: events listed while they arrive, longest block", target="<= 16", unit="ms", by="gap")
def events_arriving() -> Figure:
    async def work(shown: Shown) -> tuple[float, int]:
        shown.open()
        shown.panel.show_view("events")
        await shown.rest()
        with Blocks() as blocks:
            await arrive(shown)
        return blocks.longest, shown.panel.events.model.rowCount()

    longest, rows = with_panel(work)
    return Figure(longest, None, f"{rows:,} events at the end")


@bench(
    "trace panel: opened, moved through, folded, searched, filtered; longest block", target="<= 16", unit="ms", by="gap"
)
def used() -> Figure:
    """On the run that is over, every line open; what happens once in the life of the app is not in it."""

    async def work(shown: Shown) -> dict[str, float]:
        panel, trace = shown.panel, shown.trace
        panel.show()
        trace._watching = True
        await shown.rest()
        tree = grown("run", all_entries(), {})
        found: dict[str, float] = {}

        async def step(name: str, act: Callable[[], Any]) -> None:
            with Blocks() as blocks:
                act()
                await shown.rest()
            found[name] = max(found.get(name, 0.0), blocks.longest)

        await step("warm", lambda: trace._show(tree, "assistant"))
        trace._show(None)
        await shown.rest()
        await step("opened", lambda: trace._show(tree, "assistant"))
        root = tree.root
        assert root is not None
        for node in root.walk():
            panel.model.folding.choose(node, True)
        await step("all open", panel.model.refresh)
        for row in (9_000, 20, 5_000):
            node = panel.model.lines[row]
            await step("chosen", lambda node=node: panel.rows.show_node(node))  # type: ignore[misc]
        await step("folded", lambda: panel.rows.fold(root.children[3], False))
        await step("searched", lambda: panel.find_bar.wanted.emit("gauge-07", True))
        panel.show_view("events")
        await step("filtered", lambda: trace.filter_events(text="gauge-07"))
        await step("by type", lambda: trace.filter_events(text="", kind="tool-call"))
        del found["warm"]
        return found

    found = with_panel(work)
    return Figure(max(found.values()), None, ", ".join(f"{name} {figure:.1f}" for name, figure in found.items()))


@bench("trace: an event while nobody looks, on the Qt thread", target="<= 25", unit="us")
def closed() -> Figure:
    batches = list(run())
    app()
    events = sum(len(batch) for batch in batches)
    best = float("inf")
    for _ in range(3):
        trace = TraceViewModel(NoSource(), cast(Bridge, None), lambda data: data, {})
        trace.open_thread("t")
        started = time.thread_time()
        for batch in batches:
            trace.take(batch)
        best = min(best, (time.thread_time() - started) / events * 1e6)
    return Figure(best, None, f"{events:,} events")
