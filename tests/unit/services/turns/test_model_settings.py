"""Settings of chats, agents, sides, jobs and called agents: all of them arrive in the request, each in its place."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.models import ModelRef
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.debates.setup import definition_of, from_plain, setup_of, to_plain
from desktop.services.definitions.book import AgentBook
from desktop.services.definitions.format import read_definition
from desktop.services.definitions.saving import definition_text
from desktop.services.definitions.text import read_text
from desktop.services.turns.agent_choices import Efforts
from desktop.skills.catalogue.roots import SearchRoot
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one, prompts
from tests.unit.services.kit import MODEL, ROOT, agent, world
from tests.unit.services.schedules.test_service import HOURLY, jobs


def asked(model: ScriptedModel) -> list[tuple[str, ModelSettings]]:
    return [(str(request.model), request.settings) for request in model.requests]


def below_model(text: str) -> str:
    return f"metadata:\n  model: {text}"


def roots(tmp_path: Path, **models: str) -> tuple[SearchRoot, ...]:
    own = prompts(tmp_path / "skills", **{name: below_model(text) for name, text in models.items()})
    return own, SearchRoot(str(ROOT / "skills"), "library")


@pytest.mark.spec("R-MOD-1")
async def test_what_the_chat_says_stands_over_its_agent_and_that_over_its_prompt(tmp_path: Path) -> None:
    model = ScriptedModel([says("a"), says("b")])
    book = agent(prompt="works", model={"temperature": 0.2, "seed": 2, "effort": "low"})
    skills = roots(tmp_path, works="{temperature: 0.1, seed: 1, effort: none, stop: END}")
    async with world(tmp_path, model, agents=book, roots=skills, effort={"assistant": "high"}.get) as made:
        thread = await made.thread()
        await made.ask(thread, "Go")
        await made.service.set_model_settings(thread, ModelSettings(temperature=0.3))
        await made.ask(thread, "Go on")
    stop = ("END",)
    assert [settings for _, settings in asked(model)] == [
        ModelSettings(temperature=0.2, seed=2, effort="high", stop=stop),
        ModelSettings(temperature=0.3, seed=2, effort="high", stop=stop),
    ]


@pytest.mark.spec("R-MOD-1")
async def test_a_wrong_value_of_a_prompt_ends_the_run_before_a_model_is_asked(tmp_path: Path) -> None:
    model = ScriptedModel([says("never")])
    skills = roots(tmp_path, works="{temperature: hot}")
    async with world(tmp_path, model, agents=agent(prompt="works"), roots=skills) as made:
        shown = await made.ask(await made.thread(), "Go")
    file = tmp_path / "skills" / "works.skill.md"
    said = f"model.temperature has to be a number from 0 to 2, not 'hot' (the skill works, {file}:5)."
    assert (said in shown[-1].blocks[-1].text, asked(model)) == (True, [])


@pytest.mark.spec("R-MOD-1")
async def test_a_called_agent_has_its_own_settings_and_what_was_said_for_the_chat(tmp_path: Path) -> None:
    model = ScriptedModel([calls(HELPER, {"message": "Help."}), says("helped"), says("done")])
    agents = (one(BOSS, "boss", model={"seed": 1}), one(HELPER, "helper", model={"model": "other/m", "seed": 2}))
    async with house(tmp_path, model, *agents) as made:
        thread = await made.world.thread(agent=BOSS)
        await made.world.service.set_model_settings(thread, ModelSettings(temperature=0.5))
        await made.world.ask(thread, "Please.")
    assert asked(model) == [
        (MODEL, ModelSettings(temperature=0.5, seed=1)),
        ("other/m", ModelSettings(temperature=0.5, seed=2)),
        (MODEL, ModelSettings(temperature=0.5, seed=1)),
    ]


@pytest.mark.spec("R-MOD-1")
async def test_each_side_of_a_debate_has_its_own(tmp_path: Path) -> None:
    model = ScriptedModel([says("pro"), says("con")])
    made = setup(a={"settings": {"temperature": 0.9}}, b={"settings": {"effort": "high"}}, max_turns=2)
    async with debate_world(tmp_path, model) as debates:
        await debates.run(made)
    assert [settings for _, settings in asked(model)] == [ModelSettings(temperature=0.9), ModelSettings(effort="high")]
    assert from_plain(to_plain(made)) == made
    again = setup_of(definition_of(made, "d", "D"), made.topic, MODEL)
    assert [again.a.settings, again.b.settings] == [{"temperature": 0.9}, {"effort": "high"}]


@pytest.mark.spec("R-MOD-1")
async def test_a_wrong_setting_of_a_side_is_named_before_it_starts(tmp_path: Path) -> None:
    async with debate_world(tmp_path, ScriptedModel([])) as debates:
        found = await debates.debates.problems(setup(a={"settings": {"temperature": "hot"}}))
    assert [(one.path, one.warning) for one in found if one.code == "model.setting"] == [
        ("sideA.model.temperature", False)
    ]


@pytest.mark.spec("R-MOD-1", "R-MOD-2")
async def test_a_job_has_settings_and_without_a_model_that_of_its_agent(tmp_path: Path) -> None:
    book = AgentBook({"assistant": one("assistant", "assistant", model={"model": "other/m"})})
    async with jobs(tmp_path, says("a"), says("b"), agents=book) as made:
        await made.service.save(replace(HOURLY, model="", settings={"effort": "low"}))
        await made.at(60.2)
        await made.history((await made.service.jobs())[0].job)
        client = made.world.runtime.client
        assert isinstance(client, ScriptedModel)
        assert asked(client) == [("other/m", ModelSettings(effort="low"))]
        with pytest.raises(ConfigurationError, match="temperature has to be a number from 0 to 2"):
            await made.service.save(replace(HOURLY, settings={"temperature": 9}))


@pytest.mark.spec("R-MOD-1")
def test_a_file_of_an_agent_says_its_model_and_settings_and_they_are_written_back() -> None:
    side = {"prompt": "works", "model": {"model": "a/b", "temperature": 0, "stop": ["END"], "effort": "low"}}
    found, problems = read_definition({"name": "x_agent", "sideA": side})
    assert (found is not None, problems) == (True, ())
    assert found is not None
    assert found.side_a.model == {"model": "a/b", "temperature": 0.0, "stop": ["END"], "effort": "low"}
    again = read_text(definition_text(found), "x_agent.yaml").definition
    assert again is not None
    assert again.side_a.model == found.side_a.model
    alone, _ = read_definition({"name": "x_agent", "sideA": {"prompt": "works", "model": "a/b"}})
    assert alone is not None
    assert alone.side_a.model == {"model": "a/b"}


@pytest.mark.parametrize(
    ("given", "path", "code"),
    [
        (3, "sideA.model", "field.type"),
        ("gpt", "sideA.model.model", "model.name"),
        ({"model": 3}, "sideA.model.model", "model.name"),
        ({"temperature": "hot"}, "sideA.model.temperature", "model.setting"),
        ({"topP": 2}, "sideA.model.topP", "model.setting"),
        ({"agent": "agent-acp"}, "sideA.model.agent", "field.unknown"),
        ({"temprature": 1}, "sideA.model.temprature", "field.unknown"),
    ],
)
@pytest.mark.spec("R-MOD-1")
def test_a_wrong_model_in_a_file_is_named_with_its_place(given: object, path: str, code: str) -> None:
    found, problems = read_definition({"name": "x_agent", "sideA": {"prompt": "works", "model": given}})
    assert (found, [(one.path, one.code) for one in problems]) == (None, [(path, code)])


@pytest.mark.spec("R-MOD-5")
async def test_the_effort_of_an_agent_is_remembered_over_restarts(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as made:
        efforts = await Efforts.opened(made.store.state)
        await efforts.choose("assistant", "high")
        await efforts.choose("other", "low")
        await efforts.choose("other", "")
        with pytest.raises(ConfigurationError, match="none, minimal, low, medium, high, xhigh, max"):
            await efforts.choose("assistant", "very high")
        again = await Efforts.opened(made.store.state)
        assert [again.of(name) for name in ("assistant", "other", "third")] == ["high", "", ""]


async def test_settings_of_a_chat_that_another_version_wrote_are_read_as_far_as_they_are_ones(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as made:
        thread = await made.thread()
        await made.store.state.put(key=f"settings:{thread}", value={"seed": 3, "temperature": "hot", "new": 1})
        assert await made.service.model_settings(thread) == ModelSettings(seed=3)
        await made.store.state.put(key=f"settings:{thread}", value=["odd"])
        assert await made.service.model_settings(thread) == UNSAID


@pytest.mark.spec("R-MOD-8")
async def test_the_agent_of_a_chat_is_held_to_what_its_prompt_promises(tmp_path: Path) -> None:
    model = ScriptedModel([says('{"winner": "c"}'), says('{"winner": "a"}')])
    promised = "metadata:\n  returns:\n    type: object\n    properties: {winner: {type: string, enum: [a, b]}}\n"
    own = prompts(tmp_path / "skills", works=f'allowed-tools: ""\n{promised}    required: [winner]')
    beside: list[bool] = []

    async def held_to_schemas(_ref: ModelRef, *, with_tools: bool) -> bool:
        beside.append(with_tools)
        return True

    options = {"agents": agent(prompt="works"), "roots": (own, SearchRoot(str(ROOT / "skills"), "library"))}
    async with world(tmp_path, model, held_to_schemas=held_to_schemas, **options) as made:
        await made.ask(await made.thread(), "Who?")
        assert made.ends()[0].reason == "stop_tool"
    winner = {"type": "string", "enum": ["a", "b"]}
    closed = {"type": "object", "properties": {"winner": winner}, "required": ["winner"], "additionalProperties": False}
    assert [(one.answer_schema, one.tools) for one in model.requests] == [(closed, ())] * 2
    assert "What you gave was not accepted" in model.requests[1].messages[-1].text
    assert beside == [False]
