"""Bus, budgets, journal, tasks and the queue of runs."""

from __future__ import annotations

import asyncio

import pytest

from desktop.domain.errors import BudgetExhausted
from desktop.domain.ids import AgentId
from desktop.domain.messages import Usage
from desktop.domain.runs.events import Event, RunEnded, RunStarted, TextArrived
from desktop.domain.runs.supervision import ExecutionBudget, Priority, SpawnBudget, Supervision
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import Bus
from desktop.supervision.tasks import RunSlots, TaskOwner
from tests.harness.timeouts import WAIT_S, until


def text(run: str, number: int) -> TextArrived:
    return TextArrived(thread_id="t", run_id=run, message_id="m", text=str(number))


def begun(run: str, above: str = "") -> RunStarted:
    return RunStarted(thread_id="t", run_id=run, agent="x", model="m", user_message_id="u", above=above)


def told(event: Event) -> str:
    if isinstance(event, TextArrived):
        return f"{event.run_id} {event.text}"
    return f"{event.run_id} {'begins' if isinstance(event, RunStarted) else 'ends'}"


@pytest.mark.spec("R-TRC-7", "R-LOOP-16")
@pytest.mark.expects_log("a listener failed")
def test_a_listener_that_raises_neither_stops_the_run_nor_the_others() -> None:
    bus, heard = Bus(), []

    def broken(_: object) -> None:
        raise RuntimeError("mine")

    bus.listen(broken)
    forget = bus.listen(heard.append)
    bus.publish(text("r", 1))
    forget()
    bus.publish(text("r", 2))
    assert len(heard) == 1


@pytest.mark.spec("R-TRC-8")
async def test_one_subscription_shows_a_run_with_the_agents_called_below_it_and_no_other_run() -> None:
    bus = Bus()
    mine, every = bus.subscribe("a"), bus.subscribe()
    for event in (
        begun("a"),
        text("other", 1),
        begun("below", above="a"),
        begun("of other", above="other"),
        begun("deeper", above="below"),
        text("deeper", 2),
        text("below", 3),
        text("of other", 4),
        RunEnded(thread_id="t", run_id="below", reason="response"),
        text("below", 5),
        text("a", 6),
        RunEnded(thread_id="t", run_id="a", reason="response"),
        text("a", 7),
    ):
        bus.publish(event)
    mine.close()
    every.close()
    assert [told(e) async for e in mine] == [
        "a begins",
        "below begins",
        "deeper begins",
        "deeper 2",
        "below 3",
        "below ends",
        "a 6",
        "a ends",
        "a 7",
    ]
    assert len([told(e) async for e in every]) == 13


async def test_who_has_left_the_bus_hears_nothing_more() -> None:
    bus = Bus()
    left, stays = bus.subscribe("a"), bus.subscribe("a")
    bus.publish(text("a", 1))
    left.close()
    bus.publish(text("a", 2))
    stays.close()
    assert [told(e) async for e in left] == ["a 1"]
    assert [told(e) async for e in stays] == ["a 1", "a 2"]


@pytest.mark.spec("R-TRC-7")
async def test_a_slow_subscriber_loses_the_oldest_deltas_and_nothing_else() -> None:
    bus = Bus()
    slow = bus.subscribe(capacity=3)
    bus.publish(RunEnded(thread_id="t", run_id="r", reason="error"))
    for number in range(10):
        bus.publish(text("r", number))
    for _ in range(4):
        bus.publish(RunEnded(thread_id="t", run_id="r", reason="response"))
    bus.publish(text("r", 99))
    slow.close()
    got = [event async for event in slow]
    assert [type(e).__name__ for e in got] == ["RunEnded"] * 5
    assert slow.dropped == 11


@pytest.mark.spec("R-SUP-7", "R-SUP-8")
def test_the_root_bounds_the_whole_tree_and_a_child_may_be_tighter() -> None:
    root = BudgetTracker(ExecutionBudget(max_tokens=100))
    first = root.child(ExecutionBudget(), "the first child")
    second = root.child(ExecutionBudget(max_tokens=10), "the second child")
    first.consume(Usage(40, 5))
    second.consume(Usage(9, 0))
    root.check()
    second.check()
    second.consume(Usage(1, 0))
    with pytest.raises(BudgetExhausted, match=r"max_tokens 10 .set by the second child"):
        second.check()
    first.consume(Usage(45, 0))
    with pytest.raises(BudgetExhausted, match="max_tokens 100"):
        first.check()
    assert root.used.input_tokens == 95


@pytest.mark.spec("R-SUP-10", "R-SUP-9", "R-SUP-7")
def test_waiting_for_a_person_does_not_use_up_the_deadline() -> None:
    now = [0.0]
    tracker = BudgetTracker(ExecutionBudget(deadline_s=10), clock=lambda: now[0])
    now[0] = 15
    tracker.waited(6)
    tracker.check()
    assert tracker.elapsed_s == 9
    now[0] = 16
    with pytest.raises(BudgetExhausted, match="deadline_s 10"):
        tracker.check()


@pytest.mark.spec("R-SUP-7")
def test_cost_and_rounds_are_bounded_too_and_an_unknown_cost_adds_nothing() -> None:
    tracker = BudgetTracker(ExecutionBudget(max_cost_usd=0.5, max_rounds=3))
    tracker.consume(Usage(1, 1, cost_usd=None))
    tracker.consume(Usage(1, 1, cost_usd=0.4))
    assert tracker.broken() is None
    assert tracker.rounds_left().value == 1
    tracker.consume(None)
    assert tracker.broken().name == "max_rounds"
    dear = BudgetTracker(ExecutionBudget(max_cost_usd=0.5))
    dear.consume(Usage(1, 1, cost_usd=0.6))
    assert dear.broken().name == "max_cost_usd"


@pytest.mark.spec("R-SUP-14")
async def test_waiting_runs_start_by_priority_then_in_order_and_a_cancelled_one_leaves_the_queue() -> None:
    slots, started = RunSlots(1), []

    async def run(name: str, priority: Priority) -> None:
        async with slots.slot(priority):
            started.append(name)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        async with slots.slot():
            for name, priority in (("low", Priority.LOW), ("a", Priority.NORMAL), ("gone", Priority.CRITICAL)):
                task = group.create_task(run(name, priority))
            group.create_task(run("b", Priority.NORMAL))
            group.create_task(run("high", Priority.HIGH))
            await asyncio.sleep(0)
            assert slots.waiting == 5
            task.cancel()
            await asyncio.sleep(0)
    assert started == ["high", "a", "b", "low"]
    async with slots.slot():
        assert slots.waiting == 0


@pytest.mark.spec("R-SUP-5", "R-CAN-11")
async def test_a_slot_given_to_a_run_that_was_just_cancelled_goes_to_the_next() -> None:
    slots, got = RunSlots(1), asyncio.Event()

    async def run() -> None:
        async with slots.slot():
            got.set()

    async with asyncio.TaskGroup() as group:
        async with slots.slot():
            first = group.create_task(run())
            await asyncio.sleep(0)
            group.create_task(run())
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(got.wait(), WAIT_S)


async def test_an_owner_sees_its_tasks_out_and_names_those_that_will_not_end() -> None:
    owner = TaskOwner()
    ended: list[str] = []

    async def polite() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("polite")

    async def fails() -> None:
        raise ValueError("its awaiter's business")

    async def stubborn() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue

    owner.spawn(polite(), "polite")
    failing = owner.spawn(fails(), "failing")
    with pytest.raises(ValueError, match="awaiter"):
        await failing
    owner.spawn(stubborn(), "stubborn")
    await asyncio.sleep(0)
    assert owner.alive == 2
    assert await owner.close(timeout_s=0.05) == ["stubborn"]
    assert ended == ["polite"]
    with pytest.raises(RuntimeError):
        owner.spawn(polite(), "late")
    await until(lambda: owner.alive == 0, "the end of the stubborn one")


@pytest.mark.spec("R-SUP-2", "R-SUP-5", "R-SUP-14")
def test_every_root_is_a_run_of_its_own_and_the_numbers_are_those_of_the_source() -> None:
    one, other = (Supervision.root(AgentId("a", "1")) for _ in range(2))
    assert one.run_id != other.run_id
    assert one.session_id != other.session_id
    assert SpawnBudget() == SpawnBudget(max_agents=50, allow_preempt=True)
    assert [int(priority) for priority in Priority] == [0, 1, 2, 4, 8]
