"""The variables of an agent's threads: its definition's, and over them a thread's own (R-DEF-15, D-6)."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.models.scripted import ScriptedModel, calls, says
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one

pytestmark = pytest.mark.spec("D-6")


@pytest.mark.spec("R-DEF-15")
async def test_the_environment_of_a_definition_is_a_default_of_its_threads(tmp_path: Path) -> None:
    boss = replace(one(BOSS, "boss"), environment={"CITY": "Oslo", "UNIT": "metre"})
    model = ScriptedModel([says("Noted.")])
    async with house(tmp_path, model, boss) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.set_environment(thread, {"CITY": "Bergen"})
        await h.world.ask(thread, "Hello")
        assert "CITY is Bergen." in model.requests[0].system
        assert "UNIT is metre." in model.requests[0].system


@pytest.mark.spec("R-DEF-15", "R-AAT-2")
async def test_each_agents_variables_reach_its_prompt_and_its_calls_and_those_of_nobody_else(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []
    look = FakeTool("look", body=lambda _args, context: seen.append(dict(context.meta.environment)) or "seen")
    boss = replace(one(BOSS, "boss"), environment={"CITY": "Oslo", "UNIT": "metre"})
    helper = replace(one(HELPER, "helper"), environment={"CITY": "Bergen"})
    model = ScriptedModel(
        [
            calls("look", {"path": "a"}),
            calls("helper_agent", {"message": "look"}),
            calls("look", {"path": "a"}),
            says("Rain."),
            says("It rains."),
        ]
    )
    skills = {"boss": "---\nA :env[UNIT] in :env[CITY].", "helper": "---\nWork in :env[CITY]."}
    async with house(tmp_path, model, boss, helper, tools=(look,), skills=skills) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.set_environment(thread, {"UNIT": "foot"})
        await h.world.ask(thread, "Please.")
        assert seen == [{"CITY": "Oslo", "UNIT": "foot"}, {"CITY": "Bergen"}]
        assert "A foot in Oslo." in model.requests[0].system
        assert "Work in Bergen." in model.requests[2].system
        assert "foot" not in model.requests[2].system


@pytest.mark.spec("R-DEF-15")
async def test_a_prompt_reads_no_variable_that_is_neither_the_threads_nor_allowed(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([]), one(BOSS, "boss"), skills={"boss": "---\n:env[AGENT_HOME]"}) as h:
        await h.ask()
        assert "may not read this environment variable" in h.world.ends()[0].detail
