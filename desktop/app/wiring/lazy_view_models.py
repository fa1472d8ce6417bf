"""View-models of pages that most starts never open: made, and their code imported, when first asked for.

They listen to nothing before; what they show is read from the services when they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from desktop.app.wiring.runtime import Services, safety_of
from desktop.domain.lazy import Lazy
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.model_setup import ModelSetupViewModel

if TYPE_CHECKING:
    from desktop.domain.safety import EntryFacts, SafetySettings, SettingsProvider
    from desktop.presenter.mcp.servers import McpServersViewModel
    from desktop.presenter.schedules.page import JobsViewModel
    from desktop.presenter.settings.boundaries import BoundariesViewModel
    from desktop.presenter.settings.cli_tools import CliToolsViewModel
    from desktop.presenter.settings.grants import GrantsViewModel
    from desktop.presenter.settings.keys import KeysViewModel, Use
    from desktop.presenter.settings.middleware import MiddlewareViewModel
    from desktop.presenter.settings.reach import ReachViewModel
    from desktop.presenter.skills.editing import SkillEditor
    from desktop.presenter.skills.importing import SkillImport
    from desktop.presenter.skills.models import SkillsModels
    from desktop.presenter.skills.page import SkillsViewModel
    from desktop.presenter.skills.projects import SkillProjects
    from desktop.presenter.skills.trying import SkillTrials
    from desktop.safety.boundary.entries import ListName
    from desktop.services.reach.service import ReachService
    from desktop.tools.cli.tools import CliTools
    from desktop.tools.mcp.servers import McpServers

_GRANTS_VIEW_MODEL: Lazy[type[GrantsViewModel]] = Lazy("desktop.presenter.settings.grants", "GrantsViewModel")
_CLI_TOOLS_VIEW_MODEL: Lazy[type[CliToolsViewModel]] = Lazy("desktop.presenter.settings.cli_tools", "CliToolsViewModel")
_MCP_SERVERS_VIEW_MODEL: Lazy[type[McpServersViewModel]] = Lazy("desktop.presenter.mcp.servers", "McpServersViewModel")
_DESCRIBE: Lazy[Callable[[ListName, str, SafetySettings], EntryFacts]] = Lazy(
    "desktop.safety.boundary.entries", "describe"
)
_FIRST_LINK: Lazy[Callable[[str, SettingsProvider], str]] = Lazy("desktop.safety.boundary.reach", "first_link")
_BOUNDARIES_VIEW_MODEL: Lazy[type[BoundariesViewModel]] = Lazy(
    "desktop.presenter.settings.boundaries", "BoundariesViewModel"
)
_REACH_SERVICE: Lazy[Callable[[Services], ReachService]] = Lazy("desktop.app.wiring.reach", "reach_service")
_REACH_VIEW_MODEL: Lazy[type[ReachViewModel]] = Lazy("desktop.presenter.settings.reach", "ReachViewModel")
_MIDDLEWARE_VIEW_MODEL: Lazy[type[MiddlewareViewModel]] = Lazy(
    "desktop.presenter.settings.middleware", "MiddlewareViewModel"
)
_SECRET_USES: Lazy[Callable[[CliTools, McpServers], list[Use]]] = Lazy("desktop.app.wiring.key_uses", "secret_uses")
_KEYS_VIEW_MODEL: Lazy[type[KeysViewModel]] = Lazy("desktop.presenter.settings.keys", "KeysViewModel")
_JOBS_VIEW_MODEL: Lazy[type[JobsViewModel]] = Lazy("desktop.presenter.schedules.page", "JobsViewModel")
_SKILLS_VIEW_MODEL: Lazy[type[SkillsViewModel]] = Lazy("desktop.presenter.skills.page", "SkillsViewModel")
_SKILL_EDITOR: Lazy[type[SkillEditor]] = Lazy("desktop.presenter.skills.editing", "SkillEditor")
_SKILL_PROJECTS: Lazy[type[SkillProjects]] = Lazy("desktop.presenter.skills.projects", "SkillProjects")
_SKILL_IMPORT: Lazy[type[SkillImport]] = Lazy("desktop.presenter.skills.importing", "SkillImport")
_SKILLS_MODELS: Lazy[type[SkillsModels]] = Lazy("desktop.presenter.skills.models", "SkillsModels")
_SKILL_TRIALS: Lazy[type[SkillTrials]] = Lazy("desktop.presenter.skills.trying", "SkillTrials")


class LazyModels:
    """Their makers. ``made`` says whether one is there already."""

    services: Services
    bridge: Bridge
    setup: ModelSetupViewModel

    def made(self, name: str) -> bool:
        """Without making it."""
        return name in self.__dict__

    @cached_property
    def boundaries(self) -> BoundariesViewModel:
        """Of the settings."""
        services = self.services
        safety = safety_of(services.settings, services.home, services.grants)
        describe = _DESCRIBE.get()
        first_link = _FIRST_LINK.get()
        return _BOUNDARIES_VIEW_MODEL.get()(
            self.bridge,
            lambda name, entry: describe(name, entry, safety()),
            services.policy.explain,
            lambda path: first_link(path, safety),
            commands=lambda path: services.confinement.profile().reach(path, services.confinement.probe().kind),
        )

    @cached_property
    def grants(self) -> GrantsViewModel:
        """Of the settings."""
        return _GRANTS_VIEW_MODEL.get()(self.services.grants, self.bridge)

    @cached_property
    def reach(self) -> ReachViewModel:
        """Of the settings."""
        service = _REACH_SERVICE.get()(self.services)
        return _REACH_VIEW_MODEL.get()(service, self.bridge)

    @cached_property
    def cli(self) -> CliToolsViewModel:
        """Of the settings."""
        return _CLI_TOOLS_VIEW_MODEL.get()(self.services.cli, self._trials(), self.bridge)

    @cached_property
    def mcp(self) -> McpServersViewModel:
        """Of the settings."""
        return _MCP_SERVERS_VIEW_MODEL.get()(self.services.mcp, self._trials(), self.services.tool_secrets, self.bridge)

    @cached_property
    def middleware(self) -> MiddlewareViewModel:
        """Of the settings."""
        services = self.services
        return _MIDDLEWARE_VIEW_MODEL.get()(
            services.skills.levels, services.settings, self.bridge, services.skills.fabric.on_change
        )

    @cached_property
    def keys(self) -> KeysViewModel:
        """Of the settings."""
        services, uses = self.services, _SECRET_USES.get()
        made: KeysViewModel = _KEYS_VIEW_MODEL.get()(
            services.tool_secrets, services.secrets, self.setup, self.bridge, lambda: uses(services.cli, services.mcp)
        )
        for declared in (self.cli, self.mcp):
            declared.changed.connect(made.refresh)
        return made

    @cached_property
    def jobs(self) -> JobsViewModel:
        """Of the Schedules page."""
        return _JOBS_VIEW_MODEL.get()(self.services.jobs, self.bridge)

    @cached_property
    def skills(self) -> SkillsModels:
        """Of the Skills page."""
        skills = _SKILLS_VIEW_MODEL.get()(self.services.skill_service, self.bridge)
        editor = _SKILL_EDITOR.get()(self.services.skill_service, self.bridge, skills.wrote)
        projects = _SKILL_PROJECTS.get()(self.services.settings, self.bridge)
        imports = _SKILL_IMPORT.get()(self.services.skill_service, self.bridge, skills)
        return _SKILLS_MODELS.get()(skills, editor, self._trials(self._model), projects, imports)

    def _trials(self, *model: Any) -> SkillTrials:
        return _SKILL_TRIALS.get()(self.services.skill_service, self.bridge, *model)

    def _model(self) -> str:
        ref = self.services.settings.current.models.default
        return self.setup.describe(ref)[0] if ref else ""
