"""Agents that a person writes in Python: each has a place in the tree of the run, and does all by calls of its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.judgement import Category
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.run_tree import NodeState
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.safety.world import World as SafetyWorld
from tests.unit.services.delegation.test_one_tree import told
from tests.unit.services.delegation.test_tools import BOSS, HELPER, House, house, one

HEAD = """
frontmatter = {
    "name": "clerk",
    "description": "Does the books.",
    "allowed-tools": "look write-file helper-agent sub",
    "metadata": {"role": "agent", "category": "read"},
}
"""
CLASS = """
class Clerk:
    async def run(self, ctx, inbox):
        plan = await ctx.llm(inbox[0]["text"], system="Be brief.")
        seen = await ctx.tool("look", {"path": plan["text"]})
        done = await ctx.tool("write-file", {"path": "b"})
        return [plan["text"], seen.value, done.ok, ctx.agent_id.split("/")[0]]
"""
CALL = ToolCallBlock("1", "clerk", {"message": "count"}, '{"message": "count"}')


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[SystemConfinement]:
    place = SafetyWorld(tmp_path / "world")
    made = SystemConfinement(place.policy, lambda: place.settings)
    if made.probe().kind == "none":
        pytest.skip("nothing can confine a process here")
    yield made
    made.close()


@asynccontextmanager
async def office(
    tmp_path: Path, confinement: SystemConfinement, model: Any, code: str, *, head: str = HEAD, **options: Any
) -> AsyncIterator[House]:
    """A boss that may call the clerk, which is ``code``, in a confined process."""
    listed = options.pop("boss", "look write-file helper-agent clerk sub")
    skills = {"boss": f"allowed-tools: {listed}", "helper": "", "sub": "allowed-tools: look"}
    tools = (FakeTool("look", body=lambda *_: "42"), FakeTool("write-file", Category.WRITE))
    agents = (one(BOSS, "boss", exposed=False), one(HELPER, "helper"))
    async with house(tmp_path, model, *agents, tools=tools, skills=skills, **options) as h:
        path = tmp_path / "skills" / "clerk.skill.py"
        path.write_text(head + code)
        h.world.skills.fabric.invalidate_file(str(path), by_person=True)
        workspace = str(confinement.walls().writable[0])
        h.world.skills.runs.python = PythonWorker(
            confinement, lambda: workspace, lambda definition: Path(definition.path).read_text("utf-8")
        )
        yield h


def value(results: list[ToolResultBlock]) -> Any:
    assert not results[-1].is_error, results[-1].text
    return json.loads(results[-1].text)


@pytest.mark.spec("R-SUP-15", "R-JRN-1")
async def test_it_asks_the_model_calls_tools_and_stands_in_the_tree_of_the_run(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    person = Person("allow_once")
    model = ScriptedModel([calls("clerk", {"message": "count"}), says("a plan"), says("done")])
    head = HEAD.replace('"name"', '"entry": "Clerk", "name"')
    async with office(tmp_path, confinement, model, CLASS, head=head, person=person) as h:
        _, results = await h.ask()
        assert value(results) == ["a plan", "42", True, "clerk"]
        assert [request.tool for request in person.asked] == ["write-file"], "what it does is asked about, call by call"
        assert (model.requests[1].system, model.requests[1].messages[0].text) == ("Be brief.", "count")
        nodes = told(h.world)
        assert (nodes["0.1"].agent, nodes["0.1"].state, nodes["0.1"].rounds) == ("clerk", NodeState.COMPLETED, 1)
        assert nodes["0.1"].tool_calls == 2 or nodes["0.1"].tool_calls == 3
        assert nodes["0"].rounds == 3
