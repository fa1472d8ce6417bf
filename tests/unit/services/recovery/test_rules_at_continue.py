"""Going on after the process died: the rules of the round loop hold for the round that was cut off, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.agents.loop.rounds import MAX_CALLS
from desktop.agents.skill.result_contract import FINISH
from desktop.domain.messages import StopReason
from desktop.models.scripted import ScriptedModel, says
from tests.unit.pipeline.kit import Person
from tests.unit.services.cut_off import READ, WRITE, cut_off, line, results, tools
from tests.unit.services.delegation.test_tools import RETURNS, prompts
from tests.unit.services.kit import agent, world

STOPS = {"stop_on_response": True, "stop_tool": WRITE, "stop_property": "path"}


@pytest.mark.spec("R-SES-7", "R-SES-10", "R-SES-12")
@pytest.mark.parametrize("left", ["open", "journaled", "stored"])
async def test_a_stop_tool_ends_the_turn_that_was_cut_off_without_asking_the_model(tmp_path: Path, left: str) -> None:
    model, person, (write, read) = ScriptedModel([says("never asked")]), Person("allow_once"), tools()
    lines = [line(1, "c1", WRITE, "begun"), line(2, "c1", WRITE, "completed", text="wrote")]
    async with world(tmp_path, model, write, read, person=person, supervised=True, agents=agent(**STOPS)) as w:
        thread = await cut_off(
            w, [("c1", WRITE)], lines if left == "journaled" else [], done="c1" if left == "stored" else ""
        )
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert (w.ends()[-1].reason, model.requests, len(write.calls)) == ("stop_tool", [], left == "open")
        assert path[-1].role == "tool"
        await w.service.continue_answer(thread)
        assert (await w.settled(thread))[-1].text == "never asked"


@pytest.mark.spec("R-SES-7")
async def test_who_goes_on_after_a_turn_that_its_stop_tool_ended_gets_an_answer(tmp_path: Path) -> None:
    model, (write, _) = ScriptedModel([says("more")]), tools()
    async with world(tmp_path, model, write, person=Person(), supervised=True, agents=agent(**STOPS)) as w:
        thread = await cut_off(w, [("c1", WRITE)], [], done="c1", end="stop_tool")
        await w.service.continue_answer(thread)
        assert (await w.settled(thread))[-1].text == "more"


@pytest.mark.spec("R-LOOP-10", "R-LOOP-11")
@pytest.mark.parametrize(
    ("reason", "code"), [("length", "tool.cut"), ("cut", "tool.aborted"), ("aborted", "tool.aborted")]
)
async def test_calls_of_an_answer_that_is_not_whole_are_not_made(tmp_path: Path, reason: StopReason, code: str) -> None:
    model, person, (write, read) = ScriptedModel([says("again, then")]), Person(), tools()
    async with world(tmp_path, model, write, read, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE), ("c2", READ)], [], reason=reason)
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert (write.calls, read.calls, person.asked) == ([], [], [])
        assert [block.facts["code"] for message in path if message.role == "tool" for block in message.blocks] == (
            [code, code]
        )
        assert path[-1].text == "again, then"
        assert await w.store.effects.unfinished() == []


@pytest.mark.spec("R-LOOP-12")
async def test_of_too_many_calls_only_as_many_are_made_as_one_message_may_make(tmp_path: Path) -> None:
    model, (_, read) = ScriptedModel([says("ok")]), tools()
    async with world(tmp_path, model, read, supervised=True) as w:
        thread = await cut_off(w, [(f"c{at}", READ) for at in range(MAX_CALLS + 6)], [], done="c0")
        await w.service.continue_answer(thread)
        found = results(await w.settled(thread))
        assert len(read.calls) == MAX_CALLS - 1
        assert [call for call, text in found.items() if text.startswith("Not executed: one message may")] == (
            [f"c{MAX_CALLS + at}" for at in range(6)]
        )


@pytest.mark.spec("R-AAT-3", "R-RET-2")
async def test_the_value_that_was_promised_ends_the_turn_that_was_cut_off(tmp_path: Path) -> None:
    model, roots = ScriptedModel([says("never asked")]), (prompts(tmp_path / "mine", judge=RETURNS),)
    async with world(tmp_path, model, supervised=True, agents=agent(prompt="judge"), roots=roots) as w:
        thread = await cut_off(w, [("c1", FINISH)], [], arguments={"winner": "b"})
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert (w.ends()[-1].reason, model.requests) == ("stop_tool", [])
        assert results(path) == {"c1": "Accepted."}
