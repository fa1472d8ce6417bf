"""A side's prompt that is written in place of a skill's name: read, saved, run, narrowed, pinned (R-DEF-1)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.app.wiring.skills import PinFile
from desktop.domain.approval.judgement import Category
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ConfigurationError
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.agents.editing import AgentService
from desktop.services.debates.service import DebateService
from desktop.services.debates.setup import from_plain, setup_of, to_plain
from desktop.services.definitions.book import AgentBook, AgentFiles, AgentFolder
from desktop.services.definitions.saving import definition_text, saver
from desktop.services.definitions.text import read_text
from desktop.services.definitions.values import MAX_PROMPT_TEXT
from desktop.skills.catalogue.pins import Pins
from tests.harness.definitions import load_agents
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.debates.kit import answering, debate_world, setup
from tests.unit.services.delegation.test_tools import HELPER, house, one
from tests.unit.services.kit import MODEL, world

TEXT = 'You count owls.\n\n  - by night: `yes` # not by day\n\nSay *how many*.  :skill[assistant]\n"Quoted", ünd 🦉'
OWL = """\
name: owl_agent
title: Owl
sideA:
  promptText: |
    You count owls in :env[CITY].
    Start with :skill[assistant].
"""


def codes(**side: Any) -> set[tuple[str, str]]:
    said = read_text(json.dumps({"name": "owl_agent", "sideA": side}), "x.json")
    return {(problem.path, problem.code) for problem in said.problems if not problem.warning}


@pytest.mark.spec("R-DEF-1", "R-DEF-16")
@pytest.mark.parametrize("tools", [None, "", "read-file bash(command=git*)"])
def test_it_is_saved_as_a_block_and_read_back_as_it_was(tools: str | None) -> None:
    side = SideDefinition("", "Counter", max_rounds=3, prompt_text=TEXT, allowed_tools=tools)
    made = AgentDefinition("owl_agent", side, "Owl", "dual_ai", replace(side, label="Other"), max_turns=4)
    text = definition_text(made)
    assert "promptText: |" in text
    found = read_text(text, "owl_agent.yaml")
    assert [problem for problem in found.problems if not problem.warning] == []
    assert found.definition == replace(made, origin="owl_agent.yaml")
    assert read_text(text, "owl_agent.yaml", places=False).definition == found.definition


@pytest.mark.spec("R-DEF-1", "R-DEF-14")
def test_what_is_wrong_with_it_is_said_at_its_place() -> None:
    assert codes(promptText="You count.") == set()
    assert codes() == {("sideA.prompt", "field.missing")}
    assert codes(promptText=" \n") == {("sideA.promptText", "field.missing")}
    assert codes(prompt="assistant", promptText="You count.") == {("sideA.promptText", "prompt.both")}
    assert codes(promptText=3) == {("sideA.promptText", "field.type")}
    assert codes(promptText="x" * (MAX_PROMPT_TEXT + 1)) == {("sideA.promptText", "field.length")}
    assert codes(promptText="a\u202eb") == {("sideA.promptText", "field.characters")}
    assert codes(promptText="---\nname: x\nallowed-tools: bash\n---\nText") == {
        ("sideA.promptText", "prompt.frontmatter")
    }
    assert codes(prompt="assistant", allowedTools="bash") == {("sideA.allowedTools", "tools.unused")}
    assert codes(promptText="x", allowedTools="bash(") == {("sideA.allowedTools", "patterns.invalid")}
    assert codes(promptText="x", allowedTools={"a": 1}) == {("sideA.allowedTools", "field.type")}
    assert codes(promptText="x", allowedTools=["bash", "read-file"]) == set()


def owl(**side: Any) -> AgentBook:
    text = {"prompt_text": "You count owls in :env[CITY]. :inline[beside.txt]", **side}
    made = AgentDefinition("assistant", SideDefinition("", **text), title="Owl", environment={"CITY": "Bern"})
    return AgentBook({"assistant": made})


@pytest.mark.spec("R-DEF-1", "R-SK-12")
async def test_a_chat_runs_by_it_with_its_directives_expanded_and_the_usual_tools(tmp_path: Path) -> None:
    model = ScriptedModel([calls("read_file", {"path": "a"}), says("Two.")])
    tool = FakeTool()
    chains: list[tuple[str, ...]] = []
    tool.body = lambda _args, context: chains.append(context.chain) or "a"
    async with world(
        tmp_path,
        model,
        tool,
        FakeTool("write-file", Category.WRITE),
        agents=owl(prompt_text="You count owls in :env[CITY] with :tool[read-file].\n:skill[assistant]"),
    ) as w:
        await w.ask(await w.thread(), "How many?")
        system, offered = model.requests[0].system, [tool["name"] for tool in model.requests[0].tools]
        assert "You count owls in Bern with `read-file` (" in system
        assert "`assistant` (" in system
        assert {"read_file", "write_file", "skill_list"} <= set(offered)
        assert chains == [("assistant", "read-file")], "nobody between the agent and its tools"


@pytest.mark.spec("R-PAT-5", "R-AG-7")
@pytest.mark.parametrize(("tools", "offered"), [("read-file", ["read_file"]), ("", [])])
async def test_its_list_narrows_it_as_a_skills_does(tmp_path: Path, tools: str, offered: list[str]) -> None:
    model = ScriptedModel([says("Two.")])
    async with world(
        tmp_path, model, FakeTool(), FakeTool("bash"), agents=owl(prompt_text="You count.", allowed_tools=tools)
    ) as w:
        await w.ask(await w.thread(), "How many?")
        assert [tool["name"] for tool in model.requests[0].tools] == offered


@pytest.mark.spec("R-AAT-1", "R-AAT-7")
async def test_it_can_be_called_by_another_agent_and_counts_as_what_it_may_call(tmp_path: Path) -> None:
    free = replace(one(HELPER, ""), side_a=SideDefinition("", prompt_text="You help."))
    bound = replace(free, name="other_agent", side_a=replace(free.side_a, allowed_tools="read-file"))
    boss = one("boss_agent", "boss", exposed=False)
    model = ScriptedModel([calls("helper_agent", {"message": "Go."}), says("Helped."), says("So.")])
    tools = (FakeTool(), FakeTool("bash", Category.ADMIN))
    skills = {"boss": 'allowed-tools: "*-agent"'}
    async with house(tmp_path, model, boss, free, bound, tools=tools, skills=skills) as h:
        named = {tool.spec.name: tool.spec for tool in h.registry.tools()}
        assert (named["helper-agent"].category, named["other-agent"].category) == (Category.ADMIN, Category.READ)
        assert list(named["helper-agent"].params["properties"]) == ["message"]
        _, (result,) = await h.ask()
        assert (result.is_error, result.text) == (False, "Helped.")
        assert "You help." in model.requests[1].system


@pytest.mark.spec("R-FS-10", "R-DEF-16")
async def test_that_of_a_project_is_off_until_a_person_has_seen_it_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "owl_agent.yaml").write_text(OWL)
    files = AgentFiles([AgentFolder(str(folder), "project")], pins=Pins(PinFile(tmp_path / "pins.json")))
    assert "You count owls" in files.reload().get("owl_agent").side_a.prompt_text
    (folder / "owl_agent.yaml").write_text(OWL.replace("You count owls", "You send keys"))
    assert "owl_agent" not in files.reload().agents
    (row,) = files.book.files
    files.accept(row.path, row.unseen)
    assert "You send keys" in files.book.get("owl_agent").side_a.prompt_text


@pytest.mark.spec("R-DEF-11")
async def test_the_dry_run_of_the_editor_shows_it(tmp_path: Path) -> None:
    said = read_text(OWL + "tenvs: {CITY: Bern}\n", "owl_agent.yaml").definition
    assert said is not None
    async with world(tmp_path, ScriptedModel([]), FakeTool()) as w:
        service = AgentService(AgentFiles([]), lambda: w.runtime, mine=tmp_path, trash=tmp_path / "t")
        shown = (await service.preview(said, MODEL))["a"]
        assert shown.problems == ()
        assert "You count owls in Bern.\nStart with `assistant` (" in shown.system
        assert "read-file" in [tool.name for tool in shown.tools]


@pytest.mark.spec("R-SES-3", "R-DEF-11", "R-DEF-14")
async def test_a_debates_side_runs_by_it_with_the_tools_that_were_chosen(tmp_path: Path) -> None:
    written = {"prompt": "", "prompt_text": "You are for tea in :env[CITY].", "tools": ("look-up",)}
    model = ScriptedModel([calls("look_up", {}), says("Tea."), says("Coffee.")])
    tools = (answering("look-up"), answering("close"))
    async with debate_world(tmp_path, model, *tools) as w:
        made = setup(a=written, max_turns=2, environment={"CITY": "Bern"})
        assert await w.debates.problems(made) == []
        shown = (await w.debates.preview(made))["a"]
        assert ("You are for tea in Bern." in shown.system, [t.name for t in shown.tools]) == (True, ["look-up"])
        assert {"look-up", "close"} <= {t.name for t in await w.debates.tools_of("")}
        thread, state = await w.run(made)
        assert (state.end_reason, await w.outcomes(thread)) == ("max_session_turns", ["Tea.", "Coffee."])
        assert "You are for tea in Bern." in model.requests[0].system
        assert [tool["name"] for tool in model.requests[0].tools] == ["look_up"]
        assert (await w.debates.state(thread)).setup == from_plain(to_plain(made))
        fork = await w.debates.fork(thread, 1, made.with_side("a", replace(made.a, prompt_text="You are for milk.")))
        assert (await w.debates.state(fork)).setup.a.prompt_text == "You are for milk."
        for text, at in (("  ", "prompt"), ("---\nname: x\n---\n", "promptText"), ("a\u202eb", "promptText")):
            wrong = made.with_side("a", replace(made.a, prompt_text=text))
            assert [p.path for p in await w.debates.problems(wrong)] == [f"sideA.{at}"], text


@pytest.mark.spec("R-DEF-16")
async def test_a_set_up_with_it_is_saved_as_an_agent_and_never_gets_wider(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    async with debate_world(tmp_path, ScriptedModel([]), answering("look-up")) as w:
        service = DebateService(w.runtime, w.owner, saver(folder))
        made = setup(
            a={"prompt": "", "prompt_text": TEXT, "tools": ()},
            b={"prompt": "", "prompt_text": "B", "tools": ("look-up", "bash(command=git*)")},
        )
        await service.save_as_agent(made, "my_agent", "about")
        kept = load_agents(folder).agents["my_agent"]
        assert (kept.side_a.allowed_tools, kept.side_b and kept.side_b.allowed_tools) == (
            "",
            "look-up bash(command=git*)",
        )
        assert setup_of(kept, made.topic, MODEL) == replace(made, agent="my_agent")
        long = made.with_side("a", replace(made.a, prompt_text="x" * (MAX_PROMPT_TEXT + 1)))
        with pytest.raises(ConfigurationError, match="promptText has"):
            await service.save_as_agent(long, "long_agent", "")
