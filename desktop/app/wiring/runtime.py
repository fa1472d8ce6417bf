"""The runtime, wired: every room below the presenter, made once, handed to each other here and nowhere else.

``_services`` shows the order. ``build_services`` runs after the first paint. What blocks (files, YAML, imports) happens
in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.app.home.unfinished import sweep_of
from desktop.app.wiring.acp import other_agents
from desktop.app.wiring.agents import BOUNDS_ARE, AgentServices, offers, open_agents, thread_rounds, usual_rounds
from desktop.app.wiring.boundary import (
    BoundaryServices,
    ChangeLimits,
    add_finding,
    add_web,
    follow_searches,
    open_boundary,
    safety_of,
)
from desktop.app.wiring.cli_tools import cli_tools
from desktop.app.wiring.code import open_code
from desktop.app.wiring.keys import KeyServices, open_keys
from desktop.app.wiring.mcp import mcp_servers
from desktop.app.wiring.outside import outside_calls
from desktop.app.wiring.rules import RuleServices, open_rules
from desktop.app.wiring.services import Services
from desktop.app.wiring.skills import DELETED, account_of, follow_settings, keep_current, open_skills
from desktop.domain.approval.permission import Asker
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.models import Connection, ModelRef
from desktop.domain.runs.events import Event, RunEnded
from desktop.domain.safety import Confinement, SafetySettings, SettingsProvider
from desktop.files.own_files import OwnFiles
from desktop.models.client import ModelServices
from desktop.models.client import build as build_models
from desktop.pipeline.activity import ActivityJournal
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.pipeline.recovery.journal import call_journal, logged
from desktop.safety.boundary.choosing import judged_folder
from desktop.safety.boundary.session_grants import SessionGrants
from desktop.safety.confinement.shut_in import code_sandbox_profile
from desktop.safety.permission.audit import RedactedLog
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.model_filter import MaskedModel
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.changes.service import ChangesService
from desktop.services.chats.inboxes import Inboxes
from desktop.services.chats.service import ConversationService
from desktop.services.chats.traces import TraceKeeper, TraceService
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.chats.tree_history import TreeKeeper
from desktop.services.debates.service import DebateService
from desktop.services.definitions.saving import saver
from desktop.services.documents.service import DocumentService
from desktop.services.fences.service import FenceService
from desktop.services.local_servers.service import Around, LocalServerService
from desktop.services.projects.instructions import ProjectInstructions
from desktop.services.projects.service import ProjectService
from desktop.services.projects.telling import FolderTexts
from desktop.services.projects.writing import AgentsWriting
from desktop.services.schedules.registering import ScheduleCreate, SkillRegister
from desktop.services.schedules.service import JobService, JobSurroundings
from desktop.services.skills.world import SkillWorld
from desktop.services.threads.context import ContextService
from desktop.services.threads.modes import ThreadModes
from desktop.services.turns.agent_choices import Efforts, ToolModes
from desktop.services.turns.known_windows import KnownWindows
from desktop.services.turns.runtime import Runtime, host_of
from desktop.services.turns.token_scales import TokenScales
from desktop.settings import SettingsService
from desktop.skills.catalogue.watch import FolderWatch
from desktop.skills.patterns.grammar import Pattern
from desktop.store import Store
from desktop.supervision.askers import Askers
from desktop.supervision.bus import Bus
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tasks import RunSlots, TaskOwner
from desktop.tools.builtin.read_document import ReadDocument
from desktop.tools.cli.tools import CliTools
from desktop.tools.mcp.servers import McpServers
from desktop.workers.fence_child import fence_host
from desktop.workers.model_child import model_host

if TYPE_CHECKING:
    from desktop.agents.skill.host import Host
    from desktop.services.skills import editing as skills_editing
    from desktop.services.skills.editing import SkillService
else:
    skills_editing = lazy_module("desktop.services.skills.editing")

ROOT = Path(__file__).resolve().parents[3]
RESOURCES = ROOT / "resources"
SKILLS = ROOT / "skills"


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
    own_files: OwnFiles | None = None,
) -> Services:
    """Open the store and make every room. Raises what ``Store.open`` raises. Whatever goes wrong half-way, nothing is
    left open. ``asker`` None: nobody can be asked; ``allowed`` are rules of this start only; ``model`` is lent to
    skills that a person calls, instead of the default one; ``own_files`` are those that the app was started from."""
    store = Store(home / "data" / "assent.db")
    await store.open()
    async with contextlib.AsyncExitStack() as left_open:
        left_open.push_async_callback(store.close)
        services = await _services(
            store,
            home,
            settings,
            asker,
            windows=windows,
            priced=priced,
            script=script,
            allowed=allowed,
            model=model,
            own_files=own_files or OwnFiles(),
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
    own_files: OwnFiles,
) -> Services:
    # What everything below asks: definitions of agents, secrets, tasks, events.
    agent_files = await open_agents(settings, home, RESOURCES / "agents")
    keys = await open_keys(store.state, lambda: (*_connections(settings), *settings.current.web.search))
    redactor, secrets, bus, owner = keys.redactor, keys.secrets, Bus(), TaskOwner()
    store.audit.mask = redactor.mask_known

    # The boundary, and who decides about a call.
    grants = SessionGrants()
    safety = safety_of(settings, home, grants)
    boundary = await open_boundary(home, safety, keys, store, ChangeLimits(settings), owner.spawn)
    rules = await open_rules(store, redactor, boundary.tools, safety, boundary.policy, allowed)
    search, web = add_finding(boundary, safety, rules.book), add_web(boundary.tools, safety, keys, settings)
    log = RedactedLog(store.audit, redactor)
    askers = Askers(asker)
    thread_modes = ThreadModes(store, bus, lambda: _unconfined(boundary.confinement))
    await thread_modes.open()
    gate = PermissionGate(
        asker,
        rules.book,
        log.add,
        safety,
        redactor=redactor,
        consents=boundary.consents,
        instead=askers.of,
        grants=rules.grants,
        modes=thread_modes,
    )

    # Skills, the runs at work, and the one way of every call.
    skills = await asyncio.to_thread(_open_skills, home, settings, boundary, safety, keys)
    live = _live(store, bus, redactor, skills)
    journal = ActivityJournal(log, redactor)
    pipeline = _pipeline(skills, owner, gate, journal, redactor, safety, live, boundary.pictures, own_files)
    bus.listen(lambda event: _over(event, gate, skills))

    # Models.
    child = model_host(secrets=redactor.values)
    known_windows = await KnownWindows.opened(store.state, windows, owner.spawn)
    scales = await TokenScales.opened(store.state, owner.spawn)
    models = build_models(
        child,
        secrets,
        lambda: _connections(settings),
        script=script,
        fallbacks=lambda: settings.current.models.fallbacks,
        has_price=priced,
        corrections=lambda: settings.current.models.corrections,
        pictures=boundary.pictures,
    )

    # Agents of other makers.
    others = other_agents(boundary.tools, boundary.cli, owner, store.state, redactor, agent_files.book, settings)

    documents = DocumentService(boundary.documents, store.kept_documents, store.documents, boundary.pictures)
    fences = FenceService(fence_host(confined=code_sandbox_profile(in_a_loop=True)))
    boundary.tools.register(ReadDocument(documents, safety))

    # What every run works with.
    code, modes, efforts = open_code(skills), await ToolModes.opened(store.state), await Efforts.opened(store.state)
    instructions = ProjectInstructions(boundary.files, store.state, redactor.mask_known)
    context = ContextService(store, redactor.mask_known)
    runtime = Runtime(
        store=store,
        bus=bus,
        client=MaskedModel(scales.learning(models.client), redactor),
        pipeline=pipeline,
        agents=agent_files.book,
        skills=skills,
        slots=RunSlots(settings.current.limits.concurrent_runs),
        code=code.engine,
        spawn=owner.spawn,
        thread_rounds=lambda: thread_rounds(settings),
        live=live,
        safety=safety,
        agent_layers=(skills.levels.agent,),
        chat_layers=(FolderTexts(instructions), live.models, skills.levels.chat),
        set_by=BOUNDS_ARE,
        context=context,
        summaries=lambda: settings.current.chat.summaries,
        mask=redactor.mask_known,
        priced=priced,
        connected=models.reaches,
        held_to_schemas=models.is_held_to_schemas,
        context_window=known_windows,
        token_scale=scales,
        has_documents=documents.has_any,
        redact=redactor.redact_text,
        bounds=lambda: settings.current.limits.run,
        usual_rounds=lambda: usual_rounds(settings),
        offers=lambda: offers(settings),
        titles=lambda: asker is not None and settings.current.chat.model_titles,
        tool_mode=modes.of,
        effort=efforts.of,
        instructions=instructions,
        others=others,
        own_files=own_files,
    )

    # What follows the runs, the disk and the settings.
    bus.listen(TraceKeeper(store.traces, redactor.redact_data).take)
    bus.listen(TreeKeeper(store.run_agents, redactor.redact_text).take)
    _keep_skills(skills, settings, home, owner)
    follow_searches(settings, skills)
    _keep_changes(boundary, settings, owner)
    sweep = sweep_of(home, skills.fabric.roots, agent_files.folders)
    owner.spawn(asyncio.to_thread(sweep), "files: what an earlier start had not finished")
    owner.spawn(documents.sweep(), "documents: originals that nothing needs")

    # What a person can do. The agents, tools.yaml and mcp.yaml add their tools to those of the boundary.
    chats = ConversationService(runtime, owner)
    judge_folder = partial(judged_folder, boundary.policy)
    projects = ProjectService(
        chats, store.state, judge_folder, chats.is_working, instructions, thread_modes.folder_left
    )
    cli = cli_tools(home, boundary.tools, boundary.cli, skills, owner)
    mcp = mcp_servers(home, boundary, skills, owner, settings, keys, log)
    agents = AgentServices(agent_files, settings, boundary.tools, skills, owner, boundary.recorder.tidy)

    def host(own: ModelRef | None) -> Host | None:
        return _host(runtime, model or settings.current.models.default or str(own or ""))

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
        agents=agent_files.book,
        agent_services=agents.open(runtime, chats, home, RESOURCES / "agents"),
        cli=cli,
        mcp=mcp,
        others=others,
        person_files=_person_files(settings, cli, mcp, owner),
        child=child,
        search=search,
        web=web.child,
        searches=web.searches,
        fences=fences,
        code=code,
        modes=modes,
        efforts=efforts,
        thread_modes=thread_modes,
        windows=known_windows,
        token_scales=scales,
        models=models,
        local_servers=_local_servers(home, settings, models, redactor, owner, AgentsWriting(projects, boundary.files)),
        skills=skills,
        gate=gate,
        askers=askers,
        grants=grants,
        rules=rules,
        chats=chats,
        projects=projects,
        inboxes=Inboxes(chats, runtime),
        context=context,
        debates=DebateService(runtime, owner, saver(home / "agents", redactor.mask_known), projects),
        traces=TraceService(store, agent_files.book, runtime.tracker, runtime.usual_rounds),
        jobs=await _jobs(runtime, chats, rules, boundary, home, settings, projects),
        documents=documents,
        pictures=boundary.pictures,
        results=boundary.results,
        changes=ChangesService(store.changes, store.kept_files, boundary.recorder, boundary.files, log),
        run_trees=RunTreeService(live, store.run_agents),
        outside=outside_calls(runtime, settings, skills, gate, owner, host),
        make_skill_service=lambda: _skill_service(runtime, home, host),
    )


def _local_servers(
    home: Path,
    settings: SettingsService,
    models: ModelServices,
    redactor: SecretRedactor,
    owner: TaskOwner,
    agents_write: AgentsWriting,
) -> LocalServerService:
    """Model servers that a person has us start."""
    asked, places = models.catalogue.answering, models.connections
    around = Around(home / "logs", asked, places, redactor.redact_text, lambda: os.environ, agents_write, owner.spawn)
    return LocalServerService(settings, around)


def _keep_changes(boundary: BoundaryServices, settings: SettingsService, owner: TaskOwner) -> None:
    """What is kept of changed files follows the settings, from each start on."""

    def fit(_settings: object, keys: frozenset[str]) -> None:
        if not owner.closed and any(key.startswith("changes.") for key in keys):
            owner.spawn(boundary.recorder.make_room(), "changes: as the settings say")

    settings.subscribe(fit)
    owner.spawn(boundary.recorder.make_room(), "changes: what is too old")


def _unconfined(confinement: Confinement) -> str:
    """Why nothing confines commands, or "". Blocks."""
    return "nothing confines commands on this machine" if confinement.probe().kind == "none" else ""


def _person_files(settings: SettingsService, cli: CliTools, mcp: McpServers, owner: TaskOwner) -> FolderWatch:
    """What a person changes in these with another program counts at once."""
    loop = asyncio.get_running_loop()

    def read_settings() -> None:
        if not owner.closed:
            owner.spawn(settings.reload_if_changed(), "config.yaml: read")

    looks: dict[str, Callable[[], object]] = {
        str(settings.path): lambda: loop.call_soon_threadsafe(read_settings),
        str(cli.path): cli.reload_if_changed,
        str(mcp.path): mcp.reload_if_changed,
    }

    def changed(paths: frozenset[str] | None) -> None:
        for path, look in looks.items():
            if paths is None or path in paths:
                look()

    watch = FolderWatch((), changed, files=looks)
    watch.start()
    return watch


async def _jobs(
    runtime: Runtime,
    service: ConversationService,
    rules: RuleServices,
    boundary: BoundaryServices,
    home: Path,
    settings: SettingsService,
    projects: ProjectService,
) -> JobService:
    """The jobs, and the tools by which agents ask for one, or for a skill."""
    around = JobSurroundings(
        admin_allowed=lambda: settings.current.security.admin_jobs,
        where=rules.book.frozen().where,
        default_model=lambda: settings.current.models.default,
        projects=projects,
        unconfined=lambda: _unconfined(boundary.confinement),
    )
    jobs = JobService(runtime, service, around)
    await jobs.open()
    boundary.tools.register(ScheduleCreate(jobs))
    boundary.tools.register(SkillRegister(lambda: _skill_service(runtime, home, lambda _own: None)))
    runtime.skills.shown.refresh()
    return jobs


def _skill_service(runtime: Runtime, home: Path, host: Callable[[ModelRef | None], Host | None]) -> SkillService:
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
    pictures: PictureOpener,
    own_files: OwnFiles,
) -> Pipeline:
    """Make the pipeline, the one way of every call."""
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
        around=live.calling,
        outside=gate.outside,
        pictures=pictures,
        own_files=own_files,
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


def _connections(settings: SettingsService) -> Sequence[Connection]:
    return settings.current.models.connections


def _open_skills(
    home: Path, settings: SettingsService, boundary: BoundaryServices, safety: SettingsProvider, keys: KeyServices
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
