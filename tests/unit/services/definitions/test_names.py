"""Names of agents are free; those of their tools and files follow from them (R-DEF-2, R-AAT-1)."""

import unicodedata
from pathlib import Path

import pytest

from desktop.domain.agent_names import alias_of, file_stem_of, tool_name_of
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.definitions.format import read_definition
from desktop.services.definitions.saving import saver
from desktop.services.definitions.values import TOOL
from desktop.skills.names import is_bare_name
from tests.harness.definitions import load_agents
from tests.unit.services.delegation.test_tools import BOSS, house, one

MINIMUM = {"sideA": {"prompt": "assistant"}}


@pytest.mark.spec("R-DEF-2")
@pytest.mark.parametrize("name", ["Support Agent", "支援係", "Überprüfung", "a.b agent", "1a", "a" * 65, "naïve 🙂"])
def test_a_name_is_free_in_any_script(name: str) -> None:
    found = read_definition({**MINIMUM, "name": name})[0]
    assert found is not None
    assert (found.name, found.shown) == (name, name)
    alike, _ = read_definition({**MINIMUM, "name": unicodedata.normalize("NFD", name)})
    assert alike is not None
    assert alike.name == name, "looks the same, is one"


@pytest.mark.spec("R-AAT-1")
def test_the_name_of_the_tool_follows_from_it_is_a_tools_name_and_unique() -> None:
    names = [
        "support_agent",
        "Support Agent",
        "support-agent",
        "SUPPORT AGENT",
        "Überprüfung",
        "支援係",
        "支援",
        "1a",
        "🙂",
        "!",
        "x" * 80,
        "Straße",
        "Strasse",
        "agent",
        "agent_smith",
        "my_agent_smith",
        "my_agent",
        "a_b",
        "a b",
    ]
    found = {name: tool_name_of(name) for name in names}
    assert len(set(found.values())) == len(names)
    assert all(is_bare_name(tool) for tool in found.values())
    assert all(TOOL.fullmatch(alias_of(tool)) for tool in found.values())
    assert len({alias_of(tool) for tool in found.values()}) == len(names)
    assert (found["support_agent"], alias_of(found["support_agent"])) == ("support-agent", "support_agent")
    assert found["Überprüfung"].startswith("uberprufung-")
    assert found["1a"].startswith("my-1a-")
    assert not set(found["支援係"]) & set("支援係")
    assert not [tool for tool in found.values() if tool == "agent" or tool.startswith("agent-")], "those are providers"
    stems = {file_stem_of(name) for name in names}
    assert len(stems) == len(names)
    assert all(TOOL.fullmatch(stem) for stem in stems)


@pytest.mark.spec("R-AAT-1", "R-DEF-17")
async def test_agents_with_free_names_are_called_by_their_tools_and_kept_in_files(tmp_path: Path) -> None:
    names = ("Wetter fragen", "wetter_fragen", "天気")
    agents = [one(name, "helper") for name in names]
    tools = {name: tool_name_of(name) for name in names}
    model = ScriptedModel(
        [
            *(
                answer
                for name in names
                for answer in (calls(alias_of(tools[name]), {"message": name}), says(f"Rain, says {name}."))
            ),
            says("It rains."),
        ]
    )
    async with house(tmp_path, model, one(BOSS, "boss"), *agents, skills={"boss": "", "helper": ""}) as h:
        assert h.tools.problems == {}
        _, results = await h.ask()
        assert h.world.ends()[-1].reason == "response", h.world.ends()[-1].detail
        assert [result.text for result in results] == [f"Rain, says {name}." for name in names]
        assert [thread.agent for thread in await h.children()] == list(names)
    save = saver(tmp_path / "agents")
    paths = [Path(await save(agent)) for agent in agents]
    assert {path.parent for path in paths} == {tmp_path / "agents"}
    assert set(load_agents(tmp_path / "agents").agents) == set(names)


@pytest.mark.spec("R-AAT-1")
@pytest.mark.parametrize("added", ["researcher", "RESEARCHER", "copied"])
async def test_an_agent_that_is_added_never_gets_the_tool_of_another(tmp_path: Path, added: str) -> None:
    """A rule is given for a tool's name: it would let the new agent through."""
    tool = tool_name_of("Researcher")
    other = one(alias_of(tool) if added == "copied" else added, "other")
    skills = {"boss": "", "helper": "", "other": ""}
    model = ScriptedModel([calls(alias_of(tool), {"message": "x"}), says("Found."), says("Done.")])
    agents = (one(BOSS, "boss"), one("Researcher", "helper"), other)
    async with house(tmp_path, model, *agents, skills=skills) as h:
        assert h.tools.problems == {}
        assert len({tool.spec.name for tool in h.registry.tools()}) == len(agents)
        await h.ask()
        assert [thread.agent for thread in await h.children()] == ["Researcher"]


@pytest.mark.parametrize("name", ["agent_helper", "agent"])
async def test_an_agent_is_not_called_as_a_skill_that_models_know(tmp_path: Path, name: str) -> None:
    async with house(tmp_path, ScriptedModel([]), one(BOSS, "boss"), one(name, "helper")) as h:
        assert h.tools.problems == {}
        assert h.registry.find(name) is None
        assert h.registry.find(tool_name_of(name)) is not None
