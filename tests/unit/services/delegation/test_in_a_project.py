"""A project is of one thread: who works for it works there, and nobody else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from tests.unit.agents.script import Script, call
from tests.unit.agents.script import calls as asks
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_tools import BOSS, HELPER, OTHER, house, one
from tests.unit.services.kit import MODEL


@pytest.mark.spec("R-PRJ-1")
async def test_agents_that_a_thread_calls_work_in_its_project_and_a_new_thread_has_none(tmp_path: Path) -> None:
    change = FakeTool("change", category=Category.WRITE)
    model = Script(
        asks(call("1", "helper_agent", message="x")),
        asks(call("2", "other_agent", message="x")),
        asks(call("3", "change", path="a")),
        speaks("o"),
        speaks("h"),
        speaks("done"),
        asks(call("4", "change", path="b")),
        speaks("done"),
    )
    project = str(tmp_path / "tides")
    agents = (one(BOSS, "boss"), one(HELPER, "helper"), one(OTHER, "other"))
    async with house(tmp_path, model, *agents, tools=(change,)) as h:
        made = await h.world.service.create_thread(agent=BOSS, model=MODEL, project=project)
        await h.world.ask(made.thread_id, "Please.")
        assert {place.project for place in change.places} == {project}
        assert [child.project for child in await h.children()] == [project, project]
        change.places.clear()
        await h.world.ask(await h.world.thread(agent=BOSS), "Please.")
        assert {place.project for place in change.places} == {""}
