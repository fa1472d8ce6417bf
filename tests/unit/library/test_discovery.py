"""What an agent gets to see: one function for its prompt, for skill-list and for skill-describe."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.skill.discovery import resolve_visible_tools
from desktop.agents.skill.offers import Offers, Room
from desktop.domain.approval.judgement import Category
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.skills.formats.loader import load_skills_from_file
from desktop.skills.patterns.lists import AllowedList
from desktop.tools.cli.definitions import SOURCE as CLI
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
        ("agent agent-demo look", {"look", "agent", "agent-demo"}, {"agent-litellm"}),
        ("agent* look", {"look"}, {*HIDDEN}),
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


@pytest.mark.spec("S-PRV-2")
@pytest.mark.parametrize(
    ("text", "there"),
    [("*", {"agent-notes"}), ("agent*", {"agent-notes"}), ("agent-own", {"agent-own"}), ("* agent-own", None)],
)
def test_code_that_is_named_like_a_provider_is_there_only_where_it_is_named(
    tmp_path: Path, text: str, there: set[str] | None
) -> None:
    bench = bench_of(tmp_path)
    bench.register("agent-own", lambda _ctx, _args: None)
    bench.write("agent-notes.skill.md", "---\nname: agent-notes\ndescription: x\nrole: context\n---\nNotes.\n")
    names = {tool.spec.name for tool in resolve_visible_tools(bench.world.table.tools(), AllowedList.of(text)).usable}
    both = {"agent-own", "agent-notes"}
    assert names & both == (both if there is None else there)


@pytest.mark.spec("R-DSC-1", "R-DSC-5", "R-DSC-8")
async def test_the_prompt_the_list_and_the_description_agree(tmp_path: Path) -> None:
    refused = ("drop", "agent", "task", "around")
    asked = [calls("skill_describe", {"name": name}) for name in (*refused, "quiet", "look")]
    bench = bench_of(tmp_path, calls("skill_list", {}), *asked)
    text, limit = "* drop($deny) quiet look(path=src/*)", "look(path=src/*)"
    bench.write("task.skill.md", f'---\nname: task\ndescription: x\nallowed-tools: "{text}"\n---\nDo it.\n')
    await bench.call("task", allowed=f"{text} task")
    first, *later = bench.model.requests
    listed, *described = (request.messages[-1].blocks[0].text for request in later)
    rows = {row["name"]: row for row in json.loads(listed)}
    usable = resolve_visible_tools(bench.world.table.tools(), AllowedList.of(text), serving="task").usable
    assert set(rows) == {tool.spec.name for tool in usable}
    assert not {*refused, *HIDDEN} & set(rows)
    assert (rows["look"]["constraints"], "constraints" in rows["quiet"]) == ([limit], False)
    for name, told in zip(refused, described, strict=False):
        assert told.startswith(f"There is no tool named '{name}'"), name
    quiet, look = map(json.loads, described[len(refused) :])
    assert (quiet["name"], look["name"], look["constraints"]) == ("quiet", "look", [limit])
    shown = {tool["name"]: tool["description"] for tool in first.tools}
    assert list(shown) == ["quiet", "look", "skill_list", "skill_describe", "skill_invoke"]
    assert shown["look"] == f"the tool look\nAllowed here only as {limit}."


def declared(name: str, source: str = "library", text: str = "") -> FakeTool:
    tool = FakeTool(name)
    tool.spec = replace(tool.spec, source=source, description=text or name)
    return tool


@pytest.mark.spec("R-DSC-10")
def test_without_a_list_what_is_declared_is_offered_and_skills_stay_to_be_found(tmp_path: Path) -> None:
    tools = (
        declared("helper", "agent"),
        declared("zoo-look", "mcp"),
        declared("act", "mcp"),
        declared("kubectl", CLI),
        declared("write-file"),
        declared("read-file"),
        declared("secret"),
    )
    tools[-1].spec = replace(tools[-1].spec, visibility="hidden")
    bench = LibraryBench(tmp_path, *tools)
    bench.write("task.skill.md", "---\nname: task\ndescription: x\n---\nDo it.\n")
    order = ["read-file", "write-file", "kubectl", "act", "zoo-look", "helper"]
    explore = ["skill-list", "skill-describe", "skill-invoke"]

    def inlined(text: str | None, room: Room | None = None) -> list[str]:
        visible = resolve_visible_tools(bench.world.table.tools(), AllowedList.of(text), room=room)
        return [tool.spec.name for tool in visible.inlined]

    assert inlined(None) == inlined("*") == [*order, *explore]
    assert inlined("* act($deny)") == ["read-file", "write-file", "kubectl", "zoo-look", "helper", *explore]
    assert inlined("* helper secret") == ["helper", "secret", *order[:-1], *explore]
    assert inlined(None, Room(3)) == [*order[:3], *explore]
    assert inlined("* helper act secret", Room(2)) == ["helper", "act", "secret", *explore]
    assert inlined("helper act", Room(0)) == ["helper", "act"]


def test_what_is_offered_beside_the_list_takes_a_part_of_the_window_and_the_rest_stays_reachable() -> None:
    tools = [declared("a", text="x" * 4_000), declared("b"), declared("c", "mcp")]
    whole = resolve_visible_tools(tools, AllowedList.of(None), room=Offers().room(200_000))
    small = resolve_visible_tools(tools, AllowedList.of(None), room=Offers().room(8_000))
    named = resolve_visible_tools(tools, AllowedList.of("* a"), room=Offers().room(8_000))
    assert [tool.spec.name for tool in whole.inlined] == ["a", "b", "c"]
    assert [tool.spec.name for tool in small.inlined] == []
    assert [tool.spec.name for tool in named.inlined] == ["a"]
    assert small.usable == whole.usable
    assert Offers().room(None) == Room(40)


@pytest.mark.spec("R-BLT-8")
@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.skill.py")), ids=lambda path: path.name)
def test_every_skill_of_the_library_is_marked_as_such_and_has_a_category(path: Path) -> None:
    for found in load_skills_from_file(str(path), source="library", root=str(LIBRARY)).definitions:
        assert "meta-internal" in found.tags, found.name
        assert found.category in ("read", "write", "admin"), found.name
