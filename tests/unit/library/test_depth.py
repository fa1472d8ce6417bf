"""Agents below agents: what each may do, and what a person's edit makes of their text (R-AG-5, R-INV-14)."""

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.models.scripted import ScriptedModel, calls, says
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person


def skill(name: str, allowed: str = "", category: str = "read") -> str:
    lines = ["---", f"name: {name}", f"description: {name}", *([f'allowed-tools: "{allowed}"'] if allowed else [])]
    return "\n".join([*lines, "metadata:", f"  category: {category}", "---", f"You are {name}.", ""])


class Deep:
    """Skills of one's own over two tools, of which ``write-file`` notes each call that got through."""

    def __init__(self, tmp_path: Path, *rounds: Any) -> None:
        self.write = FakeTool("write-file", Category.WRITE)
        person = Person(*["allow_once"] * 10)
        self.bench = LibraryBench(tmp_path, FakeTool("look"), self.write, person=person, model=ScriptedModel(rounds))

    def offered(self, name: str) -> list[list[str]]:
        """What the agent was offered, each time that it was asked."""
        requests = [one for one in self.bench.model.requests if one.system.startswith(f"You are {name}.")]
        return [[tool["name"] for tool in one.tools] for one in requests]


WRITES = calls("write_file", {"path": "a"}, unoffered=True)


@pytest.mark.spec("R-AG-5")
async def test_an_agent_below_an_agent_does_no_more_than_the_first(tmp_path: Path) -> None:
    deep = Deep(tmp_path, calls("inner", {}), WRITES, calls("look", {"path": "b"}), says("in"), WRITES, says("out"))
    deep.bench.write("outer.skill.md", skill("outer", "inner look"))
    deep.bench.write("inner.skill.md", skill("inner", "look write-file"))
    outcome = await deep.bench.call("outer", allowed="outer inner look write-file")
    assert outcome.result.text == "out"
    assert deep.offered("outer")[0] == ["inner", "look"]
    assert deep.offered("inner") == [["look"]] * 3
    assert deep.write.calls == []
    results = [message.blocks[0] for message in deep.bench.model.requests[3].messages if message.role == "tool"]
    assert [(one.is_error, one.text) for one in results][1] == (False, "did look")
    assert results[0].is_error


@pytest.mark.spec("R-AG-5", "R-INV-3")
async def test_code_between_two_agents_lends_the_second_nothing(tmp_path: Path) -> None:
    async def bridge(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("inner")

    deep = Deep(tmp_path, calls("bridge", {}), WRITES, says("in"), says("out"))
    deep.bench.register("bridge", bridge, allowed_tools="inner write-file")
    deep.bench.write("outer.skill.md", skill("outer", "bridge look"))
    deep.bench.write("inner.skill.md", skill("inner", "look write-file"))
    assert (await deep.bench.call("outer", allowed="outer bridge look write-file")).result.text == "out"
    assert deep.offered("inner") == [["look"]] * 2
    assert deep.write.calls == []


@pytest.mark.spec("R-AG-5")
async def test_three_agents_deep_the_narrowest_list_on_the_way_holds(tmp_path: Path) -> None:
    deep = Deep(tmp_path, calls("two", {}), calls("three", {}), WRITES, says("c"), says("b"), says("a"))
    deep.bench.write("one.skill.md", skill("one", "two three look write-file"))
    deep.bench.write("two.skill.md", skill("two", "three look"))
    deep.bench.write("three.skill.md", skill("three", "look write-file"))
    await deep.bench.call("one")
    assert deep.offered("three") == [["look"]] * 2
    assert deep.write.calls == []


@pytest.mark.spec("R-AG-5")
async def test_a_narrow_agent_narrows_nobody_beside_it(tmp_path: Path) -> None:
    writes = calls("write_file", {"path": "a"})
    deep = Deep(tmp_path, calls("narrow", {}), says("n"), calls("wide", {}), writes, says("w"), says("out"))
    deep.bench.write("outer.skill.md", skill("outer", "narrow wide look write-file"))
    deep.bench.write("narrow.skill.md", skill("narrow", "look"))
    deep.bench.write("wide.skill.md", skill("wide", "look write-file"))
    await deep.bench.call("outer")
    assert (deep.offered("narrow")[0], deep.offered("wide")[0]) == (["look"], ["look", "write_file"])
    assert deep.write.calls == [{"path": "a"}]


@pytest.mark.spec("R-AG-8", "R-AG-7", "R-AG-5")
async def test_below_somebody_who_may_do_everything_a_list_that_names_itself_or_an_agent_means_it(
    tmp_path: Path,
) -> None:
    again = (calls("inner", {}), says("deepest"))
    asks = (calls("agent", {"prompt": "You are asked."}), says("by an agent"))
    inner = calls("skill_invoke", {"ref": "inner"})
    deep = Deep(tmp_path, inner, *again, *asks, calls("quiet", {}), says("in"), says("out"))
    deep.bench.register("quiet", lambda _ctx, _args: "quiet ran", visibility="hidden")
    deep.bench.write("outer.skill.md", skill("outer", "*"))
    deep.bench.write("inner.skill.md", skill("inner", "inner agent quiet look"))
    assert (await deep.bench.call("outer")).result.text == "out"
    results = [one.blocks[0] for one in deep.bench.model.requests[-2].messages if one.role == "tool"]
    assert [one.text.split("\n")[-1] for one in results[:2]] == ["deepest", "by an agent"]
    assert results[2].text == "quiet ran"  # hidden, and named exactly
    assert deep.offered("inner")[0] == ["inner", "agent", "quiet", "look"]
    deep.bench.write("other.skill.md", skill("other", "* look"))
    deep.bench.model = ScriptedModel(
        [calls("other", {}, unoffered=True), calls("agent", {"prompt": "x"}, unoffered=True), says("out")]
    )
    await deep.bench.call("other")
    assert [one.blocks[0].is_error for one in deep.bench.model.requests[2].messages if one.role == "tool"] == [True] * 2


@pytest.mark.spec("R-PRM-5", "R-SK-12")
async def test_the_text_of_a_skill_is_made_of_the_arguments_that_the_person_edited(tmp_path: Path) -> None:
    person = Person(lambda _request: Decision("allow_edited", "digest", edited_arguments={"name": "Bob"}), "allow_once")
    bench = LibraryBench(tmp_path, person=person, model=ScriptedModel([says("Hello Bob")]))
    params = "  params:\n    type: object\n    properties:\n      name: {type: string}\n"
    head = f"---\nname: greet\ndescription: greets\nmetadata:\n  category: write\n{params}---\n"
    bench.write("greet.skill.md", head + "Greet :arg[name].\n")
    assert (await bench.call("greet", {"name": "Ada"})).result.text.endswith("\nHello Bob")
    (request,) = bench.model.requests
    assert request.system.startswith("Greet Bob.")
    assert "Ada" not in request.system + request.messages[0].text
