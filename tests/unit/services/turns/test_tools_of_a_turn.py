"""Which calls of a turn are made side by side, and what is said of a tool that an agent names and cannot call."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.models.scripted import ScriptedModel, says
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Script, call
from tests.unit.agents.script import calls as many_calls
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.kit import agent, world


@pytest.mark.spec("R-LOOP-12")
@pytest.mark.parametrize(
    ("category", "safe", "at_once"), [(Category.READ, True, 2), (Category.READ, False, 1), (Category.WRITE, True, 1)]
)
async def test_calls_of_one_message_are_made_side_by_side_where_they_read_and_are_declared_safe_for_it(
    tmp_path: Path, category: Category, safe: bool, at_once: int
) -> None:
    at_work, seen, both = 0, 0, asyncio.Event()

    async def body(_args: Any, _context: Any) -> str:
        nonlocal at_work, seen
        at_work, seen = at_work + 1, max(seen, at_work + 1)
        if seen == 2:
            both.set()
        if at_once == 2:
            await asyncio.wait_for(both.wait(), WAIT_S)
        else:
            await asyncio.sleep(0.2)  # the other one could begin
        at_work -= 1
        return "done"

    tool = FakeTool("look", category, body=body, parallel_safe=safe)
    model = Script(many_calls(call("1", "look", path="a"), call("2", "look", path="b")), speaks("done"))
    async with world(tmp_path, model, tool, person=Person("allow_once", "allow_once")) as w:
        await w.ask(await w.thread(), "go")
        assert (len(tool.calls), seen) == (2, at_once)


@pytest.mark.spec("R-DEF-11", "R-DEF-13")
@pytest.mark.parametrize(
    ("side", "field"),
    [
        ({"stop_tool": "nowhere", "stop_property": "x"}, "sideA.stopTool"),
        ({"end_session_tool": "nowhere"}, "sideA.endSessionTool"),
    ],
)
async def test_a_tool_that_would_end_the_turn_and_is_not_there_is_named_with_its_field_before_a_model_is_asked(
    tmp_path: Path, side: dict[str, str], field: str
) -> None:
    model = ScriptedModel([says("never")])
    async with world(tmp_path, model, FakeTool("look"), agents=agent(**side)) as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert (end.reason, model.requests) == ("error", [])
        assert f"{field}: there is no tool nowhere." in end.detail
