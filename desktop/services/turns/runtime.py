"""What every run is made of, wired once by ``app``: store, bus, models, pipeline, skills, limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.skill.offers import Offers
from desktop.domain.code import CodeEngine
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.inboxes import InboxLog, MemoryInboxes, PostedMessage
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.models import HeldToSchemas, ModelClient, ModelRef, nothing_holds
from desktop.domain.runs.events import RunWaiting
from desktop.domain.runs.limits import USUAL_ROUNDS, Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import AgentContext, ChatContext, Middleware, Start, StartedBy
from desktop.domain.runs.supervision import ExecutionBudget, SpawnBudget
from desktop.domain.safety import SettingsProvider
from desktop.domain.tools import Tool
from desktop.files.own_files import OwnFiles
from desktop.pipeline.pipeline import Pipeline
from desktop.services.definitions.book import AgentBook
from desktop.services.projects.instructions import ProjectInstructions
from desktop.services.skills.world import SkillWorld
from desktop.services.threads.context import ContextService
from desktop.services.turns.prompts import system_text
from desktop.services.turns.steady import OfferedOrder
from desktop.store import Store
from desktop.store.composer import QueueRepository
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import Bus
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tasks import RunSlots

if TYPE_CHECKING:
    from desktop.agents.skill import host as agents_host
    from desktop.agents.skill.host import Host
    from desktop.tools.acp.sessions import AcpSessions
else:
    agents_host = lazy_module("desktop.agents.skill.host")

THREAD_LIMIT = Limit("rounds of a chat", 5_000, "the default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Everything a run needs, wired by ``app``."""

    store: Store
    """The database."""
    bus: Bus
    """Publishes events."""
    client: ModelClient
    """Asks models."""
    pipeline: Pipeline
    """Makes calls."""
    agents: AgentBook
    """The agent definitions in force."""
    skills: SkillWorld
    """The skills."""
    slots: RunSlots = field(default_factory=RunSlots)
    """How many runs go on at once."""
    context_window: Callable[[ModelRef], int | None] = lambda _ref: None
    """A model's window in tokens, or None."""
    token_scale: Callable[[ModelRef], float] = lambda _ref: 1.0
    """How many of a model's tokens an estimated one is."""
    connected: Callable[[ModelRef], bool] = lambda _ref: True
    """Whether there is a connection for a model."""
    has_documents: Callable[[str], Awaitable[bool]] | None = None
    """Whether a thread has documents to read on in; None: none has."""
    held_to_schemas: HeldToSchemas = nothing_holds
    """Whether a model's own structured output holds it to a schema."""
    priced: Callable[[ModelRef], bool] = lambda _ref: True
    """Whether a model's cost will be told."""
    safety: SettingsProvider | None = None
    """The boundaries that the system text names."""
    bounds: Callable[[], ExecutionBudget] = ExecutionBudget
    """Bounds each run tree from its start."""
    set_by: str = "the run's budget"
    """Where a person finds ``bounds``."""
    usual_rounds: Callable[[], Limit] = lambda: USUAL_ROUNDS
    """The limit on rounds of an answer."""
    thread_rounds: Callable[[], Limit] = lambda: THREAD_LIMIT
    """The limit on rounds of all answers of a thread."""
    spawn_budget: SpawnBudget = field(default_factory=SpawnBudget)
    """How many agents a run tree may have."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """How failed requests are repeated."""
    code: CodeEngine | None = None
    """The sandbox of code mode; None: there is none."""
    context: ContextService | None = None
    """Keeps what is pinned and summarised."""
    summaries: Callable[[], bool] = lambda: False
    """Whether older messages are summarised."""
    titles: Callable[[], bool] = lambda: False
    """Whether the model gives chats their titles."""
    tool_mode: Callable[[str], str] = lambda _agent: ""
    """How a person chose that an agent calls its tools, by its name; "": not chosen."""
    effort: Callable[[str], str] = lambda _agent: ""
    """How much a person chose that an agent's model thinks, by its name; "": not chosen."""
    spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]] | None = None
    """Starts an owned task."""
    redact: Callable[[str], str] = lambda text: text
    """Cleans a text for traces."""
    mask: Callable[[str], str] = lambda text: text
    """Takes known secrets out of what a person wrote."""
    agent_layers: Sequence[Middleware[AgentContext]] = ()
    """Agent-level middleware, outermost first."""
    chat_layers: Sequence[Middleware[ChatContext]] = ()
    """Chat-level middleware, outermost first."""
    live: LiveRuns | None = None
    """The trees and journals of runs."""
    offers: Callable[[], Offers] = Offers
    """How much is offered to a model beside what its list names."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for some seconds."""
    instructions: ProjectInstructions | None = None
    """Instruction files of projects; None: none are told."""
    offered: OfferedOrder = field(default_factory=OfferedOrder)
    """In which order tools were offered."""
    own_files: OwnFiles = field(default_factory=OwnFiles)
    """Those of the app, which no run may begin without: what it starts would be of another version."""
    others: AcpSessions | None = None
    """The agents of other makers that are at work."""

    @property
    def inboxes(self) -> InboxLog:
        """Where messages that are posted to agents are kept."""
        return StoredInboxes(self.store.queue, self.mask)

    @property
    def budget(self) -> ExecutionBudget:
        """The budget of a run tree that begins now."""
        return self.bounds()

    def tracker(self, parent: BudgetTracker | None = None) -> BudgetTracker:
        """A tracker that counts for a budget: of a new run tree, or below ``parent``."""
        return BudgetTracker(self.bounds(), parent=parent, where=self.set_by)


class StoredInboxes(MemoryInboxes):
    """An ``InboxLog`` in the database, beside the messages that wait in threads; ``mask`` takes secrets out. A run
    without a thread, as a trial, is not gone on with after a restart: what comes there is in memory."""

    def __init__(self, queue: QueueRepository, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._queue = queue
        self._mask = mask

    async def post(
        self, *, inbox: str, thread_id: str, run_id: str, text: str, post_id: str = "", after: int = 0
    ) -> bool:
        """Put a message at the end of an inbox; on the disk when this returns. False: too many wait."""
        keep = self._queue.post if thread_id else super().post
        masked = self._mask(text)
        return await keep(inbox=inbox, thread_id=thread_id, run_id=run_id, text=masked, post_id=post_id, after=after)

    async def posted(self, *, inbox: str, after: int) -> PostedMessage | None:
        """The first one with a greater number."""
        return await super().posted(inbox=inbox, after=after) or await self._queue.posted(inbox=inbox, after=after)


def waits(bus: Bus, meta: RunMeta, why: str) -> None:
    """A layer has what runs there wait, or, "", lets it go on."""
    bus.publish(RunWaiting(thread_id=meta.thread_id, run_id=meta.run_id, waiting=bool(why), why=why))


def host_of(
    runtime: Runtime,
    model: ModelRef,
    budget: BudgetTracker,
    place: WorkPlace = NOWHERE,
    by: StartedBy = "model",
    said: ModelSettings = UNSAID,
    usual: ModelSettings = UNSAID,
) -> Host:
    """What a run, or a skill that a person tries, lends to the agents in it: this model, and the app's own limits.
    ``said`` are the settings of the thread, ``usual`` those that go with the model."""
    skills = runtime.skills

    def system(prompt: str, tools: Sequence[Tool]) -> str:
        safety = runtime.safety().within(place) if runtime.safety is not None else None
        return system_text(prompt, tools, safety, place.environment)

    async def begins(start: Start, meta: RunMeta) -> None:
        context = AgentContext(meta, agent=start.name, waits=partial(waits, runtime.bus, meta), start=start)
        await skills.levels.begins(context)

    return agents_host.Host(
        pipeline=runtime.pipeline,
        client=runtime.client,
        model=model,
        connected=runtime.connected,
        held_to_schemas=runtime.held_to_schemas,
        settings=said,
        usual=usual,
        request=said.over(usual),
        budget=budget,
        system=system,
        allowed_of=skills.allowed,
        together=skills.together,
        context_window=runtime.context_window,
        token_scale=runtime.token_scale,
        retry=runtime.retry,
        layers=runtime.chat_layers,
        code=runtime.code,
        redact=runtime.redact,
        spawn=runtime.spawn,
        summaries=runtime.summaries,
        live=runtime.live,
        offers=runtime.offers,
        begins=begins,
        by=by,
        inboxes=runtime.inboxes,
        subscribe=runtime.bus.subscribe,
        others=runtime.others,
    )
