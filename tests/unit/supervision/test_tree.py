"""The live tree: places, pauses, budgets that change, deadlines, what the panel is told."""

from __future__ import annotations

import asyncio
import time

import pytest

from desktop.domain.errors import BudgetExhausted, CancellationError, NotFound
from desktop.domain.ids import AgentId
from desktop.domain.messages import Usage
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import RUN_ROUNDS, ExecutionBudget, Priority, SpawnBudget, Supervision
from desktop.domain.runs.tree import NodeState
from desktop.supervision.agent_slots import AgentSlots
from desktop.supervision.budgets import DEFAULT, BudgetTracker
from desktop.supervision.tree import MAX_ENDED, RunTree
from tests.harness.timeouts import WAIT_S, until
from tests.unit.supervision.kit import ROOT, Bench, said

DONE = AgentOutcome("completed")


class Time:
    """A clock that stands until it is told otherwise."""

    now = 0.0

    def __call__(self):
        return self.now


def grown(budget=None, spawn=None, **options):
    node = Supervision.root(ROOT, execution_budget=budget, spawn_budget=spawn)
    return RunTree(ROOT, node, CancellationToken(), **options)


def child(tree, path, parent=None, *, budget=None, priority=Priority.NORMAL):
    above = parent or tree.root
    node = above.supervision.spawn_child(above.agent_id, execution_budget=budget, priority=priority)
    return tree.add(above, path, AgentId("child", path), node)


@pytest.mark.spec("R-SUP-5")
def test_agents_alive_are_counted_with_the_root_whose_place_stays():
    count = AgentSlots(SpawnBudget(max_agents=3), "the test")
    slots = [count.acquire(Priority.NORMAL)[0] for _ in range(2)]
    with pytest.raises(BudgetExhausted, match=r"max_agents 3 .set by the test"):
        count.acquire(Priority.NORMAL)
    for slot in (*slots, *slots, count.root):
        count.release(slot)
    assert count.alive == 1


@pytest.mark.spec("R-SUP-6")
def test_only_the_important_take_a_place_from_the_lowest_and_newest_below_them():
    count = AgentSlots(SpawnBudget(max_agents=5), "the test")
    low, lower, newer, normal = (
        count.acquire(p)[0] for p in (Priority.LOW, Priority.BACKGROUND, Priority.BACKGROUND, Priority.NORMAL)
    )
    with pytest.raises(BudgetExhausted):
        count.acquire(Priority.NORMAL)
    first, victim = count.acquire(Priority.HIGH)
    assert victim is newer
    lower.paused = True
    assert count.acquire(Priority.HIGH)[1] is low, "who is paused already is no victim"
    critical, victim = count.acquire(Priority.CRITICAL)
    assert victim is normal
    lower.paused = False
    assert count.acquire(Priority.HIGH)[1] is lower
    with pytest.raises(BudgetExhausted):
        count.acquire(Priority.HIGH)  # all are as important, and the root keeps its place
    assert count.alive == 5
    assert [count.release(slot) for slot in (first, critical)] == [normal, low]
    assert newer.held is False
    assert count.release(newer) is None, "who has no place frees none"


@pytest.mark.spec("R-SUP-6")
def test_without_leave_to_preempt_nobody_does():
    count = AgentSlots(SpawnBudget(max_agents=1, allow_preempt=False), "the test")
    with pytest.raises(BudgetExhausted):
        count.acquire(Priority.CRITICAL)


@pytest.mark.spec("R-SUP-6")
async def test_a_preempted_agent_finishes_its_call_stops_before_the_next_and_resumes():
    bench, course = Bench(spawn=SpawnBudget(max_agents=3), priority=Priority.HIGH), []
    asked, answered = asyncio.Event(), asyncio.Event()

    async def answer(asked_for):
        if asked_for.messages[-1].text == "first":
            asked.set()
            await answered.wait()
        return said("x")

    async def victim(ctx, inbox):
        await ctx.llm("first")
        course.append("finished its call")
        await ctx.tool("read", {})
        course.append("tools are no model calls")
        await ctx.llm("second")
        course.append("resumed")

    async def urgent(ctx, inbox):
        answered.set()
        await until(lambda: bench.tree.find("0.1.1").state is NodeState.PREEMPTED)
        course.append("preempted")
        await ctx.llm("urgent")
        course.append("urgent is done")

    async def body(ctx, inbox):
        first = await ctx.spawn("victim-agent", "", priority="normal")
        await asked.wait()
        refused = await ctx.join(await ctx.spawn("urgent-agent", "", priority="normal"))
        assert (refused.status, refused.code) == ("limit", "limit.budget")
        second = await ctx.spawn("urgent-agent", "", priority="high")
        return [(await ctx.join(handle)).status for handle in (first, second)]

    bench.answer = answer
    assert (await bench.run(body, victim=victim, urgent=urgent)).value == ["completed", "completed"]
    assert course == ["finished its call", "tools are no model calls", "preempted", "urgent is done", "resumed"]


@pytest.mark.spec("R-SUP-5")
async def test_a_place_is_freed_also_when_an_agent_fails():
    bench = Bench(spawn=SpawnBudget(max_agents=3))

    async def fails(ctx, inbox):
        raise BudgetExhausted("no", limit="x")

    async def body(ctx, inbox):
        for _ in range(5):
            child = await ctx.spawn("fails-agent", "")
            assert (await ctx.join(child)).status == "limit"
        return bench.tree.agent_slots.alive

    assert (await bench.run(body, fails=fails)).value == 2


@pytest.mark.spec("R-SUP-7", "R-SUP-8", "R-SUP-11")
async def test_a_budget_stops_before_the_next_model_call_and_says_which_and_where_it_was_set():
    bench = Bench(budget=ExecutionBudget(max_rounds=5))

    async def eager(ctx, inbox):
        while True:
            await ctx.llm("hi")

    async def body(ctx, inbox):
        first = await ctx.join(await ctx.spawn("eager-agent", "", budget={"max_rounds": 2}))
        second = await ctx.join(await ctx.spawn("eager-agent", ""))
        return [first.status, first.detail, second.status, second.detail]

    outcome = await bench.run(body, eager=eager)
    assert outcome.value[::2] == ["limit", "limit"]
    assert "max_rounds 2 (set by the agent eager-agent/" in outcome.value[1]
    assert "max_rounds 5 (set by the run's budget)" in outcome.value[3]
    assert [bench.tree.find(path).budget.rounds for path in ("0.1.1", "0.1.2")] == [2, 3]
    assert len(bench.done) == 5
    tree = await Bench(budget=ExecutionBudget(max_tokens=20)).run(eager)
    assert (tree.status, tree.limit, tree.rounds) == ("limit", "max_tokens 20 (set by the run's budget)", 2)


@pytest.mark.spec("R-SUP-7")
async def test_a_running_budget_can_be_raised_and_lowered_for_a_branch():
    bench = Bench(budget=ExecutionBudget(max_rounds=3))

    async def body(ctx, inbox):
        for number in range(20):
            if number == 2:
                bench.tree.change_budget("0", ExecutionBudget(max_rounds=10))
            if number == 6:
                bench.tree.change_budget("0", ExecutionBudget(max_rounds=7), "me")
            await ctx.llm("hi")

    outcome = await bench.run(body)
    assert (outcome.status, outcome.rounds, outcome.limit) == ("limit", 7, "max_rounds 7 (set by me)")


@pytest.mark.spec("R-SUP-7", "R-LIM-5")
async def test_a_changed_limit_names_who_changed_it_and_the_others_who_set_them_before():
    bench = Bench(budget=ExecutionBudget(max_rounds=2, max_tokens=9_000))

    async def body(ctx, inbox):
        bench.tree.change_budget("0", ExecutionBudget(max_rounds=2, max_tokens=8_000), "me")
        facts = bench.tree.root.facts()
        assert (facts.budget_from, facts.budget_changed) == ("the run's budget", (("max_tokens", "me"),))
        while True:
            await ctx.llm("hi")

    assert (await bench.run(body)).limit == "max_rounds 2 (set by the run's budget)"


@pytest.mark.spec("R-SUP-9", "R-SUP-11")
async def test_a_deadline_ends_a_long_call_and_a_child_cannot_extend_it():
    bench = Bench()

    async def slow(ctx, inbox):
        bench.tree.change_budget("0", ExecutionBudget(deadline_s=0.05), "me")
        await ctx.sleep_until(time.time() + 3600)

    async def body(ctx, inbox):
        return await ctx.join(await ctx.spawn("slow-agent", "", budget={"deadline_s": 1000}))

    outcome = await bench.run(body, slow=slow)
    assert (outcome.status, outcome.limit) == ("limit", "deadline_s 0.05 (set by me)")
    assert [facts.state for facts in bench.tree.facts()] == [NodeState.LIMIT] * 3
    assert bench.log.told()[-1] == ".0 end limit"


@pytest.mark.spec("R-SUP-9")
async def test_a_branch_of_its_own_deadline_ends_alone_and_a_raised_one_does_not_end():
    bench = Bench(budget=ExecutionBudget(deadline_s=1000))

    async def slow(ctx, inbox):
        await ctx.sleep_until(time.time() + 3600)

    async def raised(ctx, inbox):
        bench.tree.change_budget(ctx.agent_id.split("/")[1], ExecutionBudget())
        await ctx.sleep_until(time.time() + 0.1)

    async def body(ctx, inbox):
        tight = {"deadline_s": 0.05}
        handles = [await ctx.spawn(kind, "", budget=tight) for kind in ("slow-agent", "raised-agent")]
        return [(await ctx.join(handle)).status for handle in handles]

    assert (await bench.run(body, slow=slow, raised=raised)).value == ["limit", "completed"]


@pytest.mark.spec("R-SUP-10")
async def test_a_clock_stands_while_a_person_is_waited_for_and_nobody_works():
    clock = Time()
    tree = grown(ExecutionBudget(deadline_s=1000), clock=clock)
    one, two = child(tree, "0.1"), child(tree, "0.2")
    with tree.root.idles(NodeState.JOINING):
        with one.waits():
            clock.now = 10
            assert (one.budget.elapsed_s, tree.root.budget.elapsed_s) == (0, 10), "the other child works"
            with two.waits(), two.waits():
                clock.now = 30
            assert (two.budget.waited_s, tree.root.budget.waited_s) == (20, 20), "two at once count once"
            tree.end(two, DONE)
            clock.now = 35
            assert (one.budget.waited_s, tree.root.budget.waited_s) == (35, 25)
        clock.now = 40
    tree.end(one, DONE)
    clock.now = 41
    assert (tree.root.budget.elapsed_s, tree.root.budget.waited_s) == (16, 25)
    assert one.facts().waited_s == 35
    tree.close()


def test_time_that_no_clock_was_told_of_can_be_told_afterwards():
    clock = Time()
    parent = BudgetTracker(ExecutionBudget(deadline_s=10), clock=clock)
    below = parent.child(ExecutionBudget(), "below")
    clock.now = 15
    below.waited(6)
    assert (parent.elapsed_s, parent.waited_s, parent.time_left_s, below.time_left_s) == (9, 6, 1, None)
    below.consume(Usage(1, 2, cost_usd=0.5))
    below.consume(Usage(1, 2))
    assert (parent.used.cost_usd, parent.rounds, parent.cost_known) == (0.5, 2, False), "a lower bound"


@pytest.mark.spec("R-SUP-9")
def test_time_in_which_it_is_not_its_turn_uses_up_no_deadline():
    clock = Time()
    budget = BudgetTracker(ExecutionBudget(deadline_s=10), clock=clock)
    clock.now = 2
    budget.rests(True)
    clock.now = 7
    assert (budget.elapsed_s, budget.time_left_s) == (2, 8)
    budget.rests(False)
    clock.now = 9
    assert (budget.elapsed_s, budget.time_left_s) == (4, 6)
    budget.rests(True)
    clock.now = 30
    budget.rests(False)
    assert (budget.elapsed_s, budget.time_left_s) == (4, 6)


@pytest.mark.spec("R-SUP-8", "R-LIM-5")
def test_of_the_rounds_that_are_left_here_and_above_the_fewer_hold_and_say_who_set_them():
    above = BudgetTracker(ExecutionBudget(max_rounds=10), where="the run")
    below = above.child(ExecutionBudget(max_rounds=3), "the child")
    free = above.child(ExecutionBudget(), "another child")
    assert (below.rounds_left().value, below.rounds_left().where) == (3, "the child")
    assert (free.rounds_left().value, free.rounds_left().where) == (10, "the run")
    below.consume(Usage(1, 1))
    free.consume(Usage(1, 1), rounds=8)
    assert (below.rounds_left().value, below.rounds_left().where) == (1, "the run, 10 in all")
    assert (below.rounds_left(1).value, below.rounds_left(1).where) == (2, "the run, 10 in all")


@pytest.mark.spec("R-SUP-8", "R-LIM-5")
def test_only_the_first_agent_has_a_bound_on_rounds_that_nobody_chose():
    root = BudgetTracker(ExecutionBudget(), where="the run")
    assert (root.budget.max_rounds, root.where_of("max_rounds")) == (RUN_ROUNDS, DEFAULT)
    assert root.child(ExecutionBudget(), "below").budget.max_rounds is None
    chosen = BudgetTracker(ExecutionBudget(max_rounds=7), where="the run")
    assert (chosen.budget.max_rounds, chosen.where_of("max_rounds")) == (7, "the run")


async def test_who_was_stopped_makes_no_further_call():
    tree = grown()
    await tree.root.may_call(model=True)
    tree.root.token.cancel("enough")
    for model in (True, False):
        with pytest.raises(CancellationError):
            await tree.root.may_call(model=model)
    tree.close()


async def test_after_questions_that_overlap_an_agent_does_what_it_did_before():
    tree = grown()
    node = tree.root
    for doing in ("read-file", "write-file"):
        node.does(NodeState.CALLING, doing)
        first, second = node.waits("one"), node.waits("two")
        first.__enter__()
        assert (node.state, node.doing) == (NodeState.WAITING, "one")
        second.__enter__()
        first.__exit__(None, None, None)
        assert (node.state, node.doing) == (NodeState.WAITING, "two")
        second.__exit__(None, None, None)
        assert (node.state, node.doing) == (NodeState.CALLING, doing)
    tree.close()


async def test_who_looks_for_an_agent_that_is_not_there_hears_whether_it_ended_or_never_was():
    tree = grown()
    with pytest.raises(NotFound, match="has ended long ago"):
        tree.find("0.9")
    with pytest.raises(NotFound, match="There is no such agent"):
        tree.find("7")
    assert tree.find("0") is tree.root
    tree.close()


@pytest.mark.spec("R-SUP-6", "R-CAN-10")
async def test_a_person_pauses_resumes_and_cancels_a_branch():
    bench, rounds = Bench(), {"0.1.1": 0, "0.1.2": 0}

    async def worker(ctx, inbox):
        while True:
            await ctx.llm("hi")
            rounds[ctx.agent_id.split("/")[1]] += 1
            await asyncio.sleep(0)

    async def body(ctx, inbox):
        handles = [await ctx.spawn("worker-agent", "") for _ in range(2)]
        tree = bench.tree
        await until(lambda: "0.1.2" in tree.nodes)
        tree.pause("0.1.1")
        await until(lambda: tree.find("0.1.1").state is NodeState.PAUSED)
        before = dict(rounds)
        await until(lambda: rounds["0.1.2"] > before["0.1.2"] + 5)
        assert rounds["0.1.1"] == before["0.1.1"]
        assert [f.pause_asked for f in tree.facts()] == [False, False, True, False]
        tree.pause("0")
        tree.resume("0.1.1")
        await until(lambda: tree.find("0.1.2").state is NodeState.PAUSED)
        assert tree.find("0.1.1").paused, "the branch above is paused"
        tree.resume("0")
        await until(lambda: rounds["0.1.1"] > before["0.1.1"])
        tree.pause("0.1.1")
        tree.cancel("0.1.1", "not needed")
        tree.cancel("0.1.2")
        outcomes = [await ctx.join(handle) for handle in handles]
        return [outcome.status for outcome in outcomes]

    outcome = await bench.run(body, worker=worker)
    assert outcome.value == ["cancelled", "cancelled"]
    assert [bench.tree.find(path).detail for path in ("0.1.1", "0.1.2")] == ["not needed", "cancelled"]
    with pytest.raises(NotFound):
        bench.tree.find("0.9")


async def test_what_changed_is_told_together_and_the_ended_do_not_pile_up():
    told = []
    tree = grown(spawn=SpawnBudget(max_agents=10), publish=told.append)
    for number in range(MAX_ENDED + 50):
        node = child(tree, f"0.{number}")
        for _ in range(20):
            node.does(NodeState.THINKING, model="m/m")
            node.does(NodeState.WORKING)
        tree.end(node, DONE)
    assert told == [], "nothing is told at once"
    await until(lambda: bool(told))
    assert len(told) == 1
    assert len(tree.nodes) == MAX_ENDED + 1
    assert len(tree.facts()) == MAX_ENDED + 1
    tree.root.budget.consume(Usage(3, 4, cost_usd=0.25))
    tree.end(tree.root, DONE)
    tree.close()
    (last,) = told[-1]
    assert (last.state, last.input_tokens, last.cost_usd, last.rounds) == (NodeState.COMPLETED, 3, 0.25, 1)


@pytest.mark.spec("R-SUP-6")
def test_a_free_place_goes_to_one_that_can_use_it_before_one_that_a_person_has_paused():
    count = AgentSlots(SpawnBudget(max_agents=3), "the test")
    normal, _ = count.acquire(Priority.NORMAL)
    low, _ = count.acquire(Priority.LOW)
    first, _ = count.acquire(Priority.HIGH)
    second, _ = count.acquire(Priority.HIGH)
    assert (normal.held, low.held) == (False, False)
    normal.paused = True
    assert count.release(first) is low
    assert count.release(second) is normal, "there is nobody else"


@pytest.mark.spec("R-SUP-10")
async def test_a_paused_agent_uses_none_of_its_time():
    clock = Time()
    tree = grown(ExecutionBudget(deadline_s=100_000), clock=clock)
    tree.pause("0")
    waiting = asyncio.ensure_future(tree.root.may_call(model=True))
    await asyncio.sleep(0)
    clock.now += 1000
    assert tree.root.budget.elapsed_s == 0
    tree.resume("0")
    await asyncio.wait_for(waiting, WAIT_S)
    clock.now += 60
    assert tree.root.budget.elapsed_s == 60
    tree.close()


@pytest.mark.spec("R-CAN-5")
async def test_the_tokens_of_agents_that_ended_leave_the_one_above():
    tree = grown()
    nodes = [child(tree, f"0.{number}") for number in range(1, 4)]
    assert len(tree.root.token._children) == 3
    for node in nodes:
        tree.end(node, DONE)
    assert len(tree.root.token._children) == 0
    tree.close()
