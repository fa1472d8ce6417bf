"""Agents that another agent calls as a tool: of two sides, and what their answers come to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.messages import ToolResultBlock
from desktop.domain.models import TextDelta
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.debates.calls import CalledDebates
from desktop.services.debates.run import DebateRun
from desktop.services.debates.state import load
from desktop.services.definitions.book import AgentBook
from desktop.services.delegation.calls import AgentCalls
from desktop.services.delegation.retention import CLOSING, forget_children
from desktop.services.delegation.tools import AgentTools
from desktop.supervision.tasks import RunSlots
from desktop.tools.registry import ToolRegistry
from tests.unit.agents.script import Hang, Script, call
from tests.unit.agents.script import calls as many
from tests.unit.services.debates.kit import DebateWorld, answering, debate_world, prompt, setup, until
from tests.unit.services.kit import MODEL

BOSS = AgentDefinition("boss_agent", SideDefinition("boss"))
TWO = AgentDefinition(
    "two_agent",
    SideDefinition("pro", "Pro"),
    type="dual_ai",
    side_b=SideDefinition("con", "Con"),
    max_turns=3,
    expose_as_tool=True,
    tool_description="Talks it over.",
)


async def ask(
    w: DebateWorld, registry: ToolRegistry, allowed: str = '"*-agent look-up close"'
) -> tuple[str, list[ToolResultBlock]]:
    """What the boss got from its calls."""
    prompt(w.prompts, "boss", allowed)
    made = AgentCalls(lambda: w.runtime, w.owner, two_sides=CalledDebates(lambda: w.runtime), kept=lambda: CLOSING)
    tools = AgentTools(w.runtime.agents, w.skills, registry, made.carry)
    await asyncio.to_thread(tools.refresh)
    thread = (await w.service.create_thread(agent="boss_agent", model=MODEL)).thread_id
    shown = await w.ask(thread, "Please.")
    return thread, [block for m in shown for block in m.blocks if isinstance(block, ToolResultBlock)]


def options(registry: ToolRegistry, two: AgentDefinition = TWO) -> dict[str, Any]:
    return {"registered": registry, "agents": AgentBook({one.name: one for one in (BOSS, two)}), "slots": RunSlots(1)}


@pytest.mark.spec("R-AAT-2", "R-AAT-3", "R-AAT-4", "R-AAT-6", "R-AAT-9")
async def test_a_debate_works_for_the_agent_that_called_it(tmp_path: Path) -> None:
    seen: list[tuple[str, ...]] = []
    tool = answering("look-up")
    tool.body = lambda _args, context: seen.append(context.chain) or "looked"
    registry = ToolRegistry([tool, answering("hidden")])
    model = ScriptedModel(
        [
            calls("two_agent", {"message": "Tea?"}),
            calls("look_up", {}),
            says("a1"),
            [{"text": "b1"}, {"usage": {"input": 40, "output": 2, "cost": 0.5}}],
            says("a2"),
            says("They say a2."),
        ]
    )
    async with debate_world(tmp_path, model, allowed='"look-up hidden"', **options(registry)) as w:
        thread, (result,) = await ask(w, registry)
        assert (result.is_error, result.text) == (False, "a2\n[ended by: max_session_turns]")
        assert result.structured == {"outcome": "a2", "end_reason": "max_session_turns"}
        child = str(result.facts["thread_id"])
        assert await w.outcomes(child) == ["a1", "b1", "a2"]
        assert seen == [("boss_agent", "boss", "two_agent", "Pro (side A)", "pro", "look-up")]
        assert [t["name"] for t in model.requests[1].tools] == ["look_up"]
        assert [m.text for m in model.requests[3].messages] == ["Tea?", "a1"]
        assert (await w.debates.debates(), [t.thread_id for t in await w.service.threads()]) == ([], [thread])
        assert (await w.service.thread(thread)).usage.input_tokens == 40
        assert await forget_children(w.runtime) == 1


@pytest.mark.spec("R-AAT-3")
async def test_an_agent_that_answers_with_nothing_says_so_and_an_empty_value_stays_empty(tmp_path: Path) -> None:
    one = AgentDefinition("one_agent", SideDefinition("helper"), expose_as_tool=True, tool_description="x")
    done = replace(one, side_a=SideDefinition("helper", stop_tool="done", stop_property="v"))
    ended = {"outcome": "", "end_reason": "max_session_turns"}
    for agent, script, text, value in (
        (one, [says("")], "(it answered with nothing)", None),
        (done, [calls("done", {}, text="so far")], "(it answered with nothing)", ""),
        (TWO, [says("a"), says("b"), says("")], "(it answered with nothing)\n[ended by: max_session_turns]", ended),
    ):
        registry = ToolRegistry([answering("done", v="")])
        model = ScriptedModel([calls(agent.name, {"message": "Tea?"}), *script, says("So.")])
        path = tmp_path / f"{agent.name}{len(agent.side_a.stop_tool)}"
        path.mkdir()
        async with debate_world(path, model, **options(registry, agent)) as w:
            prompt(w.prompts, "helper", '"done"')
            _, (result,) = await ask(w, registry, '"*-agent done"')
            assert (result.is_error, result.text) == (False, text)
            assert result.structured == value


def naming(w: DebateWorld, name: str, model: str) -> None:
    """A prompt whose skill names a model."""
    path = prompt(w.prompts, name)
    path.write_text(path.read_text().replace("  tags:", f"  model: {model}\n  tags:"))


@pytest.mark.spec("R-SES-24", "R-AAT-2", "C-20")
async def test_a_side_has_the_model_that_its_prompts_skill_names_else_the_callers(tmp_path: Path) -> None:
    one = AgentDefinition("one_agent", SideDefinition("helper"), expose_as_tool=True, tool_description="x")
    two = [calls("two_agent", {"message": "x"}), says("a"), says("b"), says("a")]
    model = ScriptedModel([*two, calls("one_agent", {"message": "x"}), says("h"), says("So."), says("a"), says("b")])
    registry = ToolRegistry([])
    book = AgentBook({agent.name: agent for agent in (BOSS, TWO, one)})
    async with debate_world(tmp_path, model, **{**options(registry), "agents": book}) as w:
        naming(w, "con", "{model: other/large, maxTurns: 3}")
        naming(w, "helper", "other/small")
        naming(w, "pro", "{model: no-connection}")
        await ask(w, registry)
        used = [str(request.model) for request in model.requests]
        assert used == [MODEL, MODEL, "other/large", MODEL, MODEL, "other/small", MODEL]
        (offered,) = await w.debates.definitions()
        assert (offered.setup.a.model, offered.setup.b.model) == ("", "other/large")
        await w.run(setup(max_turns=2, b={"model": ""}))
        assert [str(request.model) for request in model.requests[7:]] == [MODEL, "other/large"]


@pytest.mark.spec("R-AAT-5", "R-DEF-11")
async def test_a_debate_that_cannot_run_is_an_error_for_its_caller(tmp_path: Path) -> None:
    broken = AgentDefinition(
        "two_agent",
        SideDefinition("pro"),
        type="dual_ai",
        side_b=SideDefinition("gone"),
        max_turns=2,
        expose_as_tool=True,
        tool_description="x",
    )
    registry = ToolRegistry([])
    model = ScriptedModel([calls("two_agent", {"message": "Tea?"}), says("No.")])
    async with debate_world(tmp_path, model, **options(registry, broken), person=None) as w:
        _, results = await ask(w, registry)
        assert all(result.is_error for result in results)
        assert len(model.requests) == 2


@pytest.mark.spec("R-AAT-5", "R-CAN-4")
async def test_stopping_the_caller_stops_the_debate(tmp_path: Path) -> None:
    registry = ToolRegistry([])
    model = Script(many(call("1", "two_agent", message="Tea?")), [TextDelta("half"), Hang()])
    async with debate_world(tmp_path, model, **options(registry)) as w:
        asking = asyncio.ensure_future(ask(w, registry))
        await until(lambda: len(model.requests) == 2)
        thread = w.service.running()[0]
        await w.service.stop(thread)
        await asking
        await until(lambda: model.cancelled == 1)
        assert w.ends()[-1].thread_id == thread


class Nobody:
    """A permission like a job's."""

    at_edge = False

    def refusal(self, _facts: CallFacts) -> str:
        return "nobody is there"


@pytest.mark.spec("R-CRON-1", "R-CRON-2")
async def test_a_debate_without_a_person_keeps_its_permission_in_every_call(tmp_path: Path) -> None:
    seen: list[Any] = []
    tool = answering("look-up")
    tool.body = lambda _args, context: seen.append(context.meta.unattended) or "looked"
    model = ScriptedModel([calls("look_up", {}), says("a1"), calls("look_up", {}), says("b1")])
    async with debate_world(tmp_path, model, tool, allowed="look-up") as w:
        thread = await w.debates.create(setup(max_turns=2))
        with pytest.raises(TypeError):
            DebateRun(w.runtime, await load(w.store, thread))  # type: ignore[call-arg]  # whoever starts it has to say
        nobody = Nobody()
        run = DebateRun(w.runtime, await load(w.store, thread), unattended=nobody)
        await run.go()
        run.tell_end()
        assert seen == [nobody, nobody]
