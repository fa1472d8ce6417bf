"""The skills of the running app follow the settings: projects, their trust, and what their main skills promote."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.app.wiring.boundary import safety_of
from desktop.app.wiring.skills import follow_settings, keep_current, open_skills
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.session_grants import SessionGrants
from desktop.safety.confinement.select import SystemConfinement
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.tools.registry import ToolRegistry
from tests.harness.timeouts import WAIT_S

MAIN = """---
name: chief
description: Leads.
metadata:
  role: main
  $local:
    team: blue
  $global:
    house: white
    data: theirs
---
Lead.
"""


class App:
    """Settings, and the skills that follow them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = SettingsService(home)
        self.changes: list[asyncio.Task[Any]] = []

    def _spawn(self, coroutine: Any, _name: str) -> None:
        self.changes.append(asyncio.ensure_future(coroutine))

    async def opened(self) -> SkillWorld:
        safety = safety_of(self.settings, self.home, SessionGrants())
        policy = BoundaryPolicy(str(self.home), safety)
        library = self.home.parent / "library"
        world = await asyncio.to_thread(
            open_skills,
            self.home,
            library,
            self.settings,
            ToolRegistry([]),
            BoundaryFiles(policy),
            SystemConfinement(policy, safety),
            safety,
        )
        await keep_current(world)
        follow_settings(world, self.settings, self.home, library, self._spawn)
        return world

    async def change(self, key: str, value: Any) -> None:
        await self.settings.update(key, value)
        await asyncio.wait_for(asyncio.gather(*self.changes), WAIT_S)


@pytest.fixture
async def app(tmp_path: Path) -> App:
    (tmp_path / "p" / ".agents" / "skills").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    made = App(tmp_path / "home")
    await made.settings.load()
    return made


@pytest.mark.spec("R-INV-13", "R-SK-15")
@pytest.mark.parametrize("place", ["SKILL.md", ".agents/skills/chief/SKILL.md"])
async def test_what_a_main_skill_promotes_holds_while_its_project_is_trusted(app: App, place: str) -> None:
    project = app.home.parent / "p"
    (project / place).parent.mkdir(exist_ok=True)
    (project / place).write_text(MAIN)
    await app.settings.update("skills.trusted_projects", [str(project)])
    world = await app.opened()
    try:
        assert world._promoted().local == {"team": "blue"}
        assert world.shared["house"] == "white"
        assert world.shared["data"] == str(app.home / "data")
        await app.change("skills.projects", [str(project), str(app.home / "other")])
        assert world._promoted().local == {"team": "blue"}
        await app.change("skills.trusted_projects", [])
        assert world._promoted().local == {}
        assert "house" not in world.shared
        assert world.shared["data"] == str(app.home / "data")
        await app.change("skills.trusted_projects", [str(project)])
        assert world.shared["house"] == "white"
    finally:
        await asyncio.to_thread(world.close)
