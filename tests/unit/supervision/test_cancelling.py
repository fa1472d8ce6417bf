"""Cancelling a run ends everything under it, and thousands of runs leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref

import pytest

from desktop.domain.ids import AgentId
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import ExecutionBudget, HistoryRetention, Priority, SpawnBudget, Supervision
from desktop.domain.runs.tree import NodeState
from desktop.domain.tools import ToolResult
from desktop.supervision.model_queue import ModelQueue
from tests.harness.timeouts import WAIT_S, until
from tests.unit.supervision.kit import ROOT, Bench


def leaf(bench: Bench):
    """An agent that waits in the way it is told to."""

    async def wait(ctx, inbox):
        kind = inbox[0]["text"]
        if kind == "llm":
            await ctx.llm("hi")
        elif kind == "tool":
            await ctx.tool("read", {})
        elif kind == "sleep":
            await ctx.sleep_until(time.time() + 3600)
        else:
            bench.tree.pause(ctx.agent_id.split("/")[1])
            await ctx.tool("write", {})

    return wait


def busy(bench: Bench, ended: list[str]):
    """Agents that do all that can be waited for: models, tools, the queue, sleeps, children."""

    async def never(*_):
        await asyncio.sleep(3600)

    async def tool(name, arguments, meta):
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(name)
        return ToolResult("")

    bench.answer, bench.act = never, tool

    async def branch(ctx, inbox):
        handles = [await ctx.spawn("leaf-agent", kind) for kind in ("llm", "tool", "sleep", "pause") * 3]
        for handle in handles:
            await ctx.join(handle)

    async def body(ctx, inbox):
        handles = [await ctx.spawn("branch-agent", "x") for _ in range(3)]
        for handle in handles:
            await ctx.join(handle)

    return body, {"leaf": leaf(bench), "branch": branch}


def settled(bench: Bench) -> bool:
    """Everybody has come to where they wait."""
    states = [facts.state for facts in bench.tree.facts()]
    return len(states) == 41 and NodeState.WORKING not in states


@pytest.mark.spec("R-CAN-10", "R-CAN-4", "R-CAN-11")
@pytest.mark.parametrize("how", ["token", "thread", "task"])
async def test_cancelling_a_run_ends_every_agent_under_it_and_is_written(how):
    bench, ended = Bench(queue=ModelQueue(4), spawn=SpawnBudget(max_agents=50)), []
    body, kinds = busy(bench, ended)
    before = len(asyncio.all_tasks())
    running = asyncio.ensure_future(bench.run(body, **kinds))
    await until(lambda: settled(bench) if hasattr(bench, "tree") else False)
    if how == "task":
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    else:
        cancel = bench.token.cancel
        await asyncio.to_thread(cancel, "enough") if how == "thread" else cancel("enough")
        outcome = await asyncio.wait_for(running, WAIT_S)
        assert outcome.status == "cancelled"
        assert bench.tree.find("0.1").detail == "enough"
        assert sum(" return cancelled" in line for line in bench.log.told()) == 40
    assert [line for line in bench.log.told() if " end " in line] == [".0 end cancelled"]
    assert {facts.state for facts in bench.tree.facts()} == {NodeState.CANCELLED}
    await until(lambda: ended == ["read"] * 9)
    await until(lambda: len(asyncio.all_tasks()) == before)
    assert bench.queue.waiting == 0
    assert not bench.queue.full


@pytest.mark.spec("R-CAN-10")
async def test_children_do_not_outlive_the_agent_that_started_them():
    bench = Bench()

    async def sleeper(ctx, inbox):
        await ctx.sleep_until(time.time() + 3600)

    async def body(ctx, inbox):
        await ctx.spawn("sleeper-agent", "x")
        await until(lambda: "0.1.1" in bench.tree.nodes)
        return ["done"]

    outcome = await bench.run(body, sleeper=sleeper)
    assert outcome.value == ["done"]
    assert bench.tree.find("0.1.1").facts().detail == "the agent that started it has ended"


@pytest.mark.spec("R-CAN-8", "R-CAN-7", "R-SUP-3", "R-SUP-12")
async def test_a_child_has_a_token_and_a_place_of_its_own_in_the_same_run():
    seen = []

    async def act(name, arguments, meta):
        seen.append(meta)
        return ToolResult("x")

    async def child(ctx, inbox):
        await ctx.tool("read", {})

    async def body(ctx, inbox):
        await ctx.tool("read", {})
        await ctx.join(await ctx.spawn("child-agent", "x", priority="low"))

    await Bench(act=act).run(body, child=child)
    above, below = seen
    assert (above.run_id, above.thread_id) == (below.run_id, below.thread_id)
    assert above.cancellation is not below.cancellation
    assert below.supervision.spawn_budget is above.supervision.spawn_budget
    assert (above.supervision.depth, below.supervision.depth) == (1, 2)
    assert below.supervision.parent_id == AgentId("main-agent", below.supervision.parent_id.key)
    assert (above.supervision.priority, below.supervision.priority) == (Priority.NORMAL, Priority.LOW)
    assert below.supervision.retention is HistoryRetention.RUN
    assert above.trace_id != below.trace_id


@pytest.mark.spec("R-SUP-1", "R-SUP-2", "R-SUP-3", "R-SUP-4", "R-SUP-17")
def test_a_place_in_a_run_is_plain_data_and_back():
    budget = ExecutionBudget(1000, 0.5, 20, 60.0)
    root = Supervision.root(ROOT, execution_budget=budget, spawn_budget=SpawnBudget(7, False))
    child = root.spawn_child(ROOT, priority=Priority.CRITICAL, retention=HistoryRetention.NONE)
    for node in (root, child):
        assert Supervision.from_plain(node.to_plain()) == node
    assert child.execution_budget is budget
    assert (root.depth, root.parent_id, child.depth) == (0, None, 1)
    with pytest.raises(AttributeError):
        root.depth = 3


async def many(count: int) -> None:
    """Whole runs, with a child that ends and one that is cancelled, all under one long-lived token and queue."""
    queue = ModelQueue(2)
    everything = CancellationToken()

    async def sleeper(ctx, inbox):
        await ctx.sleep_until(time.time() + 3600)

    async def quick(ctx, inbox):
        return (await ctx.llm("hi"))["text"]

    async def body(ctx, inbox):
        await ctx.spawn("sleeper-agent", "x")
        joined = await ctx.join(await ctx.spawn("quick-agent", "x"))
        await ctx.tool("write", {"of": "x"})
        return [joined.value]

    for _ in range(count):
        bench = Bench(queue=queue, budget=ExecutionBudget(deadline_s=1000), above=everything)
        assert (await bench.run(body, sleeper=sleeper, quick=quick)).status == "completed"
        everything._children.discard(bench.token)
    assert len(everything._children) == 0


def threads_of_our_own() -> list[str]:
    """All threads but those of the loop's pool: how many it has begun depends on how busy the machine is."""
    return [thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")]


@pytest.mark.spec("R-CAN-5")
async def test_runs_leave_no_task_no_timer_and_nothing_of_themselves():
    bench = Bench(budget=ExecutionBudget(deadline_s=1000))

    async def body(ctx, inbox):
        await ctx.llm("hi")

    threads = threads_of_our_own()
    await bench.run(body)
    gone = [weakref.ref(bench.tree), weakref.ref(bench.tree.root.budget)]
    assert bench.live._trees == {}
    del bench.tree, bench.live, bench.world
    bench.told.clear()
    bench.events.clear()
    await asyncio.sleep(0)
    gc.collect()
    assert [ref() for ref in gone] == [None] * 2
    assert len(asyncio.all_tasks()) == 1
    assert threads_of_our_own() == threads


@pytest.mark.soak
@pytest.mark.spec("R-CAN-5")
async def test_a_thousand_runs_leave_the_memory_as_it_was():
    def memory() -> int:
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    await many(100)
    before = memory()
    await many(1_000)
    assert memory() <= before * 1.02
    assert len(asyncio.all_tasks()) == 1
