"""Agents that work within a call of another one's stand in the tree of the run: seen, counted, paused, cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.supervision import ExecutionBudget, SpawnBudget
from desktop.domain.runs.tree import NodeState
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.debates.judge import JUDGE
from tests.harness.timeouts import until
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.delegation.test_one_tree import told
from tests.unit.services.delegation.test_tools import BOSS, HELPER, asks, call, house, one

SKILLS = {"boss": "", "first": "allowed-tools: second look", "second": "allowed-tools: look"}
"""``first`` and ``second`` are skills in words, on which an agent works; the one may call the other."""
FIRST = ToolCallBlock("1", "first", {}, "{}")


def nested(tmp_path: Path, model: Any, *tools: FakeTool, **options: Any) -> Any:
    return house(tmp_path, model, one(BOSS, "boss"), tools=tools, skills=SKILLS, **options)


@pytest.mark.spec("R-SUP-5", "R-SUP-7", "R-SUP-8")
async def test_an_agent_within_a_call_has_a_node_below_its_callers_and_so_has_the_one_in_it(tmp_path: Path) -> None:
    used = {"usage": {"input": 300, "output": 30, "cost": 0.02}}
    model = ScriptedModel(
        [
            calls("skill_invoke", {"ref": "first"}),
            calls("second", {}),
            [*calls("look", {"path": "a"}), used],
            says("seen"),
            says("told"),
            says("done"),
        ]
    )
    async with nested(tmp_path, model, FakeTool("look")) as h:
        thread, _ = await h.ask()
        nodes = told(h.world)
        assert {path: (n.agent, n.state, n.rounds, n.tool_calls, n.parent) for path, n in nodes.items()} == {
            "0": (BOSS, NodeState.COMPLETED, 6, 3, ""),
            "0.1": ("first", NodeState.COMPLETED, 4, 2, "0"),
            "0.1.1": ("second", NodeState.COMPLETED, 2, 1, "0.1"),
        }
        last = nodes["0.1.1"]
        assert (last.input_tokens > 300, last.tokens_estimated, last.cost_usd) == (True, True, 0.02), "of two rounds"
        assert nodes["0.1"].input_tokens >= 300
        assert {n.thread_id for n in nodes.values()} == {thread}
        assert all(n.model.endswith("scripted") for n in nodes.values())
        assert not any("agent-" in n.doing or n.doing == "agent" for n in nodes.values())
        assert (h.world.live._trees, h.world.live._below) == ({}, {})


@pytest.mark.spec("R-AAT-4", "R-AAT-8", "R-SUP-8")
async def test_an_agent_that_it_calls_stands_below_it_with_a_thread_of_its_own(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            calls("skill_invoke", {"ref": "first"}),
            calls("helper_agent", {"message": "go"}),
            says("helped"),
            says("told"),
            says("done"),
        ]
    )
    skills = {**SKILLS, "first": "allowed-tools: helper-agent", "helper": ""}
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), skills=skills) as h:
        thread, _ = await h.ask()
        (child,) = await h.children()
        nodes = told(h.world)
        assert {path: (n.agent, n.thread_id, n.rounds, n.depth) for path, n in nodes.items()} == {
            "0": (BOSS, thread, 5, 0),
            "0.1": ("first", thread, 3, 1),
            "0.1.1": (HELPER, child.thread_id, 1, 2),
        }
        assert {n.state for n in nodes.values()} == {NodeState.COMPLETED}


@pytest.mark.spec("R-CAN-4", "R-CAN-10")
async def test_cancelling_it_ends_it_and_what_is_below_it_and_not_its_caller(tmp_path: Path) -> None:
    model = Script(asks(FIRST), asks(ToolCallBlock("2", "second", {}, "{}")), [Hang()], speaks("on my own then"))
    async with nested(tmp_path, model) as h:
        thread = await h.world.thread(agent=BOSS)
        sent = await h.world.service.send(thread, "Please.")
        await until(lambda: "0.1.1" in told(h.world) and told(h.world)["0.1.1"].state is NodeState.THINKING)
        service = RunTreeService(h.world.live, h.world.store.run_agents)
        states = {facts.path: facts.state for facts in service.facts(sent.run_id)}
        assert (states["0"], states["0.1"]) == (NodeState.JOINING, NodeState.JOINING)
        service.cancel(sent.run_id, "0.1")
        path = await h.world.settled(thread)
        nodes = told(h.world)
        assert [nodes[at].state for at in ("0", "0.1", "0.1.1")] == [
            NodeState.COMPLETED,
            NodeState.CANCELLED,
            NodeState.CANCELLED,
        ]
        assert nodes["0.1"].detail == "stopped by the person"
        assert model.cancelled == 1
        (result,) = [b for m in path for b in m.blocks if b.kind == "tool_result"]
        assert (result.is_error, result.facts["code"]) == (True, "agent.stopped")
        assert "first was stopped before it was done." in result.text
        assert path[-1].text == "on my own then"


@pytest.mark.spec("R-SUP-6", "R-SUP-7", "R-SUP-9", "R-LIM-5")
async def test_a_limit_set_for_it_ends_it_and_its_caller_goes_on_and_pausing_it_holds_only_it(tmp_path: Path) -> None:
    async def look(args: Any, context: Any) -> str:
        RunTreeService(h.world.live, h.world.store.run_agents).pause(context.meta.run_id, "0.1")
        return "seen"

    model = Script(asks(FIRST), asks(call("2", "look", path="a")), speaks("alone"))
    async with nested(tmp_path, model, FakeTool("look", body=look)) as h:
        thread = await h.world.thread(agent=BOSS)
        sent = await h.world.service.send(thread, "Please.")
        await until(lambda: "0.1" in told(h.world) and told(h.world)["0.1"].state is NodeState.PAUSED)
        assert not h.world.live.tree(sent.run_id).root.paused
        assert len(model.requests) == 2
        service = RunTreeService(h.world.live, h.world.store.run_agents)
        service.change_budget(sent.run_id, "0.1", ExecutionBudget(max_rounds=1))
        service.resume(sent.run_id, "0.1")
        path = await h.world.settled(thread)
        (limit,) = [n for n in told(h.world).values() if n.path == "0.1"]
        assert limit.state is NodeState.LIMIT
        assert "max_rounds 1 (set by you, in the Run panel)" in limit.detail
        assert path[-1].text == "alone"


@pytest.mark.spec("R-SUP-5")
async def test_where_there_is_no_place_for_one_more_the_call_says_which_limit_it_was(tmp_path: Path) -> None:
    model = ScriptedModel([calls("skill_invoke", {"ref": "first"}), says("alone")])
    async with nested(tmp_path, model, spawn_budget=SpawnBudget(1)) as h:
        _, (result,) = await h.ask()
        assert "max_agents 1" in result.text
        assert list(told(h.world)) == ["0"]


@pytest.mark.spec("R-SUP-10")
async def test_what_one_of_two_agents_in_a_thread_asks_a_person_is_shown_at_that_one(tmp_path: Path) -> None:
    person = Person("allow_once", wait=0.4)
    tool = FakeTool("look", Category.WRITE)
    model = Script(asks(FIRST), asks(call("2", "look", path="a")), speaks("seen"), speaks("done"))
    async with nested(tmp_path, model, tool, person=person) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread, "Please.")
        await until(lambda: "0.1" in told(h.world) and told(h.world)["0.1"].state is NodeState.WAITING)
        assert told(h.world)["0"].state is NodeState.JOINING
        await h.world.settled(thread)
        nodes = told(h.world)
        assert min(nodes["0"].waited_s, nodes["0.1"].waited_s) >= 0.3


@pytest.mark.spec("R-SUP-8")
async def test_a_judge_shows_with_the_agents_of_the_debate_and_can_be_cancelled_alone(tmp_path: Path) -> None:
    model = Script(speaks("a1"), speaks("b1"), [Hang()])
    async with debate_world(tmp_path, model) as w:
        thread, _ = await w.run(setup(max_turns=2))
        (run,) = await w.store.runs.of_thread(thread_id=thread)
        asked = asyncio.ensure_future(w.debates.judge(thread, "test/judge"))
        await until(lambda: any(n.agent == JUDGE and n.state is NodeState.THINKING for n in told(w).values()))
        (judge,) = [n for n in told(w).values() if n.agent == JUDGE]
        assert (judge.parent, judge.model) == ("0", "test/judge")
        service = RunTreeService(w.live, w.store.run_agents)
        assert [facts.path for facts in service.facts(run.run_id)] == [judge.path]
        service.cancel(run.run_id, judge.path)
        with pytest.raises(KnownError, match="judge was stopped before it was done"):
            await asked
        assert told(w)[judge.path].state is NodeState.CANCELLED
        assert (w.live._trees, w.live._beside) == ({}, {})
