"""What an agent gets to see: one function for its prompt, for skill-list and for skill-describe (semantics.md 11)."""

import json
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.discovery import resolve_visible_tools
from desktop.domain.tools import Category
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.skills.formats.loader import load_skills_from_file
from desktop.skills.patterns.lists import AllowedList
from tests.unit.library.kit import LIBRARY, LibraryBench
from tests.unit.pipeline.kit import FakeTool

HIDDEN = ("agent", "agent-demo", "agent-litellm")


def bench_of(tmp_path: Path, *rounds: Any) -> LibraryBench:
    tools = (FakeTool("look"), FakeTool("drop", Category.ADMIN), FakeTool("quiet", visibility="hidden"))
    bench = LibraryBench(tmp_path, *tools, model=ScriptedModel([*rounds, says("end")]))
    bench.write("task.skill.md", "---\nname: task\ndescription: x\n---\nDo it.\n")
    bench.register("around", lambda _ctx, _args: None, role="middleware", params={"type": "object"})
    return bench


@pytest.mark.spec("R-DSC-2", "R-VIS-1", "R-AG-7", "R-AG-8")
@pytest.mark.parametrize(
    ("text", "there", "not_there"),
    [
        (None, {"look", "drop", "skill-list"}, {"quiet", "task", *HIDDEN, "around"}),
        ("look", {"look"}, {"drop", "quiet", "task", "skill-list"}),
        ("* quiet task", {"look", "quiet", "task"}, {*HIDDEN, "around"}),
        ("* drop($deny)", {"look"}, {"drop", "quiet"}),
        ("agent agent-demo look", {"look"}, {*HIDDEN}),
        ("", set(), {"look", "drop", "quiet", "task"}),
    ],
)
def test_list_visibility_the_skill_itself_and_the_agents_are_left_out_in_that_order(
    tmp_path: Path, text: str | None, there: set[str], not_there: set[str]
) -> None:
    bench = bench_of(tmp_path)
    visible = resolve_visible_tools(bench.world.table.tools(), AllowedList.of(text), serving="task")
    names = {tool.spec.name for tool in visible.usable}
    assert there <= names
    assert not not_there & names


@pytest.mark.spec("R-DSC-1", "R-DSC-5", "R-DSC-8")
async def test_the_prompt_the_list_and_the_description_agree(tmp_path: Path) -> None:
    listed, described = calls("skill_list", {}), calls("skill_describe", {"name": "drop"})
    bench = bench_of(tmp_path, listed, described)
    text = "* drop($deny) quiet"
    bench.write("task.skill.md", f'---\nname: task\ndescription: x\nallowed-tools: "{text}"\n---\nDo it.\n')
    await bench.call("task", allowed=f"{text} task")
    rows = json.loads(bench.model.requests[1].messages[-1].blocks[0].text)
    usable = resolve_visible_tools(bench.world.table.tools(), AllowedList.of(text), serving="task").usable
    assert {row["name"] for row in rows} == {tool.spec.name for tool in usable}
    refused = bench.model.requests[2].messages[-1].blocks[0]
    assert refused.is_error
    assert [tool["name"] for tool in bench.model.requests[0].tools][:1] == ["quiet"]


@pytest.mark.spec("R-BLT-8")
@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.skill.py")), ids=lambda path: path.name)
def test_every_skill_of_the_library_is_marked_as_such_and_has_a_category(path: Path) -> None:
    for found in load_skills_from_file(str(path), source="library", root=str(LIBRARY)).definitions:
        assert "meta-internal" in found.tags, found.name
        assert found.category in ("read", "write", "admin"), found.name
