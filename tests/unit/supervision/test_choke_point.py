"""What stands before every model request is looked at when the request is made, not when it began to wait."""

from __future__ import annotations

import asyncio

import pytest

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.request import ask_within
from desktop.agents.loop.retry import RetryPolicy
from desktop.domain.errors import BudgetExhausted, ModelRateLimited, ModelServerError, ToolFailure
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.runs.tree import NodeState
from desktop.supervision.choke_point import ModelAdmission
from desktop.supervision.model_queue import ModelQueue
from tests.harness.timeouts import WAIT_S, until
from tests.unit.agents.script import Script, says
from tests.unit.supervision.kit import Bench, ask, said, unfinished
from tests.unit.supervision.test_live_runs import Chat, wants
from tests.unit.supervision.test_tree import grown


async def fan_out(ctx, inbox):
    children = [await ctx.spawn("asker-agent", str(number)) for number in range(10)]
    return [(await ctx.join(child)).status for child in children]


async def asker(ctx, inbox):
    return (await ctx.llm(inbox[0]["text"]))["text"]


@pytest.mark.spec("R-SUP-7", "R-SUP-8")
@pytest.mark.parametrize("places", [1, 4, 16])
async def test_ten_agents_that_ask_at_once_do_not_go_beyond_the_rounds_of_their_tree(places):
    async def slow(_request):
        await asyncio.sleep(0.005)
        return said("yes")

    bench = Bench(budget=ExecutionBudget(max_rounds=3), answer=slow, queue=ModelQueue(places))
    outcome = await bench.run(fan_out, asker=asker)
    assert len([line for line in bench.done if line.startswith("llm")]) == 3
    assert sorted(outcome.value) == ["completed"] * 3 + ["limit"] * 7
    assert bench.tree.root.budget.rounds == 3


@pytest.mark.spec("R-SUP-7")
async def test_requests_that_fail_are_rounds_too_also_when_they_are_replayed():
    codes: list[str] = []

    async def stubborn(ctx, inbox):
        for number in range(50):
            try:
                await ctx.llm(str(number))
            except ToolFailure as error:
                codes.append(error.code)

    async def broken(_request):
        raise ModelServerError("down")

    bench = Bench(budget=ExecutionBudget(max_rounds=3), answer=broken)
    first = await bench.run(stubborn)
    bench.log.records = unfinished(bench.log.records)
    again = await bench.run(stubborn)
    assert (first.status, again.status) == ("completed", "completed")
    assert codes == [*["model.server_error"] * 3, *["limit.budget"] * 47] * 2
    assert len(bench.done) == 3


@pytest.mark.spec("R-SUP-6", "R-SUP-14")
async def test_a_chat_paused_while_it_waits_in_the_queue_asks_nothing_and_gives_its_place_on():
    chat = Chat(says("done"))
    await chat.queue.acquire(Priority.NORMAL, CancellationToken())
    running = asyncio.ensure_future(chat.chat())
    await until(lambda: chat.queue.waiting == 1)
    chat.runs.tree("run").pause("0")
    chat.queue.release()
    await until(lambda: chat.runs.tree("run").root.state is NodeState.PAUSED)
    assert (chat.script.requests, chat.queue.full) == ([], False)
    chat.runs.tree("run").resume("0")
    assert (await asyncio.wait_for(running, WAIT_S)).end == "response"


@pytest.mark.spec("R-SUP-7")
async def test_a_budget_that_is_used_up_while_the_chat_waits_in_the_queue_holds():
    chat = Chat(says("done"))
    await chat.queue.acquire(Priority.NORMAL, CancellationToken())
    running = asyncio.ensure_future(chat.chat())
    await until(lambda: chat.queue.waiting == 1)
    chat.runs.tree("run").root.budget.consume(None)
    chat.runs.tree("run").change_budget("0", ExecutionBudget(max_rounds=1), "the panel")
    chat.queue.release()
    result = await asyncio.wait_for(running, WAIT_S)
    assert (result.end, chat.script.requests) == ("budget", [])
    assert not chat.queue.full


@pytest.mark.spec("R-SUP-7")
async def test_a_budget_that_is_used_up_already_is_told_without_waiting_in_the_queue():
    tree, queue = grown(ExecutionBudget(max_rounds=1)), ModelQueue(1)
    tree.root.budget.consume(None)
    await queue.acquire(Priority.NORMAL, CancellationToken())
    entering = asyncio.ensure_future(ModelAdmission(tree.root, queue, tree.root.token).__aenter__())
    for _ in range(10):
        await asyncio.sleep(0)
    assert (entering.done(), queue.waiting) == (True, 0)
    with pytest.raises(BudgetExhausted):
        await entering
    tree.close()


async def test_an_agent_thinks_only_while_its_model_is_asked():
    tree = grown()
    async with ModelAdmission(tree.root, ModelQueue(1), tree.root.token, "m/m"):
        assert (tree.root.state, tree.root.model) == (NodeState.THINKING, "m/m")
    assert (tree.root.state, tree.root.model) == (NodeState.WORKING, "m/m")
    tree.close()


@pytest.mark.spec("R-CAN-10", "R-SUP-6")
@pytest.mark.parametrize("answers", [(says("never"),), (wants(), says("never"))], ids=["before a request", "later"])
async def test_a_paused_chat_is_stopped_without_being_resumed(answers):
    async def pause(args, context):
        chat.runs.tree("run").pause("0")
        return "done"

    chat = Chat(*answers, body=pause)
    if len(answers) == 1:
        await chat.queue.acquire(Priority.NORMAL, CancellationToken())
    running = asyncio.ensure_future(chat.chat())
    await until(lambda: bool(chat.runs._trees))
    if len(answers) == 1:
        chat.runs.tree("run").pause("0")
        chat.queue.release()
    await until(lambda: chat.runs.tree("run").root.state is NodeState.PAUSED)
    chat.token.cancel("stopped")
    result = await asyncio.wait_for(running, WAIT_S)
    assert result.end == "aborted"
    assert len(chat.script.requests) == len(answers) - 1


@pytest.mark.spec("R-CAN-10", "R-SUP-6")
async def test_a_paused_child_ends_with_its_branch():
    async def parent(ctx, inbox):
        child = await ctx.spawn("asker-agent", "x")
        return (await ctx.join(child)).status

    async def paused(_ctx, inbox):
        bench.tree.pause("0.1.1")
        return await asker(_ctx, inbox)

    bench = Bench()
    running = asyncio.ensure_future(bench.run(parent, asker=paused))
    await until(lambda: any(facts.state is NodeState.PAUSED for facts in bench.told))
    bench.tree.cancel("0.1.1", "enough")
    assert (await asyncio.wait_for(running, WAIT_S)).value == "cancelled"
    assert bench.done == []


@pytest.mark.spec("R-SUP-14", "R-LOOP-14")
async def test_who_waits_before_another_attempt_is_in_nobodys_way_and_may_not_ask_beyond_its_budget():
    chat = Chat()
    tree = await chat.runs.open(chat.meta, Chat().meta.supervision.root_id)
    resting, go_on = asyncio.Event(), asyncio.Event()

    async def sleep(_seconds):
        resting.set()
        await go_on.wait()

    script = Script((ModelRateLimited("slow down"),), says("never"))
    answerer = Answerer(script, retry=RetryPolicy(), sleep=sleep)
    wanted = ModelRequest(ModelRef("m", "m"), (ask("x"),))
    asking = asyncio.ensure_future(ask_within([chat.runs.models], answerer, wanted, chat.meta, lambda _event: None))
    await asyncio.wait_for(resting.wait(), WAIT_S)
    assert not chat.queue.full
    tree.change_budget("0", ExecutionBudget(max_rounds=1), "the panel")
    tree.root.budget.consume(None)
    go_on.set()
    with pytest.raises(BudgetExhausted, match="set by the panel"):
        await asyncio.wait_for(asking, WAIT_S)
    assert (len(script.requests), chat.queue.full) == (1, False)
    await chat.runs.close("run", AgentOutcome("limit"))
