"""The runtime, wired: every room below the presenter, made once, handed to each other here and nowhere else.

``build_services`` runs after the first paint. What blocks (files, YAML, imports) happens in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.agents.loop.rounds import DEFAULT_LIMIT
from desktop.agents.skill.discovery import Offers
from desktop.agents.skill.host import Host
from desktop.app.wiring.agents import AgentServices, open_agents
from desktop.app.wiring.cli_tools import cli_tools
from desktop.app.wiring.code import CodeSandbox, open_code
from desktop.app.wiring.keys import KeyServices, open_keys
from desktop.app.wiring.mcp import mcp_servers
from desktop.app.wiring.rules import RuleServices, open_rules
from desktop.app.wiring.skills import DELETED, account_of, follow_settings, keep_current, open_skills
from desktop.domain.events import Event, RunEnded
from desktop.domain.lazy import lazy_module
from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.limits import Limit
from desktop.domain.models import Connection, ModelRef
from desktop.domain.permission import Asker
from desktop.domain.processes import Child
from desktop.domain.safety import ConfinementReport, SafetySettings, SettingsProvider
from desktop.models.client import ModelServices
from desktop.models.client import build as build_models
from desktop.pipeline.activity import ActivityJournal
from desktop.pipeline.pipeline import CallSettings as CallSettings
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.recovery.journal import call_journal, logged
from desktop.safety.boundary.consents import Consents
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.session_grants import SessionGrants
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.memory import limit_of
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.program_cache import FOLDER as CACHES
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.audit import RedactedLog
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.safety.secrets.model_filter import MaskedModel
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.safety.secrets.tool_secrets import SmallValues, ToolSecrets
from desktop.safety.shell.lazy import LazyShellReader
from desktop.services.chats.inboxes import Inboxes
from desktop.services.chats.service import ConversationService
from desktop.services.chats.traces import TraceKeeper, TraceService
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.chats.tree_history import TreeKeeper
from desktop.services.debates.service import DebateService
from desktop.services.definitions.book import AgentBook
from desktop.services.definitions.saving import saver
from desktop.services.schedules.registering import ScheduleCreate, SkillRegister
from desktop.services.schedules.service import JobService, JobSurroundings
from desktop.services.skills.files import FilesWithSkills
from desktop.services.skills.world import SkillWorld
from desktop.services.threads.context import ContextService
from desktop.services.turns.known_windows import KnownWindows
from desktop.services.turns.runtime import THREAD_LIMIT, Runtime, host_of
from desktop.services.turns.tool_modes import ToolModes
from desktop.settings import SettingsService
from desktop.skills.patterns.grammar import Pattern
from desktop.store import Store
from desktop.supervision.bus import Bus
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tasks import RunSlots, TaskOwner
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from desktop.tools.builtin.shell import Bash
from desktop.tools.cli.tool import CliServices
from desktop.tools.cli.tools import CliTools
from desktop.tools.mcp.servers import McpServers
from desktop.tools.registry import ToolRegistry
from desktop.workers.model_child import model_host

if TYPE_CHECKING:
    from desktop.services.skills import editing as skills_editing
    from desktop.services.skills.editing import SkillService
else:
    skills_editing = lazy_module("desktop.services.skills.editing")

ROOT = Path(__file__).resolve().parents[3]
RESOURCES = ROOT / "resources"
SKILLS = ROOT / "skills"
BOUNDS_ARE = "Settings, Chats"
"""Where a person finds what a run may use."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """What the view-models need of the runtime."""

    home: Path
    """The app's home folder."""
    settings: SettingsService
    """The settings, read and changed."""
    store: Store
    """The database."""
    bus: Bus
    """Publishes the events of runs."""
    owner: TaskOwner
    """Owns the tasks of runs."""
    secrets: KeyringSecrets
    """The keyring's secrets."""
    tool_secrets: ToolSecrets
    """The entries of the keyring that tools may have."""
    redactor: SecretRedactor
    """Takes known secrets out of texts."""
    confinement: SystemConfinement
    """Confines processes."""
    policy: BoundaryPolicy
    """Judges paths by the boundary."""
    files: BoundaryFiles
    """Opens files inside the boundary."""
    tools: ToolRegistry
    """The registry of tools."""
    cli: CliTools
    """The tools of tools.yaml."""
    mcp: McpServers
    """The servers of mcp.yaml."""
    child: Child
    """The model host."""
    code: CodeSandbox
    """The sandbox of code that models write."""
    modes: ToolModes
    """How each agent calls its tools."""
    windows: KnownWindows
    """The known context windows of models."""
    models: ModelServices
    """The model client, the catalogue and the connections."""
    agents: AgentBook
    """The agent definitions in force."""
    agent_services: AgentServices
    """Reads, watches and edits agent definitions."""
    skills: SkillWorld
    """The skills."""
    gate: PermissionGate
    """Decides on calls, or asks a person."""
    grants: SessionGrants
    """Folders opened for this session."""
    rules: RuleServices
    """The rule book and the service of its page."""
    chats: ConversationService
    """Chats."""
    inboxes: Inboxes
    """The inboxes of persistent agents at work."""
    debates: DebateService
    """Debates."""
    traces: TraceService
    """The traces of runs."""
    jobs: JobService
    """Scheduled jobs."""
    context: ContextService
    """Pins and summaries of threads."""
    run_trees: RunTreeService
    """The agents of runs, for the Run panel."""
    make_skill_service: Callable[[], SkillService]
    """Makes the service of the Skills page, when it is first needed."""

    @cached_property
    def skill_service(self) -> SkillService:
        """Where skills are made, changed and tried; its code is imported when it is first asked for."""
        return self.make_skill_service()

    async def confinement_report(self) -> ConfinementReport:
        """What holds shell commands on this machine; probed once, in a thread."""
        return await asyncio.to_thread(self.confinement.probe)

    async def stop_children(self) -> None:
        """End the processes that outlive a call."""
        await asyncio.gather(self.child.stop(), self.mcp.close(), self.secrets.close(), self.code.close())

    async def close(self) -> None:
        """After the runs are over: write and close the database."""
        await self.owner.close()
        await asyncio.to_thread(self.agent_services.close)
        await asyncio.to_thread(self.skills.close)
        await self.rules.book.flush()
        await self.store.close()
        await asyncio.to_thread(self.confinement.close)


def safety_of(settings: SettingsService, home: Path, grants: SessionGrants) -> Callable[[], SafetySettings]:
    """The settings as safety reads them, anew at each call (R-FS-12), with the folders opened for this session."""

    def now() -> SafetySettings:
        at = settings.current
        return SafetySettings(
            workspace=str(home / "workspace"),
            allowed=at.security.allowed_paths,
            denied=at.security.denied_paths,
            granted=grants.folders,
            tool_timeouts=dict(at.tools.timeouts),
            environment_allowlist=at.tools.env_allowlist,
            tool_timeout_s=at.tools.bash.timeout_s,
            output_limit=at.tools.output_limit_bytes,
            memory_limit=limit_of(at.tools.memory_gb),
            relax_plain_rm=at.security.rm_without_recursion == "ask",
            blocked_patterns=at.security.blocklist_extra,
            auto_approve_workspace_writes=at.security.auto_approve_workspace_writes,
            auto_approve_reading_commands=at.security.auto_approve_reading_commands,
            shell_network=at.tools.bash.network,
            bash_path=at.tools.bash.path,
            approval_timeout_s=at.security.approval_timeout_s or None,
        )

    return now


@dataclass(frozen=True, slots=True)
class _BoundaryServices:
    """The boundary with the tools that live inside it."""

    policy: BoundaryPolicy
    """Judges paths."""
    files: BoundaryFiles
    """Opens files."""
    confinement: SystemConfinement
    """Confines processes."""
    tools: ToolRegistry
    """The registry, with the built-in tools in it."""
    cli: CliServices
    """What tools of tools.yaml are made with."""
    reading: FilesWithSkills
    """Allows reading in the folders of skills in use."""
    consents: Consents
    """Consents that tools read denied folders."""


async def _open_boundary(
    home: Path, safety: Callable[[], SafetySettings], keys: KeyServices, kept: SmallValues
) -> _BoundaryServices:
    """The boundary and the tools that live inside it."""
    policy = BoundaryPolicy(str(home), safety)
    files = BoundaryFiles(policy)
    confinement = SystemConfinement(policy, safety, caches=str(home / CACHES))
    environment = AllowlistEnvironment(
        safety, keyring=keys.secrets.lookup, may_read=keys.tools.refusal, is_secret=keys.redactor.contains_known
    )
    reader, runner = LazyShellReader(policy, safety), GroupRunner(mask=keys.redactor.mask_known)
    bash = Bash(reader, policy, confinement, environment, runner, safety)
    reading = FilesWithSkills(files)
    tools = ToolRegistry([ReadFile(reading, safety), ListDirectory(reading), WriteFile(files), bash])
    consents = Consents(policy, kept)
    await consents.load()
    cli = CliServices(reader, policy, confinement, environment, runner, safety, consents)
    return _BoundaryServices(policy, files, confinement, tools, cli, reading, consents)


async def build_services(
    home: Path,
    settings: SettingsService,
    asker: Asker | None,
    *,
    windows: Callable[[ModelRef], int | None],
    priced: Callable[[ModelRef], bool] = lambda _ref: True,
    script: Path | None = None,
    allowed: Sequence[Pattern] = (),
    model: str = "",
) -> Services:
    """Open the store and make every room. Raises what ``Store.open`` raises. Whatever goes wrong half-way, nothing is
    left open. ``asker`` None: nobody can be asked; ``allowed`` are rules of this start only; ``model`` is lent to
    skills that a person calls, instead of the default one."""
    store = Store(home / "data" / "assent.db")
    await store.open()
    async with contextlib.AsyncExitStack() as left_open:
        left_open.push_async_callback(store.close)
        services = await _services(
            store, home, settings, asker, windows=windows, priced=priced, script=script, allowed=allowed, model=model
        )
        left_open.pop_all()
    return services


async def _services(
    store: Store,
    home: Path,
    settings: SettingsService,
    asker: Asker | None,
    *,
    windows: Callable[[ModelRef], int | None],
    priced: Callable[[ModelRef], bool],
    script: Path | None,
    allowed: Sequence[Pattern],
    model: str,
) -> Services:
    agents = (known := await open_agents(settings, home, RESOURCES / "agents")).book
    keys = await open_keys(store.state, lambda: _connections(settings))
    redactor, secrets, bus, owner = keys.redactor, keys.secrets, Bus(), TaskOwner()
    context = ContextService(store, redactor.mask_known)
    safety = safety_of(settings, home, grants := SessionGrants())
    boundary = await _open_boundary(home, safety, keys, store.state)
    rules = await open_rules(store, redactor, boundary.tools, safety, boundary.policy, allowed)
    log = RedactedLog(store.audit, redactor)
    store.audit.mask = redactor.mask_known
    gate = PermissionGate(asker, rules.book, log.add, safety, redactor=redactor, consents=boundary.consents)
    skills = await asyncio.to_thread(_open_skills, home, settings, boundary, safety, keys)
    live = _live(store, bus, redactor, skills)
    pipeline = _pipeline(skills, owner, gate, ActivityJournal(log, redactor), redactor, safety, live)
    bus.listen(lambda event: _over(event, gate, skills))
    child, code, modes = model_host(secrets=redactor.values), open_code(skills), await ToolModes.opened(store.state)
    known_windows = await KnownWindows.opened(store.state, windows, owner.spawn)
    models = build_models(child, secrets, lambda: _connections(settings), script=script)
    runtime = Runtime(
        store=store,
        bus=bus,
        client=MaskedModel(models.client, redactor),
        pipeline=pipeline,
        agents=agents,
        skills=skills,
        slots=RunSlots(settings.current.limits.concurrent_runs),
        code=code.engine,
        spawn=owner.spawn,
        thread_rounds=lambda: _thread_rounds(settings),
        live=live,
        safety=safety,
        agent_layers=(skills.levels.agent,),
        chat_layers=(live.models, skills.levels.chat),
        set_by=BOUNDS_ARE,
        context=context,
        summaries=lambda: settings.current.chat.summaries,
        mask=redactor.mask_known,
        priced=priced,
        context_window=known_windows,
        redact=redactor.redact_text,
        bounds=lambda: settings.current.limits.run,
        usual_rounds=lambda: _usual_rounds(settings),
        offers=lambda: _offers(settings),
        titles=lambda: asker is not None and settings.current.chat.model_titles,
        tool_mode=modes.of,
    )
    bus.listen(TraceKeeper(store.traces, redactor.redact_data).take)
    bus.listen(TreeKeeper(store.run_agents, redactor.redact_text).take)
    _keep_skills(skills, settings, home, owner)
    service = ConversationService(runtime, owner)
    room = AgentServices(known, settings, boundary.tools, skills, owner).open(
        runtime, service, home, RESOURCES / "agents"
    )
    return Services(
        home=home,
        settings=settings,
        store=store,
        bus=bus,
        owner=owner,
        secrets=secrets,
        tool_secrets=keys.tools,
        redactor=redactor,
        confinement=boundary.confinement,
        policy=boundary.policy,
        files=boundary.files,
        tools=boundary.tools,
        cli=cli_tools(home, boundary.tools, boundary.cli, skills, owner),
        mcp=mcp_servers(home, boundary.tools, boundary.cli, skills, owner, settings, redactor),
        child=child,
        code=code,
        modes=modes,
        windows=known_windows,
        models=models,
        agents=agents,
        skills=skills,
        gate=gate,
        grants=grants,
        rules=rules,
        chats=service,
        inboxes=Inboxes(service, runtime),
        agent_services=room,
        context=context,
        debates=DebateService(runtime, owner, saver(home / "agents", redactor.mask_known)),
        traces=TraceService(store, agents, runtime.tracker, runtime.usual_rounds),
        jobs=await _jobs(runtime, service, rules, boundary, home, settings),
        run_trees=RunTreeService(live, store.run_agents),
        make_skill_service=lambda: _skill_service(
            runtime, home, lambda: _host(runtime, model or settings.current.models.default)
        ),
    )


async def _jobs(
    runtime: Runtime,
    service: ConversationService,
    rules: RuleServices,
    boundary: _BoundaryServices,
    home: Path,
    settings: SettingsService,
) -> JobService:
    """The jobs, and the tools by which agents ask for one, or for a skill."""
    around = JobSurroundings(
        admin_allowed=lambda: settings.current.security.admin_jobs,
        where=rules.book.frozen().where,
        default_model=lambda: settings.current.models.default,
    )
    jobs = JobService(runtime, service, around)
    await jobs.open()
    boundary.tools.register(ScheduleCreate(jobs))
    boundary.tools.register(SkillRegister(lambda: _skill_service(runtime, home, lambda: None)))
    runtime.skills.shown.refresh()
    return jobs


def _skill_service(runtime: Runtime, home: Path, host: Callable[[], Host | None]) -> SkillService:
    return skills_editing.SkillService(
        runtime.skills, runtime.pipeline, runtime.agents, mine=home / "skills", trash=home / "data" / DELETED, host=host
    )


def _pipeline(
    skills: SkillWorld,
    owner: TaskOwner,
    gate: PermissionGate,
    journal: ActivityJournal,
    redactor: SecretRedactor,
    safety: Callable[[], SafetySettings],
    live: LiveRuns,
) -> Pipeline:
    """The one way of every call."""
    limits = CallSettings(lambda name: safety().timeout_of(name), lambda: safety().output_limit)
    made = skills.runs.pipeline = Pipeline(
        skills.table,
        owner.spawn,
        trust=gate,
        journal=logged(live.journaled, journal),
        redactor=redactor,
        settings=limits,
        skills=skills.side,
        layers=(live.calls,),
        histories=live.histories,
    )
    return made


def _live(store: Store, bus: Bus, redactor: SecretRedactor, skills: SkillWorld) -> LiveRuns:
    """The runs at work: their trees, and their calls, which are recorded before they are made. Middleware events go to
    the bus."""
    skills.levels.told = bus.publish
    live = LiveRuns(store.effects, call_journal(), bus.publish, redact=redactor.redact_text, mask=redactor.mask_known)
    bus.listen(live.hear)
    return live


def _host(runtime: Runtime, model: str) -> Host | None:
    """What a skill that a person calls has of a model, if one is chosen."""
    ref = ModelRef.parse(model)
    return host_of(runtime, ref, runtime.tracker(), by="person") if ref.connection_id and ref.model else None


def _usual_rounds(settings: SettingsService) -> Limit:
    """The limit on the rounds of an answer whose agent sets none."""
    key = "chat.max_iterations"
    chosen = Limit(DEFAULT_LIMIT.name, settings.current.chat.max_iterations, BOUNDS_ARE)
    return chosen if settings.is_changed(key) else DEFAULT_LIMIT


def _thread_rounds(settings: SettingsService) -> Limit:
    """The limit on the rounds of a chat with all of its answers."""
    where = BOUNDS_ARE if settings.is_changed("limits.thread_rounds") else THREAD_LIMIT.where
    return Limit(THREAD_LIMIT.name, settings.current.limits.thread_rounds, where)


def _offers(settings: SettingsService) -> Offers:
    """How much is offered to a model beside what its list names."""
    tools = settings.current.tools
    return Offers(tools.offered, tools.offered_share / 100)


def _connections(settings: SettingsService) -> Sequence[Connection]:
    return settings.current.models.connections


def _open_skills(
    home: Path, settings: SettingsService, boundary: _BoundaryServices, safety: SettingsProvider, keys: KeyServices
) -> SkillWorld:
    made = open_skills(
        home,
        SKILLS,
        settings,
        boundary.tools,
        boundary.files,
        boundary.confinement,
        safety,
        account_of(settings, keys.secrets),
        keys.redactor.redact_text,
    )
    boundary.reading.skills = made.in_use
    return made


def _keep_skills(skills: SkillWorld, settings: SettingsService, home: Path, owner: TaskOwner) -> None:
    """From now on what is on the disk and in the settings counts."""
    owner.spawn(keep_current(skills), "skills: watch and compare")
    follow_settings(skills, settings, home, SKILLS, owner.spawn)


def _over(event: Event, gate: PermissionGate, skills: SkillWorld) -> None:
    """A run is over: what was remembered for it goes."""
    if isinstance(event, RunEnded):
        gate.forget_run(event.run_id)
        skills.topics.forget(event.run_id)
