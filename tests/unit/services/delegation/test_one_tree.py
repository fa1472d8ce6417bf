"""Agents that are called, and turns of debates, stand in the tree of their run: seen, paused, cancelled, counted."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from desktop.agents.hosted.metrics import Metrics
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import NotFound
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.events import RunTreeChanged, SideTurnEnded, ToolCallAnswered, ToolCallWaiting
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.delegation.retention import DELETED_DAYS, forget_children, forget_deleted
from tests.harness.timeouts import WAIT_S, until
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, asks, call, house, one


def told(w) -> dict:
    """The last of what was told of each place."""
    return {n.path: n for event in w.events if isinstance(event, RunTreeChanged) for n in event.nodes}


@pytest.mark.spec("R-SUP-5", "R-SUP-8", "R-AAT-4")
async def test_a_called_agent_has_a_node_of_its_own_below_its_callers(tmp_path: Path) -> None:
    tool = FakeTool("write-file", Category.WRITE)
    model = ScriptedModel(
        [calls("helper_agent", {"message": "go"}), calls("write_file", {"path": "a"}), says("helped"), says("done")]
    )
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), tools=(tool,)) as h:
        metrics, watching = Metrics(), []
        h.world.bus.listen(lambda event: watching or watching.append(h.world.bus.subscribe(event.run_id)))
        await h.ask()
        nodes = told(h.world)
        (child,) = await h.children()
        watching[0].close()
        async for event in watching[0]:
            metrics.add(event)
        assert (metrics.runs_started, metrics.rounds.total()) == (2, 4), "what a watcher of the run counts"
        assert {path: (n.agent, n.state, n.rounds) for path, n in nodes.items()} == {
            "0": (BOSS, NodeState.COMPLETED, 4),
            "0.1": (HELPER, NodeState.COMPLETED, 2),
        }
        assert (nodes["0.1"].thread_id, nodes["0.1"].depth, nodes["0.1"].tool_calls) == (child.thread_id, 1, 1)
        assert nodes["0.1"].model.endswith("scripted")
        assert (h.world.live._trees, h.world.live._below, h.world.live._waiting) == ({}, {}, {})


@pytest.mark.spec("R-CAN-4", "R-CAN-10", "R-AAT-5")
async def test_cancelling_the_branch_of_a_called_agent_ends_it_and_not_its_caller(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), [Hang()], asks(), *[[]])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        thread = await h.world.thread(agent=BOSS)
        sent = await h.world.service.send(thread, "Please.")
        await until(lambda: told(h.world).get("0.1") is not None and told(h.world)["0.1"].state is NodeState.THINKING)
        tree = h.world.live.tree(sent.run_id)
        assert tree.root.state is NodeState.JOINING
        assert tree.agent_slots.alive == 2
        tree.cancel("0.1", "enough")
        await until(lambda: told(h.world)["0.1"].state is NodeState.CANCELLED)
        path = await h.world.settled(thread)
        results = [b for m in path for b in m.blocks if b.kind == "tool_result"]
        assert results[0].facts["end_reason"] == "cancelled"
        assert path[-1].role == "assistant"
        assert not any(isinstance(b, ToolCallBlock) for b in path[-1].blocks)


@pytest.mark.spec("R-AAT-9", "R-SUP-10")
async def test_what_a_called_agent_asks_stands_on_its_callers_card_and_stops_the_clock_of_both(tmp_path: Path) -> None:
    tool = FakeTool("write-file", Category.WRITE)
    model = ScriptedModel(
        [calls("helper_agent", {"message": "go"}), calls("write_file", {"path": "a"}), says("helped"), says("done")]
    )
    person = Person("allow_once", "allow_once", wait=0.3)
    agents = (one(BOSS, "boss"), one(HELPER, "helper"))
    async with house(tmp_path, model, *agents, tools=(tool,), person=person) as h:
        thread, _ = await h.ask()
        (child,) = await h.children()
        waiting = [e for e in h.world.events if isinstance(e, ToolCallWaiting) and e.request.tool == "write-file"]
        assert {e.thread_id for e in waiting} == {thread, child.thread_id}
        above = next(e for e in waiting if e.thread_id == thread)
        asked = next(m for m in await h.world.service.path(thread) if m.message_id == above.message_id)
        assert above.call_id == next(b.call_id for b in asked.blocks if isinstance(b, ToolCallBlock))
        answered = [
            e for e in h.world.events if isinstance(e, ToolCallAnswered) and e.request_id == above.request.request_id
        ]
        assert thread in {e.thread_id for e in answered}
        nodes = told(h.world)
        assert min(nodes["0"].waited_s, nodes["0.1"].waited_s) >= 0.3


@pytest.mark.spec("R-SUP-5", "R-SUP-8", "R-JRN-5")
async def test_each_side_of_a_debate_is_a_node_below_the_debate_for_all_of_its_turns(tmp_path: Path) -> None:
    slow = [{"wait": 0.3}, *calls("write_file", {"path": "x"})]
    model = ScriptedModel([says("a1"), slow, says("b1"), says("a2")])
    tool = FakeTool("write-file", Category.WRITE)
    async with debate_world(tmp_path, model, tool, person=Person("allow_once"), allowed="write-file") as w:
        thread, state = await w.run(setup(max_turns=3, b={"model": "other/second"}))
        assert state.turn == 3
        nodes = told(w)
        assert {path: (n.agent, n.side, n.rounds, n.state) for path, n in nodes.items() if path != "0"} == {
            "0.1": ("Pro", "a", 2, NodeState.COMPLETED),
            "0.2": ("Con", "b", 2, NodeState.COMPLETED),
        }
        assert (nodes["0"].rounds, nodes["0"].state, nodes["0"].thread_id) == (4, NodeState.LIMIT, thread)
        assert (nodes["0.2"].tool_calls, nodes["0.1"].tool_calls, nodes["0"].tool_calls) == (1, 0, 1)
        assert nodes["0.1"].elapsed_s <= nodes["0"].elapsed_s - 0.3, "while the other speaks it uses no time"
        assert nodes["0.2"].model.startswith("other/")
        (run,) = await w.store.runs.of_thread(thread_id=thread)
        log = [one for one in await w.store.effects.load(run.run_id) if one.phase != "begun"]
        assert [f"{one.kind} {one.phase} {one.agent if one.kind != 'tool' else ''}" for one in log] == [
            "llm completed 0.1",
            "llm completed 0.2",
            "tool completed ",
            "llm completed 0.2",
            "llm completed 0.1",
            "return completed 0.1",
            "return completed 0.2",
            "end limit ",
        ]
        assert (w.live._trees, w.live._below, w.live.journaled._runs) == ({}, {}, {})


@pytest.mark.spec("R-SUP-6", "R-CAN-4")
async def test_a_side_of_a_debate_can_be_paused_and_cancelled_while_it_speaks(tmp_path: Path) -> None:
    model = Script(speaks("a1"), [Hang()], speaks("b1"))
    async with debate_world(tmp_path, model) as w:
        thread = await w.debates.create(setup(max_turns=2))
        await w.debates.start(thread)
        await until(lambda: told(w).get("0.2") is not None and told(w)["0.2"].state is NodeState.THINKING)
        (run_id,) = w.live._trees
        tree = w.live.tree(run_id)
        assert [tree.find(path).state for path in ("0", "0.1")] == [NodeState.JOINING, NodeState.JOINING]
        assert tree.find("0.1").doing == "Con"
        tree.pause("0.2")
        assert tree.find("0.2").held
        tree.cancel("0.2", "stopped by the person")
        state = await w.rest(thread)
        assert (state.turn, told(w)["0.2"].state) == (1, NodeState.CANCELLED)
        assert w.live._trees == {}


@pytest.mark.spec("R-SUP-8", "R-CAN-10", "R-LIM-5")
async def test_what_is_done_with_a_side_that_waits_holds_for_its_next_turn(tmp_path: Path) -> None:
    model = Script(*(speaks(f"t{n}") for n in range(9)))
    async with debate_world(tmp_path, model) as w:
        for act in ("budget", "cancel"):
            thread = await w.debates.create(setup(max_turns=6))
            ended, model.requests = [], []

            def hear(event: object, act: str = act, ended: list[NodeState] = ended) -> None:
                if isinstance(event, SideTurnEnded) and event.record.number == 2:
                    (tree,) = w.live._trees.values()
                    if act == "cancel":
                        tree.cancel("0.1", "stopped by the person")
                        asyncio.get_running_loop().call_soon(lambda: ended.append(tree.find("0.1").state))
                    else:
                        tree.change_budget("0.1", ExecutionBudget(max_rounds=1), "you")

            forget = w.bus.listen(hear)
            state = await w.go_on(thread)
            forget()
            assert (state.turn, len(model.requests)) == (2, 2)
            assert state.end_reason == ("cancelled" if act == "cancel" else "budget")
            assert ended == ([NodeState.CANCELLED] if act == "cancel" else [])
            assert ("max_rounds 1 (set by you)" in state.end_detail) is (act == "budget")


async def test_a_deleted_thread_is_gone_from_the_disk_a_month_later_and_one_of_a_call_when_its_time_comes(
    tmp_path: Path,
) -> None:
    day, model = 86_400.0, ScriptedModel([calls("helper_agent", {"message": "go"}), says("helped"), says("done")])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), kept="closing") as h:
        chat, _ = await h.ask()
        store, runtime, deleted = h.world.store, h.world.runtime, 1_000 * day
        stays, (child,) = await h.world.thread(agent="boss"), await h.children()
        await store.threads.delete(thread_id=chat, at=deleted)
        assert await forget_deleted(runtime, now=deleted + DELETED_DAYS * day) == 0
        await store.threads.restore(thread_id=chat)
        assert await forget_deleted(runtime, now=deleted + 10 * DELETED_DAYS * day) == 0
        await store.threads.delete(thread_id=chat, at=deleted)
        assert await forget_deleted(runtime, now=time.time() + 10 * DELETED_DAYS * day) == 1
        with pytest.raises(NotFound):
            await store.threads.get(thread_id=chat)
        assert (await store.threads.get(thread_id=stays)).deleted_at is None
        assert await h.children() == [child]


@pytest.mark.spec("R-SUP-13", "R-AAT-6", "S-JRN-2")
@pytest.mark.parametrize("kept", ["none", "run", "closing", "permanent"])
async def test_the_thread_of_a_called_agent_lives_as_long_as_it_is_to_be_kept(tmp_path: Path, kept: str) -> None:
    alive: list[int] = []

    async def look(args, context):
        alive.append(len(await h.children()))
        return "seen"

    tool = FakeTool("look", Category.READ, params={"type": "object"}, body=look)
    model = ScriptedModel(
        [calls("helper_agent", {"message": "go"}), says("helped"), [{"wait": 0.1}, *calls("look", {})], says("done")]
    )
    agents = (one(BOSS, "boss"), one(HELPER, "helper"))
    async with house(tmp_path, model, *agents, tools=(tool,), kept=kept) as h:
        thread, (result, _) = await h.ask()
        assert result.text == "helped"
        stays = [one.label for one in await h.world.service.threads() if one.thread_id != thread]
        assert stays == (["called by an agent, kept"] if kept == "permanent" else [])
        left = 1 if kept == "closing" else 0
        async with asyncio.timeout(WAIT_S):
            while len(await h.children()) != left:
                await asyncio.sleep(0.01)
        assert alive == [1 if kept in ("run", "closing") else 0]
        assert await forget_children(h.world.runtime, before=0.0) == 0, "those of this start stay"
        assert await forget_children(h.world.runtime) == left, "after a crash, at the next start"
        if kept == "permanent":
            assert (await h.world.service.path(result.facts["thread_id"]))[-1].text == "helped"


@pytest.mark.spec("R-SUP-8", "R-SUP-11")
async def test_a_branch_whose_time_is_up_ends_at_that_limit_and_says_who_set_it(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), [Hang()], speaks("done"))
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        thread = await h.world.thread(agent=BOSS)
        sent = await h.world.service.send(thread, "Please.")
        await until(lambda: told(h.world).get("0.1") is not None and told(h.world)["0.1"].state is NodeState.THINKING)
        h.world.live.tree(sent.run_id).change_budget("0.1", ExecutionBudget(deadline_s=0.01), "you, in the Run panel")
        path = await h.world.settled(thread)
        (result,) = [b for m in path for b in m.blocks if b.kind == "tool_result"]
        assert result.facts["end_reason"] == "budget"
        assert "deadline_s 0.01 (set by you, in the Run panel)" in result.text
        assert path[-1].text == "done"


@pytest.mark.spec("R-CAN-10", "R-SUP-6")
async def test_a_paused_run_with_a_paused_agent_below_it_is_stopped_and_nothing_of_it_stays(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), asks(call("2", "read_file")), speaks("never"))
    held = asyncio.Event()

    async def wait(args, context):
        await held.wait()
        return "read"

    tool = FakeTool("read-file", body=wait)
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), tools=(tool,)) as h:
        thread = await h.world.thread(agent=BOSS)
        sent = await h.world.service.send(thread, "Please.")
        await until(lambda: bool(tool.calls))
        h.world.live.tree(sent.run_id).pause("0")
        held.set()
        await until(lambda: h.world.live.tree(sent.run_id).nodes["0.1"].state is NodeState.PAUSED)
        await h.world.service.stop(thread)
        await h.world.settled(thread)
        assert [end.reason for end in h.world.ends()] == ["cancelled", "cancelled"]
        assert (h.world.live._trees, h.world.live._below) == ({}, {})


@pytest.mark.spec("R-CAN-10", "R-AAT-5")
async def test_stop_in_the_thread_of_a_called_agent_ends_it_and_its_caller_goes_on(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), [Hang()], speaks("done"))
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread, "Please.")
        await until(lambda: told(h.world).get("0.1") is not None and told(h.world)["0.1"].state is NodeState.THINKING)
        child = told(h.world)["0.1"].thread_id
        assert await h.world.service.stop(child)
        path = await h.world.settled(thread)
        assert told(h.world)["0.1"].state is NodeState.CANCELLED
        assert path[-1].text == "done"
        assert not await h.world.service.stop(child)
