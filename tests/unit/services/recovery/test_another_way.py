"""Code that is gone on with, and calls other than it did: nothing that it had made, or that agents had made for it, is
done again in other words before a person has said so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.tools import ToolCallContext
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.context import CallRequest
from desktop.recovery.words import ANOTHER_WAY, MADE_BEFORE
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_resuming import AGENTS, SKILLS, EffectRequest, Pen, begin, go_on, write
from tests.unit.services.delegation.test_tools import House, house

H1, H2 = "write-file {'path': 'h1'} (done)", "write-file {'path': 'h2'} (nobody knows whether it was done)"


class Code:
    """Makes calls, all at once."""

    def __init__(self, *made: tuple[str, dict[str, Any]]) -> None:
        self.houses: list[House] = []
        self.gave: list[str] = []
        self._made = made
        self.tool = FakeTool("batch", Category.READ, body=self._run)

    async def _run(self, _args: dict[str, Any], context: ToolCallContext) -> str:
        call, pipeline = context.scope, self.houses[-1].world.skills.runs.pipeline
        requests = [
            CallRequest(
                ToolCallBlock(new_id(), name, args),
                call.request.caller,
                call.invocation,
                call.request.sink,
                call.request.message_id,
            )
            for name, args in self._made
        ]
        self.gave = [one.result.text for one in await asyncio.gather(*map(pipeline.invoke, requests))]
        return "all is done"


async def cut(tmp_path: Path, pen: Pen, code: Code, *rounds: Any) -> str:
    """The app is closed where the pen is stuck."""
    model = ScriptedModel([calls("batch", {"path": "x"}), *rounds])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool, code.tool), skills=SKILLS) as h:
        code.houses.append(h)
        return await begin(h, pen)


async def again(
    tmp_path: Path, thread: str, code: Code, person: EffectRequest, *rounds: Any
) -> tuple[str, list[str], list[PermissionRequest]]:
    """Continue: what the code gave, what was written, what was asked about."""
    pen, model = Pen(), ScriptedModel([*rounds, says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool, code.tool), skills=SKILLS, person=person) as h:
        code.houses.append(h)
        (told,) = await go_on(h, thread)
        return told, pen.paper, person.unknown


def words(message: str) -> tuple[str, dict[str, Any]]:
    return ("helper-agent", {"message": message})


def path(word: str) -> tuple[str, dict[str, Any]]:
    return ("write-file", {"path": word})


@pytest.mark.spec("R-JRN-2", "R-AAT-2", "R-PRM-4")
@pytest.mark.parametrize("answer", ["done", "allow_once"])
async def test_before_an_agent_is_asked_in_other_words_a_person_reads_what_it_had_done(
    tmp_path: Path, answer: str
) -> None:
    pen = Pen("h2")
    thread = await cut(tmp_path, pen, Code(words("Write both at one.")), write("h1"), write("h2"))
    rounds = [] if answer == "done" else [write("h2 now"), says("helped")]
    code = Code(words("Write both at two."))
    told, paper, asked = await again(tmp_path, thread, code, EffectRequest(answer), *rounds)
    assert [one.tool for one in asked] == ["helper-agent"]
    assert asked[0].unknown.startswith(ANOTHER_WAY)
    assert H1 in asked[0].unknown
    assert H2 in asked[0].unknown
    assert (pen.paper, paper) == (["h1"], [] if answer == "done" else ["h2 now"])
    assert told.startswith(f"[{MADE_BEFORE} ")
    assert H1 in told
    assert H2 in told, "the model hears of it too"


@pytest.mark.spec("R-JRN-2", "R-AAT-2")
async def test_an_agent_that_is_asked_in_the_same_words_goes_on_and_is_not_asked_about(tmp_path: Path) -> None:
    thread = await cut(tmp_path, Pen("h2"), Code(words("Write both.")), write("h1"), write("h2"))
    told, paper, asked = await again(tmp_path, thread, Code(words("Write both.")), EffectRequest(), says("helped"))
    assert (told, paper, [one.arguments for one in asked]) == ("all is done", ["h2"], [{"path": "h2"}])


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
async def test_of_two_writes_at_once_the_one_that_nobody_knows_of_is_not_hidden_by_the_other(tmp_path: Path) -> None:
    pen = Pen("slow at one")
    thread = await cut(tmp_path, pen, Code(path("slow at one"), path("p2")))
    person = EffectRequest("deny")
    told, paper, asked = await again(tmp_path, thread, Code(path("slow at two"), path("p2")), person)
    (slow,) = [one.unknown for one in asked if one.arguments["path"] == "slow at two"]
    assert slow.startswith(ANOTHER_WAY)
    assert "write-file {'path': 'slow at one'} (nobody knows whether it was done)" in slow
    assert paper == []
    assert "'slow at one'" in told
    assert "p2" not in told
