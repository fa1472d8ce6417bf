"""View-models of pages that most starts never open: made, and their code imported, when first asked for.

They listen to nothing before; what they show is read from the services when they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.app.door.host import Door
from desktop.app.home.installation import this_installation
from desktop.app.home.unsaved_texts import UnsavedTextFiles
from desktop.app.wiring.boundary import safety_of
from desktop.app.wiring.outside import start_words
from desktop.app.wiring.services import Services
from desktop.domain.errors import SecretsUnavailable
from desktop.domain.keyring import referred_to
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.models import Connection
from desktop.domain.safety import Access
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.connections.trials import Saved
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.tools.mcp.headers import references

if TYPE_CHECKING:
    from desktop.app.home import installation as home_installation
    from desktop.app.wiring import page_services
    from desktop.app.wiring.help import models as help_wiring
    from desktop.presenter.changes import kept as changes_kept
    from desktop.presenter.changes.kept import KeptViewModel
    from desktop.presenter.help.page import HelpViewModel
    from desktop.presenter.help.report import ReportViewModel
    from desktop.presenter.mcp import servers as mcp_servers
    from desktop.presenter.mcp.servers import McpServersViewModel
    from desktop.presenter.schedules import page as schedules_page
    from desktop.presenter.schedules.page import JobsViewModel
    from desktop.presenter.settings import boundaries as settings_boundaries
    from desktop.presenter.settings import cli_tools as settings_cli_tools
    from desktop.presenter.settings import grants as settings_grants
    from desktop.presenter.settings import keys as settings_keys
    from desktop.presenter.settings import local_starts as settings_local_starts
    from desktop.presenter.settings import middleware as settings_middleware
    from desktop.presenter.settings import other_agents as settings_other_agents
    from desktop.presenter.settings import other_apps as settings_other_apps
    from desktop.presenter.settings import reach as settings_reach
    from desktop.presenter.settings.about import page as settings_about
    from desktop.presenter.settings.about.page import AboutViewModel
    from desktop.presenter.settings.boundaries import BoundariesViewModel
    from desktop.presenter.settings.cli_tools import CliToolsViewModel
    from desktop.presenter.settings.connections import searches as settings_searches
    from desktop.presenter.settings.connections.searches import SearchesViewModel
    from desktop.presenter.settings.grants import GrantsViewModel
    from desktop.presenter.settings.keys import KeysViewModel
    from desktop.presenter.settings.local_starts import LocalStartsViewModel
    from desktop.presenter.settings.middleware import MiddlewareViewModel
    from desktop.presenter.settings.other_agents import OtherAgentsViewModel
    from desktop.presenter.settings.other_apps import OtherAppsViewModel
    from desktop.presenter.settings.reach import ReachViewModel
    from desktop.presenter.skills import editing as skills_editing
    from desktop.presenter.skills import importing as skills_importing
    from desktop.presenter.skills import models as skills_models
    from desktop.presenter.skills import page as skills_page
    from desktop.presenter.skills import projects as skills_projects
    from desktop.presenter.skills import repositories as skills_repositories
    from desktop.presenter.skills import trying as skills_trying
    from desktop.presenter.skills.models import SkillsModels
    from desktop.presenter.skills.trying import SkillTrials
    from desktop.presenter.updates import page as updates_page
    from desktop.presenter.updates.page import UpdatesViewModel
    from desktop.safety.boundary import entries as boundary_entries
    from desktop.safety.boundary import reach as boundary_reach
    from desktop.services.licences import reading as licences_reading
    from desktop.services.updates import making as updates_making
    from desktop.services.updates.service import UpdateService
else:
    help_wiring = lazy_module("desktop.app.wiring.help.models")
    home_installation = lazy_module("desktop.app.home.installation")
    page_services = lazy_module("desktop.app.wiring.page_services")
    mcp_servers = lazy_module("desktop.presenter.mcp.servers")
    schedules_page = lazy_module("desktop.presenter.schedules.page")
    settings_about = lazy_module("desktop.presenter.settings.about.page")
    settings_boundaries = lazy_module("desktop.presenter.settings.boundaries")
    settings_cli_tools = lazy_module("desktop.presenter.settings.cli_tools")
    settings_grants = lazy_module("desktop.presenter.settings.grants")
    changes_kept = lazy_module("desktop.presenter.changes.kept")
    settings_keys = lazy_module("desktop.presenter.settings.keys")
    settings_local_starts = lazy_module("desktop.presenter.settings.local_starts")
    settings_middleware = lazy_module("desktop.presenter.settings.middleware")
    settings_other_agents = lazy_module("desktop.presenter.settings.other_agents")
    settings_other_apps = lazy_module("desktop.presenter.settings.other_apps")
    settings_searches = lazy_module("desktop.presenter.settings.connections.searches")
    settings_reach = lazy_module("desktop.presenter.settings.reach")
    skills_editing = lazy_module("desktop.presenter.skills.editing")
    skills_importing = lazy_module("desktop.presenter.skills.importing")
    skills_models = lazy_module("desktop.presenter.skills.models")
    skills_page = lazy_module("desktop.presenter.skills.page")
    skills_projects = lazy_module("desktop.presenter.skills.projects")
    skills_repositories = lazy_module("desktop.presenter.skills.repositories")
    skills_trying = lazy_module("desktop.presenter.skills.trying")
    updates_page = lazy_module("desktop.presenter.updates.page")
    boundary_entries = lazy_module("desktop.safety.boundary.entries")
    boundary_reach = lazy_module("desktop.safety.boundary.reach")
    licences_reading = lazy_module("desktop.services.licences.reading")
    updates_making = lazy_module("desktop.services.updates.making")

RESOURCES = Path(__file__).resolve().parents[3] / "resources"


class LazyModels:
    """Makes the view-models of pages when they are first shown. ``made`` says whether one exists already."""

    services: Services
    bridge: Bridge
    setup: ModelSetupViewModel
    threads: ThreadsViewModel
    door: Door
    restart: Callable[[], None]

    def made(self, name: str) -> bool:
        """Whether the view-model of this name exists; does not make it."""
        return name in self.__dict__

    @cached_property
    def about(self) -> AboutViewModel:
        """The view-model of the settings page About."""
        licences = licences_reading.LicenceList(RESOURCES / "licences")
        return settings_about.AboutViewModel(this_installation, licences, self.bridge)

    @cached_property
    def boundaries(self) -> BoundariesViewModel:
        """The view-model of the settings page Filesystem boundaries."""
        services = self.services
        safety = safety_of(services.settings, services.home, services.grants)
        return settings_boundaries.BoundariesViewModel(
            self.bridge,
            lambda name, entry: boundary_entries.describe(name, entry, safety()),
            services.policy.explain,
            lambda path: boundary_reach.first_link(path, safety),
            commands=lambda path: services.confinement.profile().reach(path, services.confinement.probe().kind),
        )

    @cached_property
    def starts(self) -> LocalStartsViewModel:
        """The view-model of model servers that can be started from here."""
        made = settings_local_starts.LocalStartsViewModel(self.services.local_servers, self.bridge)
        made.answering.connect(self.setup.look_anew)
        return made

    @cached_property
    def grants(self) -> GrantsViewModel:
        """The view-model of the folders opened for this session, in the settings."""
        return settings_grants.GrantsViewModel(self.services.grants, self.bridge)

    @cached_property
    def kept(self) -> KeptViewModel:
        """The view-model of what is kept of changed files, in the settings."""
        return changes_kept.KeptViewModel(self.services.changes, self.bridge)

    @cached_property
    def reach(self) -> ReachViewModel:
        """The view-model of the reach explorer in the settings."""
        projects = self.services.projects

        async def recent() -> list[str]:
            return [row.folder.path for row in await projects.recent() if not row.folder.closed]

        return settings_reach.ReachViewModel(page_services.reach_service(self.services), self.bridge, recent)

    @cached_property
    def cli(self) -> CliToolsViewModel:
        """The view-model of the settings page Command-line tools."""
        return settings_cli_tools.CliToolsViewModel(self.services.cli, self._trials(), self.bridge, self._texts)

    @cached_property
    def mcp(self) -> McpServersViewModel:
        """The view-model of the settings page MCP servers."""
        services, policy = self.services, self.services.policy
        return mcp_servers.McpServersViewModel(
            services.mcp,
            self._trials(),
            services.tool_secrets,
            self.bridge,
            lambda path: policy.explain(path, Access.READ).rule.startswith(("denied", "protected")),
            self._texts,
        )

    @cached_property
    def middleware(self) -> MiddlewareViewModel:
        """The view-model of the settings page Middleware."""
        services = self.services
        return settings_middleware.MiddlewareViewModel(
            services.skills.levels, services.settings, self.bridge, services.skills.fabric.on_change
        )

    @cached_property
    def other_agents(self) -> OtherAgentsViewModel:
        """The view-model of the settings page Other agents."""
        services = self.services
        return settings_other_agents.OtherAgentsViewModel(services.others.agents, self.bridge)

    @cached_property
    def other_apps(self) -> OtherAppsViewModel:
        """The view-model of the settings page Assent for other apps."""
        services = self.services
        return settings_other_apps.OtherAppsViewModel(
            services.outside,
            services.settings,
            self.bridge,
            self.door,
            settings_other_apps.StartCommand(*start_words(services.home)),
            services.skills.fabric.on_change,
        )

    @cached_property
    def searches(self) -> SearchesViewModel:
        """The view-model of the settings page Web search."""
        services = self.services
        saved = saved_searches(services)
        made = settings_searches.SearchesViewModel(services.searches, services.secrets, self.bridge, saved)
        services.secrets.on_late.append(made.keyring_answered)
        return made

    @cached_property
    def keys(self) -> KeysViewModel:
        """The view-model of the settings page Keyring."""
        services = self.services
        made = settings_keys.KeysViewModel(
            services.tool_secrets,
            services.secrets,
            (self.setup, self.searches),
            self.bridge,
            lambda: _secret_uses(services),
        )
        for declared in (self.cli, self.mcp):
            declared.changed.connect(made.refresh)
        return made

    @cached_property
    def help(self) -> HelpViewModel:
        """The view-model of the Help panel, and of the settings page Help."""
        return help_wiring.help_model(self.bridge)

    @cached_property
    def report(self) -> ReportViewModel:
        """The view-model of the report of a problem."""
        return help_wiring.report_model(self.services, self.bridge)

    @cached_property
    def update_service(self) -> UpdateService:
        """Looks for new versions, from when its ``keep`` is awaited."""
        services = self.services
        around = updates_making.UpdateSurroundings(
            services.home / "data",
            RESOURCES,
            home_installation.this_installation(),
            services.settings,
            services.owner.spawn,
            self._at_work,
            services.bus.listen,
            self.restart,
        )
        return updates_making.update_service(around)

    def _at_work(self) -> tuple[str, ...]:
        """Threads with a run under way."""
        return tuple(dict.fromkeys((*self.services.chats.running(), *self.services.debates.running())))

    @cached_property
    def updates(self) -> UpdatesViewModel:
        """The view-model of the settings page Updates."""

        def title(thread_id: str) -> str:
            return next((one.title for one in self.threads.threads if one.thread_id == thread_id), "") or "New chat"

        return updates_page.UpdatesViewModel(
            self.update_service,
            self.services.settings,
            self.bridge,
            home_installation.this_installation(),
            title,
            self._at_work,
        )

    @cached_property
    def jobs(self) -> JobsViewModel:
        """The view-model of the Schedules page."""
        return schedules_page.JobsViewModel(self.services.jobs, self.bridge)

    @cached_property
    def skills(self) -> SkillsModels:
        """The view-models of the Skills page."""
        skills = skills_page.SkillsViewModel(self.services.skill_service, self.bridge)
        editor = skills_editing.SkillEditor(self.services.skill_service, self.bridge, skills.wrote, self._texts)
        projects = skills_projects.SkillProjects(self.services.settings, self.bridge)
        imports = skills_importing.SkillImport(self.services.skill_service, self.bridge, skills)
        taken_from = page_services.skill_repositories(self.services)
        repositories = skills_repositories.Repositories(taken_from, self.bridge, skills)
        return skills_models.SkillsModels(skills, editor, self._trials(self._model), projects, imports, repositories)

    @property
    def _texts(self) -> UnsavedTextFiles:
        """What editors keep of texts that are not saved."""
        return UnsavedTextFiles(self.services.home / "data", self.services.redactor.mask_known)

    def _trials(self, *model: Any) -> SkillTrials:
        return skills_trying.SkillTrials(self.services.skill_service, self.bridge, *model)

    def _model(self) -> str:
        ref = self.services.settings.current.models.default
        return self.setup.describe(ref)[0] if ref else ""


def _secret_uses(services: Services) -> list[settings_keys.Use]:
    """Every reference of a tool or server to the keyring, by the name under which it will be asked for."""
    declared: list[tuple[str, Mapping[str, str]]] = [
        (tool.definition.name, tool.definition.env) for tool in services.cli.state.tools
    ]
    for server in services.mcp.state.servers:
        definition = server.definition
        sent = {f"headers.{name}": found for name, found in references(definition.headers)}
        keys = {"bearer": definition.bearer, "client_secret": definition.client_secret, **sent}
        declared.append((f"mcp-{definition.name}", {**definition.env, **keys}))
    declared += [(f"acp-{row.agent.name}", row.agent.env) for row in services.others.agents.rows]
    found = ((tool, variable, referred_to(value)) for tool, env in declared for variable, value in env.items())
    return [settings_keys.Use(tool, variable, entry) for tool, variable, entry in found if entry is not None]


def saved_models(services: Services) -> Saved:
    """Connections to models."""
    settings = services.settings

    async def keep_connections(connections: Sequence[Connection]) -> None:
        await settings.update("models.connections", tuple(connections))

    async def keep_default(ref: str) -> None:
        await settings.update("models.default", ref)

    async def keep_fallbacks(refs: Sequence[str]) -> None:
        await settings.update("models.fallbacks", tuple(refs))

    async def keep_corrections(lines: Sequence[str]) -> None:
        await settings.update("models.corrections", tuple(lines))

    return Saved(
        connections=lambda: settings.current.models.connections,
        keep_connections=keep_connections,
        default_model=lambda: settings.current.models.default,
        keep_default_model=keep_default,
        keyring_note=partial(_note, services.secrets),
        key_place=services.secrets.place_of,
        keyring_waiting=lambda: services.secrets.waiting,
        keyring_there=partial(_there, services.secrets),
        fallbacks=lambda: settings.current.models.fallbacks,
        keep_fallbacks=keep_fallbacks,
        corrections=lambda: settings.current.models.corrections,
        keep_corrections=keep_corrections,
    )


def saved_searches(services: Services) -> Saved:
    """Search services."""
    settings = services.settings

    async def keep(connections: Sequence[Connection]) -> None:
        await settings.update("web.search", tuple(connections))

    return replace(saved_models(services), connections=lambda: settings.current.web.search, keep_connections=keep)


async def _note(secrets: KeyringSecrets) -> str:
    if secrets.waiting:
        return (
            "Your keyring has not taken the key yet: your system may be asking for a password. Until it is "
            "answered, the key is forgotten when Assent is closed."
        )
    report = await secrets.probe()
    return "" if report.usable else f"{report.sentence} Keys are forgotten when Assent is closed."


async def _there(secrets: KeyringSecrets) -> str:
    try:
        await secrets.backend_name()
    except SecretsUnavailable as error:
        return f"{error} Keys are forgotten when Assent is closed."
    return ""
