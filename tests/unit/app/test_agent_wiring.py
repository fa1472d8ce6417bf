"""The agents of the running app: folders watched, tools kept in step, thread environment, what calls left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from desktop.app.wiring.agents import folders_of
from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.settings import SettingsService
from tests.harness.timeouts import until
from tests.unit.app.test_opening import Nobody

MINE = "name: night_agent\nsideA: {prompt: source-reader}\nexposeAsTool: true\ntoolDescription: %s\n"


def told(services: Services) -> str:
    tool = services.tools.find("night-agent")
    return tool.spec.description if tool is not None else ""


@pytest.mark.spec("R-DEF-16", "R-AAT-1")
async def test_a_file_that_comes_changes_breaks_and_goes_is_followed(tmp_path: Path) -> None:
    settings = SettingsService(tmp_path)
    await settings.load()
    (tmp_path / "data").mkdir()
    services = await build_services(tmp_path, settings, Nobody(), windows=lambda _ref: None)
    folder = tmp_path / "agents"
    try:
        await until(lambda: services.tools.find("source-reader-agent"), "the library's own")
        folder.mkdir(exist_ok=True)
        path = folder / "night_agent.yaml"
        path.write_text(MINE % "First.")
        await until(lambda: told(services) == "First.", "a new file")
        path.write_text(MINE % "Second.")
        await until(lambda: told(services) == "Second.", "a change")
        path.write_text("name: [")
        await until(lambda: services.agents.problems, "a mistake")
        assert told(services) == "Second."
        assert services.agent_services.service.rows()[0].kept
        path.unlink()
        await until(lambda: not told(services), "it is gone")
    finally:
        await services.stop_children()
        await services.chats.close()
        await services.close()


@pytest.mark.spec("R-DEF-16", "R-DEF-17")
async def test_only_trusted_projects_have_agents_and_they_take_no_name_away(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text(
        f"skills: {{projects: ['{tmp_path}/seen'], trusted_projects: ['{tmp_path}/trusted']}}\n"
    )
    settings = SettingsService(home)
    await settings.load()
    folders = folders_of(settings, home, tmp_path / "library")
    assert [(folder.source, str(Path(folder.path).relative_to(tmp_path))) for folder in folders] == [
        ("mine", "home/agents"),
        ("library", "library"),
        ("project", "trusted/.agent/agents"),
        ("project", "trusted/.agents/agents"),
    ]


@pytest.mark.spec("R-FS-10", "R-DEF-16")
async def test_an_agent_that_appears_in_a_trusted_project_is_no_tool_before_it_was_looked_at(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    folder = project / ".agent" / "agents"
    folder.mkdir(parents=True)
    (home / "data").mkdir(parents=True)
    (home / "config.yaml").write_text(f"skills: {{projects: ['{project}'], trusted_projects: ['{project}']}}\n")
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, Nobody(), windows=lambda _ref: None)
    try:
        await until(lambda: services.tools.find("source-reader-agent"), "the library's own")
        path = folder / "night_agent.yaml"
        path.write_text(MINE % "Came by itself.")
        service = services.agent_services.service
        await until(lambda: any(row.unseen for row in service.rows()), "seen to be new")
        assert (told(services), services.agents.agents.get("night_agent")) == ("", None)
        await asyncio.to_thread(service.accept, str(path), next(row.unseen for row in service.rows() if row.unseen))
        assert told(services) == "Came by itself."
    finally:
        await services.stop_children()
        await services.chats.close()
        await services.close()
