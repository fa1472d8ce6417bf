"""The view-models, made from the services and joined to the bridge; no widget here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from desktop.app.door.host import Door
from desktop.app.home.unsaved_texts import UnsavedTextFiles
from desktop.app.wiring.agent_looks import follow_agents
from desktop.app.wiring.lazy_view_models import LazyModels, saved_models
from desktop.app.wiring.services import Services
from desktop.app.wiring.skills import named_in_messages
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import DocumentBlock
from desktop.domain.models import ModelRef
from desktop.domain.runs.events import ContextMeasured
from desktop.domain.safety import Access
from desktop.domain.servers.mcp_names import canonical
from desktop.domain.skills import SkillDef
from desktop.domain.threads import MessageRecord
from desktop.presenter.approvals.granted import CallGrantsViewModel
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.approvals.rules import RulesViewModel
from desktop.presenter.approvals.rules_editing import RuleEditor, RulesModels
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.chat.agent_choices import EffortViewModel, ToolModesViewModel
from desktop.presenter.chat.attaching import AttachingViewModel
from desktop.presenter.chat.context import ContextViewModel
from desktop.presenter.chat.edge import EdgeViewModel
from desktop.presenter.chat.from_servers import FromServers, host_of
from desktop.presenter.chat.offers import OffersViewModel
from desktop.presenter.chat.offers import Source as OfferSource
from desktop.presenter.chat.other_agent import OtherAgentViewModel, follow_usage
from desktop.presenter.chat.page import ChatViewModel
from desktop.presenter.chat.state import Offer
from desktop.presenter.chat.thread_variables import ThreadVariables
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.common.model_rows import plain_name
from desktop.presenter.debates.page import DebateModels, DebatesViewModel
from desktop.presenter.debates.setup import DebateFolder, DebateSetupViewModel
from desktop.presenter.debates.words import fork_words
from desktop.presenter.documents.viewer import DocumentViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.fences.shown import FencesViewModel
from desktop.presenter.projects.page import ProjectsViewModel
from desktop.presenter.results.models import ResultModels, result_models
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.presenter.settings.agents_editing import AgentsViewModel, ChatAgents
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.settings.page import SettingsViewModel
from desktop.presenter.shell.window import PaletteRow, ShellViewModel
from desktop.presenter.trace.panel import TraceViewModel
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.services.documents.service import room_in
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.turns.prompt_settings import settings_of
from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.widgets.shown import shown_line

FILES_OFFERED = 400
"""Entries of one folder looked at for ``@``."""


@dataclass(frozen=True, kw_only=True)
class ViewModels(LazyModels):
    """The view-models that live as long as the window."""

    services: Services
    """The runtime's services."""
    bridge: Bridge
    """Owns the tasks above the runtime."""
    board: LiveThreads
    """The live state of every thread."""
    chat: ChatViewModel
    """The open chat."""
    threads: ThreadsViewModel
    """The list of threads."""
    approvals: ApprovalsViewModel
    """The requests that wait."""
    rules: RulesModels
    """The rules and their editor."""
    setup: ModelSetupViewModel
    """Models, connections and keys."""
    settings: SettingsViewModel
    """The settings."""
    offers: OffersViewModel
    """What the composer's pickers offer."""
    servers: FromServers
    """What MCP servers give to a message."""
    attaching: AttachingViewModel
    """Reads what is attached to a message."""
    agents: Sequence[tuple[str, str]]
    """(name, title) of every agent that can be chosen."""
    debates: DebateModels
    """The Debates page."""
    debate_folder: ProjectsViewModel
    """The folder of the debate that is set up."""
    trace: TraceViewModel
    """The trace panel."""
    context: ContextViewModel
    """The context of the open thread."""
    document: DocumentViewModel
    """The document beside the open chat."""
    fences: FencesViewModel
    """The colours of code that is shown."""
    results: ResultModels
    """The results of the open chat."""
    changes: ChangesViewModel
    """What was changed in the open thread."""
    run_tree: RunTreeViewModel
    """The Run panel."""
    variables: ThreadVariables
    """The variables of a thread."""
    modes: ToolModesViewModel
    """How each agent calls its tools."""
    effort: EffortViewModel
    """How much the model of each agent thinks."""
    projects: ProjectsViewModel
    """The folder that the open chat works in."""
    edge: EdgeViewModel
    """In which mode the open chat works."""
    other: OtherAgentViewModel
    """What is shown of an agent of another maker."""
    agents_editor: AgentsViewModel
    """The settings page Agents."""
    door: Door
    """Programs that have come in."""
    restart: Callable[[], None]
    """Ends the app in order and starts it again."""


def make_view_models(
    services: Services, bridge: Bridge, shell: ShellViewModel, door: Door, restart: Callable[[], None]
) -> ViewModels:
    """Make them all and let events flow: question first, then answers, then the list."""
    board = LiveThreads()
    agents = ChatAgents(services.agents)
    board.titles.update(agents)
    setup = ModelSetupViewModel(services.models.catalogue, services.secrets, bridge, saved_models(services))
    chat = ChatViewModel(services.chats, bridge, board)
    given = _given(services, bridge)
    chat.post, chat.read_in = services.inboxes.post, given.read
    _know_models(chat, setup, services)
    threads = ThreadsViewModel(services.chats, bridge, board)
    threads.closed_of = services.projects.closed
    context = ContextViewModel(services.context, bridge, lambda: services.settings.current.chat.summaries)
    trace = TraceViewModel(services.traces, bridge, services.redactor.redact_data, board.titles)
    approvals = ApprovalsViewModel(bridge, services.store.audit, board.titles)
    approvals.grants = _grants(services, bridge, chat)
    run_tree = RunTreeViewModel(services.run_trees, lambda: approvals.requests, board.titles, bridge)
    changes = ChangesViewModel(services.changes, bridge, board.titles)
    for listener in (chat.take, board.take, threads.take, trace.take, context.take, run_tree.take):
        bridge.events.connect(listener)
    services.bus.listen(bridge.sink)
    services.jobs.on_change(threads.refresh)
    made = ViewModels(
        services=services,
        bridge=bridge,
        board=board,
        chat=chat,
        threads=threads,
        approvals=approvals,
        rules=_rules(services, bridge, approvals, chat),
        setup=setup,
        settings=SettingsViewModel(services.settings, bridge),
        offers=OffersViewModel(bridge, _offers(services, given, lambda: WorkPlace(chat.project))),
        servers=given,
        attaching=_attaching(services, bridge, chat),
        agents=agents,
        trace=trace,
        context=context,
        run_tree=run_tree,
        document=DocumentViewModel(services.documents, bridge, lambda: chat.thread_id),
        fences=(fences := FencesViewModel(services.fences, bridge)),
        results=result_models(services.results, services.changes.on_done, bridge),
        changes=changes,
        variables=ThreadVariables(services.chats, bridge),
        modes=ToolModesViewModel(services.modes, lambda agent: _declared_mode(services, agent), bridge),
        effort=EffortViewModel(services.efforts, setup.traits, bridge),
        projects=ProjectsViewModel(services.projects, chat, bridge),
        edge=EdgeViewModel(services.thread_modes, chat, bridge),
        other=_other(services, bridge, chat, board),
        debates=(debates := _debates(services, bridge, board, approvals, setup, fences)),
        debate_folder=ProjectsViewModel(services.projects, DebateFolder(debates.setup), bridge, "debate"),
        agents_editor=_agents(services, bridge, board, setup),
        door=door,
        restart=restart,
    )
    bridge.events.connect(made.projects.take)
    bridge.events.connect(made.edge.take)
    _offer_rows(shell, made)
    return made


def _offer_rows(shell: ShellViewModel, made: ViewModels) -> None:
    """What the palette finds beside commands."""
    shell.add_source(lambda: _thread_rows(made.threads))
    shell.add_source(lambda: (*_debate_rows(made.debates.debates), *_debate_agent_rows(made.agents_editor)))
    shell.add_source(lambda: _model_rows(made.setup))


def _room(services: Services, chat: ChatViewModel) -> int:
    """Characters of a document that the chosen model gets at once."""
    return room_in(services.windows(ModelRef.parse(chat.meters.model)))


def _attaching(services: Services, bridge: Bridge, chat: ChatViewModel) -> AttachingViewModel:
    """What reads for the open chat's composer."""
    made = AttachingViewModel(
        bridge,
        services.documents,
        lambda: _room(services, chat),
        services.pictures,
        lambda: _documents_by_name(services, chat),
        ChosenModelSees(services, chat),
        chat.draft_here,
    )
    chat.opened.connect(lambda _thread_id: made.begin())
    return made


async def _documents_by_name(services: Services, chat: ChatViewModel) -> dict[str, str]:
    """The digests of the documents in the open chat and its composer, by their names in lower case."""
    written = [one for one in chat.drafts.written(chat.thread_id).attachments if isinstance(one, DocumentBlock)]
    try:
        there = await services.documents.of_thread(chat.thread_id) if chat.thread_id else []
    except KnownError:  # whoever sends is told that the store fails
        there = []
    return {one.name.casefold(): one.digest for one in (*there, *written)}


@dataclass(frozen=True, slots=True)
class ChosenModelSees:
    """Whether the model of the open chat sees pictures."""

    services: Services
    chat: ChatViewModel

    @property
    def known(self) -> bool | None:
        """As far as its server said so, or a person."""
        return self.services.models.catalogue.senses(self._ref).images

    async def learn(self) -> None:
        """Ask its server."""
        await self.services.models.catalogue.learn(self._ref)

    @property
    def _ref(self) -> ModelRef:
        return ModelRef.parse(self.chat.meters.model)


def _grants(services: Services, bridge: Bridge, chat: ChatViewModel) -> CallGrantsViewModel:
    """The grants of the open chat."""
    made = CallGrantsViewModel(services.rules.grants, bridge)
    chat.opened.connect(lambda thread_id: made.show_for(thread_id, chat.project))
    chat.project_changed.connect(lambda project: made.show_for(chat.thread_id, project))
    return made


def _other(services: Services, bridge: Bridge, chat: ChatViewModel, board: LiveThreads) -> OtherAgentViewModel:
    """Agents of other makers in chats: their titles, and how full they say that their context is."""

    def measured(thread_id: str, used: int, window: int | None) -> None:
        services.bus.publish(ContextMeasured(thread_id=thread_id, run_id="", used=used, window=window))

    services.others.agents.on_change(lambda: board.titles.update(ChatAgents(services.agents)))
    follow_usage(services.others, measured)
    return OtherAgentViewModel(services.others, chat, bridge)


def _agents(services: Services, bridge: Bridge, board: LiveThreads, models: ModelSetupViewModel) -> AgentsViewModel:
    texts = UnsavedTextFiles(services.home / "data", services.redactor.mask_known)
    made = AgentsViewModel(services.agent_services.service, bridge, lambda: models.default_model, texts)
    made.models = models
    made.changed.connect(lambda: board.titles.update(ChatAgents(services.agents)))
    follow_agents(made, theme(), bridge)
    return made


async def _declared_mode(services: Services, agent: str) -> str:
    """How an agent calls its tools by its skill; "" where that cannot be told: its next run will say why."""
    try:
        definition = services.agents.get(agent)
        skill = await prompt_skill(services.skills, definition, definition.side_a)
        return settings_of(skill, await services.skills.effective(skill), "").mode if skill is not None else ""
    except KnownError:
        return ""


def _debates(
    services: Services,
    bridge: Bridge,
    board: LiveThreads,
    approvals: ApprovalsViewModel,
    models: ModelSetupViewModel,
    fences: FencesViewModel,
) -> DebateModels:
    async def path(thread_id: str, before: str | None, limit: int) -> Sequence[MessageRecord]:
        return await services.chats.path(thread_id, before=before, limit=limit)

    debates = DebatesViewModel(services.debates, path, bridge, board)
    agents = RunTreeViewModel(services.run_trees, lambda: approvals.requests, board.titles, bridge)
    bridge.events.connect(agents.take)
    return DebateModels(debates, DebateSetupViewModel(services.debates, bridge), approvals, models, agents, fences)


def _rules(services: Services, bridge: Bridge, approvals: ApprovalsViewModel, chat: ChatViewModel) -> RulesModels:
    rules = RulesViewModel(services.rules.service, bridge)
    bridge.events.connect(rules.take)
    return RulesModels(rules, lambda: RuleEditor(rules, approvals, bridge), lambda: (chat.project, chat.thread_id))


def _know_models(chat: ChatViewModel, setup: ModelSetupViewModel, services: Services) -> None:
    """What the chat says of its model: name, window, and how it counts; and what the models' page does for it."""
    chat.model_titles = lambda ref: _described(setup, services, ref)
    chat.token_scale = lambda ref: services.token_scales(ModelRef.parse(ref))
    setup.demo_started.connect(chat.start_demo)
    services.secrets.on_late.append(setup.keyring_answered)


def _described(setup: ModelSetupViewModel, services: Services, ref: str) -> tuple[str, int | None]:
    """A model's name and window, as last known until the models were listed."""
    return setup.describe(ref)[0], services.windows(ModelRef.parse(ref))


def _given(services: Services, bridge: Bridge) -> FromServers:
    """What MCP servers give to a message."""

    def where(server: str) -> str:
        found = (one.definition.url for one in services.mcp.state.servers if one.definition.name == server)
        return host_of(next(found, ""))

    def denied(server: str) -> str:
        name = canonical(server, "read-resource")
        found = services.rules.book.match(CallFacts(name, Category.READ, tags=("mcp",), source="mcp"))
        return found.pattern if found is not None and found.policy == "deny" else ""

    return FromServers(services.mcp, where, bridge, denied)


def _offers(services: Services, given: FromServers, place: Callable[[], WorkPlace]) -> dict[str, OfferSource]:
    """What the composer offers, by the mark that a word begins with."""

    async def slash(_: str) -> list[Offer]:
        return [*await _skills(services, "/"), *given.prompts()]

    async def at(text: str) -> list[Offer]:
        return [*await _files(services, text, place()), *given.resources()]

    return {"/": slash, "$": lambda _: _skills(services, "$"), "@": at}


async def _skills(services: Services, mark: str) -> list[Offer]:
    """What ``/`` and ``$`` bring in: skills that are text, ready and shown."""
    return [
        Offer(skill.name, f"{mark}{skill.name}", _of_skill(skill), "skills")
        for skill in await named_in_messages(services.skills)
    ]


def _of_skill(skill: SkillDef) -> str:
    """What may follow a skill's name in the composer, and what the skill does."""
    return f"{skill.argument_hint} · {skill.description}" if skill.argument_hint else skill.description


async def _files(services: Services, text: str, place: WorkPlace) -> list[Offer]:
    return await asyncio.to_thread(_files_now, services, text, place)


def _files_now(services: Services, text: str, place: WorkPlace) -> list[Offer]:
    """Entries of the folder that is being typed, as far as the boundary lets anyone list it."""
    folder = text.rsplit("/", 1)[0] + "/" if "/" in text else ""
    if not services.policy.within(place).explain(folder or ".", Access.LIST).allowed:
        return []
    try:
        entries, _ = services.files.within(place).list_folder(folder or ".", FILES_OFFERED)
    except (OSError, ValueError, KnownError):
        return []
    return [
        Offer(entry.name, f"@{folder}{entry.name}", "folder" if entry.kind == "dir" else "", _icon(entry.kind))
        for entry in entries
    ]


def _icon(kind: str) -> str:
    return "folder" if kind == "dir" else "file"


def _thread_rows(threads: ThreadsViewModel) -> Iterable[PaletteRow]:
    newest = sorted(threads.threads, key=lambda thread: thread.updated_at, reverse=True)
    return (PaletteRow(f"thread:{t.thread_id}", t.title or "New chat", "", "Chats", "chats") for t in newest)


def _debate_rows(debates: DebatesViewModel) -> Iterable[PaletteRow]:
    newest = sorted(debates.rows.values(), key=lambda row: row.updated_at, reverse=True)
    return (PaletteRow(f"debate:{row.thread_id}", row.title, fork_words(row), "Debates", "debates") for row in newest)


def _debate_agent_rows(agents: AgentsViewModel) -> Iterable[PaletteRow]:
    """Agents of two sides, each to begin a debate with; of two with one name the nearer one counts."""
    named = {row.agent.name: row.agent for row in reversed(agents.rows) if row.agent is not None and not row.unseen}
    found = sorted((agent for agent in named.values() if agent.type == "dual_ai"), key=lambda agent: agent.shown)
    return (
        PaletteRow(
            f"debate-agent:{a.name}",
            f"Start a debate: {shown_line(a.shown)}",
            a.name,
            "Agents",
            agent_icon(a.name, "debates"),
        )
        for a in found
    )


def _model_rows(setup: ModelSetupViewModel) -> Iterable[PaletteRow]:
    return (
        PaletteRow(f"model:{m.ref}", plain_name(m.title), m.ref.connection_id, "Models for this chat", "model")
        for m in setup.models
    )
