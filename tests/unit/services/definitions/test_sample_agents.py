"""The agents that come with the app, each once with the scripted model and the library's own prompts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from desktop.domain.runs.events import RunEnded
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.debates.calls import CalledDebates
from desktop.services.debates.service import DebateService
from desktop.services.debates.setup import setup_of
from desktop.services.delegation.calls import AgentCalls
from desktop.services.delegation.retention import CLOSING, forget_children
from desktop.services.delegation.tools import AgentTools
from desktop.skills.catalogue.roots import SearchRoot
from desktop.tools.registry import ToolRegistry
from tests.harness.definitions import load_agents
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_tools import Chains, House
from tests.unit.services.kit import MODEL, ROOT, world

VERDICT = {
    "winner": "a",
    "summary": "A met every objection.",
    "reasons": {"a": "Met them.", "b": "Repeated itself."},
    "scores": {side: {"argument": 7, "answer": 8, "honesty": 9, "clarity": 7} for side in ("a", "b")},
}


@asynccontextmanager
async def samples(tmp_path: Path, *rounds: object) -> AsyncIterator[tuple[House, ScriptedModel]]:
    """The library alone, with tools that stand for the app's."""
    tools = [FakeTool(name) for name in ("list-directory", "read-file", "write-file", "bash")]
    registry, book = ToolRegistry(tools), load_agents(ROOT / "resources" / "agents")
    model = ScriptedModel(rounds)  # type: ignore[arg-type]
    roots = (SearchRoot(str(ROOT / "skills"), "library"),)
    async with world(tmp_path, model, registered=registry, roots=roots, agents=book, person=Chains()) as made:
        two = CalledDebates(lambda: made.runtime)
        carried = AgentCalls(
            lambda: made.runtime, made.owner, handover=made.service.hand_over, two_sides=two, kept=lambda: CLOSING
        )
        at = AgentTools(book, made.skills, registry, carried.carry)
        await asyncio.to_thread(at.refresh)
        assert at.problems == {}
        yield House(made, registry, carried, at), model


async def test_the_assistant_answers(tmp_path: Path) -> None:
    async with samples(tmp_path, says("Good morning.")) as (house, _):
        thread = await house.world.thread()
        assert (await house.world.ask(thread, "Hello"))[-1].text == "Good morning."


@pytest.mark.spec("R-AAT-2", "R-AAT-7")
async def test_the_researcher_gives_work_to_a_reader_and_a_checker(tmp_path: Path) -> None:
    rounds = (
        calls("source_reader_agent", {"message": "What do the notes say of tides?"}),
        calls("read_file", {"path": "notes.md"}),
        says("notes.md, line 3: high at noon."),
        calls("fact_checker_agent", {"message": "High water is at noon: notes.md"}),
        says("supported"),
        says("High water is at noon (notes.md, line 3)."),
    )
    async with samples(tmp_path, *rounds) as (house, model):
        thread, results = await house.ask("When is high tide?", "researcher_agent")
        assert [(result.is_error, result.facts["category"]) for result in results] == [(False, "read")] * 2
        assert "noon" in (await house.world.service.path(thread))[-1].text
        assert [tool["name"] for tool in model.requests[0].tools] == [
            "source_reader_agent",
            "fact_checker_agent",
            "list_directory",
            "read_file",
        ]
        assert [child.agent for child in await house.children()] == ["source_reader_agent", "fact_checker_agent"]


@pytest.mark.spec("R-SES-9", "R-SES-10")
async def test_the_classifier_ends_with_its_stop_tool(tmp_path: Path) -> None:
    rounds = (calls("classify", {"intent": "problem", "confidence": 0.9, "reason": "crashes"}),)
    async with samples(tmp_path, *rounds) as (house, model):
        thread = await house.world.thread(agent="intent_classifier_agent")
        await house.world.ask(thread, "It crashes when I save!")
        assert [event.reason for event in house.world.ends()] == ["stop_tool"]
        assert len(model.requests) == 1


@pytest.mark.spec("R-AAT-3", "R-SES-11")
async def test_the_code_reviewer_is_two_that_end_when_the_findings_hold(tmp_path: Path) -> None:
    rounds = (
        calls("code_reviewer_agent", {"message": "Look at app.py."}),
        calls("read_file", {"path": "app.py"}),
        says("1. Line 3 divides by zero."),
        calls("accept", {"reason": "It does."}, text="1: holds."),
        says("One fault: line 3."),
    )
    async with samples(tmp_path, *rounds) as (house, model):
        _, (result,) = await house.ask("Review app.py, please.", "assistant")
        assert not result.is_error
        assert result.structured["end_reason"] == "end_session_tool"
        assert "holds" in result.text
        for request in model.requests[1:4]:  # neither side is told what it talks to (R-SES-6)
            assert not any(word in request.system for word in (" AI", "another model", "language model"))
        assert await forget_children(house.world.runtime) == 1


@pytest.mark.spec("R-SES-3", "R-SES-14", "R-RET-5")
async def test_a_debate_and_its_judge(tmp_path: Path) -> None:
    spoken = [says(f"Argument {number}.") for number in range(1, 7)]
    async with samples(tmp_path, *spoken, calls("finish", VERDICT), calls("finish", VERDICT)) as (house, _):
        debates = DebateService(house.world.runtime, house.world.owner)
        agent = house.world.runtime.agents.get("debate_agent")
        thread = await debates.create(setup_of(agent, "Tea or coffee?", MODEL))
        await debates.start(thread)
        await house.world.until(RunEnded)
        assert [turn.outcome for turn in await debates.turns(thread)] == [f"Argument {n}." for n in range(1, 7)]
        assert (await debates.state(thread)).end_reason == "max_session_turns"
        assert (await debates.judge(thread, MODEL)).winner == "a"
        chat = await house.world.thread(agent="judge_agent")
        shown = await house.world.ask(chat, "A: tea. B: coffee.")
        assert [block.structured for m in shown for block in m.blocks if block.kind == "tool_result"] == [VERDICT]
        await debates.close()


def test_no_prompt_of_a_side_says_that_it_talks_to_a_machine() -> None:
    """R-SES-6: what a side is told of the other is who it is, never what."""
    for path in sorted((ROOT / "skills" / "debates").glob("*.skill.md")):
        words = path.read_text("utf-8").lower()
        for said in (" ai ", "language model", "another model", "chatbot", "machine", "bot "):
            assert said not in words.replace("single person or machine", ""), (path.name, said)
