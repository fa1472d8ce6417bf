"""What the library ships of agents in code: having others work at once, watching, and what stands around their work."""

from __future__ import annotations

import asyncio

import pytest

from desktop.agents.hosted.metrics import MAX_NAMES, Metrics
from desktop.domain.errors import ToolFailure
from desktop.domain.messages import Usage
from desktop.domain.runs.events import (
    MessageClosed,
    RetryScheduled,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallFinished,
)
from desktop.domain.runs.supervision import SpawnBudget
from desktop.supervision.bus import Bus
from tests.harness.timeouts import until
from tests.unit.supervision.kit import Bench, unfinished


@pytest.mark.spec("R-SUP-16", "R-JRN-3")
async def test_an_orchestrator_fans_out_waits_and_puts_together():
    alive: list[int] = []
    bench = Bench()

    async def worker(ctx, inbox):
        alive.append(bench.tree.agent_slots.alive)
        await until(lambda: len(alive) >= 3, "as many at work as may be at once")
        await ctx.tool("read", {"of": inbox[0]["text"]})
        return inbox[0]["text"].upper()

    async def body(ctx, inbox):
        ends = await ctx.fan_out([("worker-agent", letter) for letter in "abcdefgh"], at_once=3)
        return [end.value for end in ends]

    assert (await bench.run(body, worker=worker)).value == list("ABCDEFGH")
    assert max(alive) == 5, "three, the one that has them work, and the run's own"


@pytest.mark.spec("R-SUP-16", "R-JRN-3")
async def test_a_child_that_fails_does_not_stop_the_others():
    async def worker(ctx, inbox):
        if inbox[0]["text"] == "b":
            raise ToolFailure("no b")
        return inbox[0]["text"]

    async def body(ctx, inbox):
        ends = await ctx.fan_out([("worker-agent", letter) for letter in "abc"])
        return [[end.status, end.value or end.detail] for end in ends]

    outcome = await Bench().run(body, worker=worker)
    assert outcome.value[::2] == [["completed", "a"], ["completed", "c"]]
    status, detail = outcome.value[1]
    assert (status, "no b" in detail) == ("failed", True)


@pytest.mark.spec("R-SUP-5", "R-SUP-16")
async def test_where_there_is_no_place_for_a_child_it_ends_at_that_limit_and_nothing_else_is_lost():
    def refused():
        return sum((one.name, one.phase) == ("worker-agent", "failed") for one in few.log.records)

    async def worker(ctx, inbox):
        await until(lambda: refused() >= 9, "the others found no place")
        return (await ctx.llm(inbox[0]["text"]))["text"]

    async def body(ctx, inbox):
        ends = await ctx.fan_out([("worker-agent", str(number)) for number in range(12)], at_once=12)
        return [end.status for end in ends]

    few = Bench(spawn=SpawnBudget(max_agents=5))
    outcome = await few.run(body, worker=worker)
    assert sorted(outcome.value) == ["completed"] * 3 + ["limit"] * 9
    few.log.records = unfinished(few.log.records)
    assert (await few.run(body, worker=worker)).value == outcome.value
    assert len(few.done) == 3, "what had ended is not asked again"


@pytest.mark.spec("R-SUP-16", "C-25")
async def test_an_agent_that_watches_adds_up_what_its_run_does():
    bus, bench = Bus(), Bench()
    where = {"thread_id": "t", "run_id": "run"}

    async def body(ctx, inbox):
        watching = await ctx.spawn("watcher-agent", "x")
        await until(lambda: bool(bus._listeners))
        publish_all(bus, where)
        await ctx.emit("enough")
        return (await ctx.join(watching)).value

    async def watcher(ctx, inbox):
        answer = await ctx.tool("run-metrics", {"seconds": 60, "topic": "enough"})
        return answer.value if answer.ok else answer.text

    bench.subscribe = bus.subscribe
    outcome = await bench.run(body, watcher=watcher)
    assert outcome.value == {
        "runs_started": 2,
        "runs_ended": {"response": 1},
        "rounds": {"end": 4},
        "input_tokens": 301,
        "output_tokens": 31,
        "cost_usd": 1.25,
        "cost_known": False,
        "tool_calls": {"bash": 2},
        "tool_failures": {"bash": 1},
        "tool_ms": {"bash": 40},
        "retries": 1,
        "missed": 0,
    }
    assert bus._listeners == []


def publish_all(bus: Bus, where: dict[str, str]) -> None:
    bus.publish(RunStarted(**where, agent="x", model="m", user_message_id="u"))
    for number in range(3):
        bus.publish(TextArrived(**where, message_id="m", text="x"))
        usage = Usage(100, 10, cost_usd=0.5) if number else Usage(100, 10)
        bus.publish(MessageClosed(**where, message_id="m", stop_reason="end", usage=usage))
    for failed in (False, True):
        bus.publish(
            ToolCallFinished(
                **where,
                message_id="m",
                call_id="c",
                tool="bash",
                state="done",
                text="",
                is_error=failed,
                code="",
                elapsed_ms=20,
            )
        )
    bus.publish(RetryScheduled(**where, attempt=1, delay_s=1.0, code="x", detail=""))
    bus.publish(RunEnded(thread_id="t", run_id="another", reason="error"))
    below = {"thread_id": "child", "run_id": "below"}
    bus.publish(RunStarted(**below, agent="y", model="m", user_message_id="u", above="run"))
    bus.publish(MessageClosed(**below, message_id="m", stop_reason="end", usage=Usage(1, 1, cost_usd=0.25)))
    bus.publish(RunEnded(**below, reason="response"))
    bus.publish(MessageClosed(**below, message_id="m", stop_reason="end", usage=Usage(1000, 1000)))


@pytest.mark.spec("R-SUP-16")
async def test_an_agent_that_watches_and_is_cancelled_leaves_the_bus():
    bus, bench = Bus(), Bench()

    async def body(ctx, inbox):
        await ctx.tool("run-metrics", {"seconds": 3600})

    bench.subscribe = bus.subscribe
    running = asyncio.ensure_future(bench.run(body))
    await until(lambda: bool(bus._listeners))
    bench.token.cancel()
    assert (await running).status == "cancelled"
    await until(lambda: not bus._listeners, "it has left the bus")


def test_names_that_nobody_bounded_do_not_fill_the_memory():
    metrics = Metrics()
    for number in range(MAX_NAMES + 100):
        metrics.add(RunEnded(thread_id="t", run_id="r", reason=f"r{number}"))
    assert len(metrics.runs_ended) == MAX_NAMES + 1
    assert metrics.runs_ended["other"] == 100


class Counting:
    """A layer that counts what it wraps."""

    def __init__(self):
        self.wrapped = 0

    async def process(self, context, call_next):
        self.wrapped += getattr(context, "tool", "llm") in ("llm", "write")
        await call_next()


@pytest.mark.spec("R-MW-8", "R-MW-6")
async def test_middleware_wraps_what_is_really_done_and_nothing_that_the_journal_gives_back():
    chat, function = Counting(), Counting()

    async def worker(ctx, inbox):
        await ctx.tool("write", {"of": "w"})

    async def body(ctx, inbox):
        await ctx.llm("one")
        await ctx.tool("write", {"of": "a"})
        await ctx.join(await ctx.spawn("worker-agent", "x"))
        await ctx.llm("two")

    bench = Bench(chat_layers=(chat,), layers=(function,))
    await bench.run(body, worker=worker)
    assert (chat.wrapped, function.wrapped) == (2, 2)
    second = [number for number, record in enumerate(bench.log.records) if record.name == "m/m"][2]
    bench.log.records = bench.log.records[: second - 1]
    bench.done.clear()
    await bench.run(body, worker=worker)
    assert bench.done == ["llm two"]
    assert (chat.wrapped, function.wrapped) == (3, 2), "only the second request was made again"


@pytest.mark.spec("R-SUP-15", "Q-11")
async def test_a_class_with_run_is_an_agent_too_and_knows_its_address():
    class Plain:
        async def run(self, ctx, inbox):
            return [ctx.agent_id, len(inbox), dict(ctx.args)]

    assert (await Bench().run(Plain)).value == ["main-agent/0.1", 1, {"message": "go"}]
