"""View-models of pages that most starts never open: made, and their code imported, when first asked for.

They listen to nothing before; what they show is read from the rooms when they are made.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from desktop.app.rooms import Rooms, safety_of
from desktop.presenter.bridge import Bridge
from desktop.presenter.model_setup import ModelSetupViewModel

if TYPE_CHECKING:
    from desktop.presenter.boundaries import BoundariesViewModel
    from desktop.presenter.cli_tools import CliToolsViewModel
    from desktop.presenter.grants import GrantsViewModel
    from desktop.presenter.jobs import JobsViewModel
    from desktop.presenter.keys import KeysViewModel
    from desktop.presenter.mcp_servers import McpServersViewModel
    from desktop.presenter.middleware import MiddlewareViewModel
    from desktop.presenter.reach import ReachViewModel
    from desktop.presenter.skills_models import SkillsModels
    from desktop.presenter.skills_trying import SkillTrials


def _part(room: str, module: str) -> Any:
    return import_module(f"desktop.{room}.{module}")


class LateModels:
    """Their makers. ``made`` says whether one is there already."""

    rooms: Rooms
    bridge: Bridge
    setup: ModelSetupViewModel

    def made(self, name: str) -> bool:
        """Without making it."""
        return name in self.__dict__

    @cached_property
    def boundaries(self) -> BoundariesViewModel:
        """Of the settings."""
        rooms = self.rooms
        safety = safety_of(rooms.settings, rooms.home, rooms.grants)
        describe, first_link = _part("safety", "boundary_entries").describe, _part("safety", "reach").first_link
        made: BoundariesViewModel = _part("presenter", "boundaries").BoundariesViewModel(
            self.bridge, lambda name, entry: describe(name, entry, safety()), rooms.policy.explain,
            lambda path: first_link(path, safety),
            commands=lambda path: rooms.confinement.walls().reach(path, rooms.confinement.probe().kind),
        )  # fmt: skip
        return made

    @cached_property
    def grants(self) -> GrantsViewModel:
        """Of the settings."""
        made: GrantsViewModel = _part("presenter", "grants").GrantsViewModel(self.rooms.grants, self.bridge)
        return made

    @cached_property
    def reach(self) -> ReachViewModel:
        """Of the settings."""
        desk = _part("app", "reach_rooms").reach_desk(self.rooms)
        made: ReachViewModel = _part("presenter", "reach").ReachViewModel(desk, self.bridge)
        return made

    @cached_property
    def cli(self) -> CliToolsViewModel:
        """Of the settings."""
        module = _part("presenter", "cli_tools")
        made: CliToolsViewModel = module.CliToolsViewModel(self.rooms.cli, self._trials(), self.bridge)
        return made

    @cached_property
    def mcp(self) -> McpServersViewModel:
        """Of the settings."""
        module = _part("presenter", "mcp_servers")
        made: McpServersViewModel = module.McpServersViewModel(
            self.rooms.mcp, self._trials(), self.rooms.tool_secrets, self.bridge
        )
        return made

    @cached_property
    def middleware(self) -> MiddlewareViewModel:
        """Of the settings."""
        rooms = self.rooms
        made: MiddlewareViewModel = _part("presenter", "middleware").MiddlewareViewModel(
            rooms.skills.levels, rooms.settings, self.bridge, rooms.skills.fabric.on_change
        )
        return made

    @cached_property
    def keys(self) -> KeysViewModel:
        """Of the settings."""
        rooms, uses = self.rooms, _part("app", "key_uses").secret_uses
        made: KeysViewModel = _part("presenter", "keys").KeysViewModel(
            rooms.tool_secrets, rooms.secrets, self.setup, self.bridge, lambda: uses(rooms.cli, rooms.mcp)
        )
        for declared in (self.cli, self.mcp):
            declared.changed.connect(made.refresh)
        return made

    @cached_property
    def jobs(self) -> JobsViewModel:
        """Of the Schedules page."""
        made: JobsViewModel = _part("presenter", "jobs").JobsViewModel(self.rooms.jobs, self.bridge)
        return made

    @cached_property
    def skills(self) -> SkillsModels:
        """Of the Skills page."""
        skills = _part("presenter", "skills").SkillsViewModel(self.rooms.desk, self.bridge)
        editor = _part("presenter", "skills_editing").SkillEditor(self.rooms.desk, self.bridge, skills.wrote)
        projects = _part("presenter", "skills_projects").SkillProjects(self.rooms.settings, self.bridge)
        imports = _part("presenter", "skills_importing").SkillImport(self.rooms.desk, self.bridge, skills)
        made: SkillsModels = _part("presenter", "skills_models").SkillsModels(
            skills, editor, self._trials(self._model), projects, imports
        )
        return made

    def _trials(self, *model: Any) -> SkillTrials:
        made: SkillTrials = _part("presenter", "skills_trying").SkillTrials(self.rooms.desk, self.bridge, *model)
        return made

    def _model(self) -> str:
        ref = self.rooms.settings.current.models.default
        return self.setup.describe(ref)[0] if ref else ""
