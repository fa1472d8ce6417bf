"""A chat's run under supervision, through the real loop and the real pipeline, neither of which knows of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.rounds import RoundLoop
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BugError, NotFound
from desktop.domain.ids import AgentId
from desktop.domain.messages import ToolResultBlock
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import ExecutionBudget, Priority, Supervision
from desktop.domain.runs.tree import NodeState
from desktop.recovery.journal import CallJournal
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.model_queue import ModelQueue
from tests.harness.timeouts import WAIT_S, until
from tests.unit.agents.script import Script, call, calls, says
from tests.unit.pipeline.kit import Bench, FakeTool, Person
from tests.unit.supervision.kit import ROOT, MemoryLog, ask


class Chat:
    """One run: loop, pipeline, and what stands between them and the world."""

    def __init__(self, *answers, budget=None, person=None, body=None):
        self.log, self.events, self.queue = MemoryLog(), [], ModelQueue(1)
        journal = CallJournal(lambda c: c.request.block.call_id, repeatable=lambda c: c.category is Category.READ)
        self.runs = LiveRuns(self.log, journal, self.events.append, queue=self.queue)
        self.tool = FakeTool("write-file", Category.WRITE, body=body)
        self.bench = Bench(self.tool, person=person or Person(*["allow_once"] * 9), layers=[self.runs.calls])
        self.script = Script(*answers)
        self.token = self.bench.token
        node = Supervision.root(ROOT, session_id="t", execution_budget=budget)
        self.meta = RunMeta("run", self.token, "t", node)

    async def chat(self, *, leave_open=False):
        tree = await self.runs.open(self.meta, ROOT)
        loop = RoundLoop(Answerer(self.script), self, layers=[self.runs.models], budget=tree.root.budget)

        async def prepare(messages):
            return ModelRequest(ModelRef("m", "m"), tuple(messages))

        result = await loop.run([ask("go")], prepare, self.meta)
        await self.runs.close("run", AgentOutcome("completed"), leave_open=leave_open)
        return result

    # -- the loop's tool runner

    async def run(self, block):
        outcome = await self.bench.call("write_file", dict(block.arguments))
        return ToolResultBlock(block.call_id, block.tool, outcome.result.text)

    def parallel(self, block):
        return False


def wants(call_id="c1"):
    return calls(call(call_id, "write_file", path="a"))


@pytest.mark.spec("R-JRN-2", "R-JRN-5", "R-MW-6")
async def test_a_chats_calls_are_journaled_and_its_tree_is_told():
    chat = Chat(wants(), says("done"))
    result = await chat.chat()
    assert result.end == "response"
    assert chat.log.told() == [
        "0.1 llm m/m begun",
        "0.1 llm m/m completed",
        "c1.1 tool write-file begun",
        "c1.1 tool write-file completed",
        "0.2 llm m/m begun",
        "0.2 llm m/m completed",
        ".0 end completed",
    ]
    (last,) = chat.events[-1].nodes
    assert (last.state, last.rounds, last.input_tokens, last.model) == (NodeState.COMPLETED, 2, 200, "m/m")
    assert (chat.events[-1].thread_id, chat.events[-1].run_id) == ("t", "run")
    with pytest.raises(NotFound):
        chat.runs.tree("run")
    with pytest.raises(BugError):
        await chat.runs.open(RunMeta("x", CancellationToken()), ROOT)


@pytest.mark.spec("R-JRN-2")
async def test_while_a_run_lives_its_agents_are_told_and_a_summary_of_its_thread_is_kept_in_its_journal():
    chat = Chat()
    await chat.runs.open(chat.meta, ROOT)
    assert [facts.state for facts in chat.runs.facts("run")] == [NodeState.WORKING]
    chat.runs.summarised(chat.meta, {"text": "In short."})
    chat.runs.summarised(replace(chat.meta, run_id="another"), {"text": "Of no run here."})
    await chat.runs.close("run", AgentOutcome("completed"))
    assert chat.log.told() == ["0.1 summary t completed", ".0 end completed"]
    with pytest.raises(NotFound):
        chat.runs.facts("run")


@pytest.mark.spec("R-JRN-5")
async def test_a_run_that_is_to_be_gone_on_with_has_no_terminal_entry():
    chat = Chat(wants(), says("done"), says("and on"))
    await chat.chat(leave_open=True)
    assert chat.log.told()[-2:] == ["0.2 llm m/m begun", "0.2 llm m/m completed"]
    assert [line for line in chat.log.told() if " end " in line] == []
    with pytest.raises(NotFound):
        chat.runs.tree("run")
    await chat.chat()
    assert [line for line in chat.log.told() if " end " in line] == [".0 end completed"]
    assert chat.log.told()[-1] == ".0 end completed"


@pytest.mark.spec("R-SUP-7", "R-SUP-11")
async def test_a_budget_changed_while_the_chat_runs_stops_it_before_the_next_request():
    async def lower(args, context):
        chat.runs.tree("run").change_budget("0", ExecutionBudget(max_rounds=1), "the panel")
        return "done"

    chat = Chat(wants(), says("never"), body=lower)
    result = await chat.chat()
    assert (result.end, str(result.limit)) == ("budget", "max_rounds 1 (set by the panel)")
    assert len(chat.script.requests) == 1


@pytest.mark.spec("R-SUP-14")
async def test_an_agent_that_works_within_a_call_counts_as_much_as_its_caller_unless_it_is_told_otherwise():
    chat = Chat(says("done"))
    meta = RunMeta("job", CancellationToken(), "t", Supervision.root(ROOT, session_id="t", priority=Priority.LOW))
    await chat.runs.open(meta, ROOT)
    chat.runs.nest(meta, AgentId("skill", "1"))
    chat.runs.nest(meta, AgentId("skill", "2"), priority=Priority.BACKGROUND)
    found = [facts.priority for facts in chat.runs.facts("job")]
    assert found == [Priority.LOW, Priority.LOW, Priority.BACKGROUND], "what a job asks comes after what a person asks"
    await chat.runs.close("job", AgentOutcome("completed"))


@pytest.mark.spec("R-SUP-14")
async def test_the_run_that_a_person_looks_at_comes_before_one_that_asked_earlier():
    chat = Chat(says("done"))
    order: list[str] = []
    trees = {}
    for thread in ("other", "open"):
        meta = RunMeta(thread, CancellationToken(), thread, Supervision.root(ROOT, session_id=thread))
        trees[thread] = await chat.runs.open(meta, ROOT)
    below = trees["open"].root.supervision
    inherits = trees["open"].add(trees["open"].root, "0.1", ROOT, below.spawn_child(ROOT, priority=below.priority))
    own = trees["open"].add(trees["open"].root, "0.2", ROOT, below.spawn_child(ROOT, priority=Priority.LOW))
    await chat.queue.acquire(Priority.NORMAL, chat.token)

    async def ask_for(node, name):
        await chat.queue.acquire(node.priority, chat.token)
        order.append(name)
        chat.queue.release()

    async with asyncio.TaskGroup() as group:
        chat.runs.attention.move("open")
        nodes = {"other": trees["other"].root, "own": own, "open": trees["open"].root, "in": inherits}
        for name, node in nodes.items():
            group.create_task(ask_for(node, name))
        await until(lambda: chat.queue.waiting == 4)
        chat.queue.release()
    assert order == ["open", "in", "other", "own"]
    assert [facts.priority for facts in chat.runs.facts("open")] == [Priority.HIGH, Priority.HIGH, Priority.LOW]
    chat.runs.attention.move("other", "open")
    assert [trees[name].root.priority for name in ("open", "other")] == [Priority.NORMAL, Priority.HIGH]
    chat.runs.attention.move("", "other")
    assert trees["other"].root.priority is Priority.NORMAL
    for thread in trees:
        await chat.runs.close(thread, AgentOutcome("completed"))


@pytest.mark.spec("R-SUP-6", "R-SUP-14")
async def test_a_paused_chat_asks_no_model_until_it_is_resumed_and_leaves_the_queue_free():
    async def pause(args, context):
        chat.runs.tree("run").pause("0")
        return "done"

    chat = Chat(wants(), says("done"), body=pause)
    running = asyncio.ensure_future(chat.chat())
    await until(lambda: bool(chat.runs._trees) and chat.runs.tree("run").root.state is NodeState.PAUSED)
    assert len(chat.script.requests) == 1
    assert not chat.queue.full
    chat.runs.tree("run").resume("0")
    assert (await asyncio.wait_for(running, WAIT_S)).end == "response"


@pytest.mark.spec("R-SUP-10")
async def test_a_question_to_a_person_stands_the_clock_and_an_unanswered_one_is_closed_with_the_run():
    chat = Chat(says("x"))
    tree = await chat.runs.open(chat.meta, ROOT)
    answered = Bench(FakeTool(category=Category.WRITE), person=Person("allow_once", "allow_once"))
    await answered.call("read_file")
    (waiting,) = [event for event in answered.events if type(event).__name__ == "ToolCallWaiting"]
    chat.runs.hear(waiting)
    chat.runs.hear(waiting)
    before = tree.root.budget.elapsed_s
    assert tree.root.state is NodeState.WAITING
    await asyncio.sleep(0.05)
    assert tree.root.budget.waited_s >= 0.04
    assert tree.root.budget.elapsed_s - before < tree.root.budget.waited_s
    await chat.runs.close("run", AgentOutcome("cancelled"))
    assert chat.runs._waiting == {}


@pytest.mark.spec("R-CAN-10", "R-JRN-5")
async def test_who_still_winds_up_when_its_run_is_over_has_ended_before_it_the_last_child_first():
    chat = Chat()
    tree = await chat.runs.open(chat.meta, ROOT)
    above = chat.runs.nest(chat.meta, AgentId("a", "1"))
    below = chat.runs.nest(replace(chat.meta, node=above.path, cancellation=above.token), AgentId("b", "2"))
    chat.token.cancel("stopped by the person")
    assert [facts.stopping for facts in tree.facts()] == [True, True, True]
    await chat.runs.close("run", AgentOutcome("cancelled"))
    told = {facts.path: facts for event in chat.events for facts in event.nodes}
    assert {path: (facts.state, facts.stopping) for path, facts in told.items()} == dict.fromkeys(
        ("0", "0.1", "0.1.1"), (NodeState.CANCELLED, False)
    )
    assert told["0.1.1"].ended_at <= told["0.1"].ended_at <= told["0"].ended_at
    assert told["0.1.1"].detail == "stopped by the person"
    chat.runs.end("run", below, AgentOutcome("failed"))
    chat.runs.end("run", above, AgentOutcome("failed"))
    assert above.state is below.state is NodeState.CANCELLED
