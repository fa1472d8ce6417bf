"""What a run lends to the agents in it: model, pipeline, limits, the code sandbox (R-AG-2).

It travels in ``nonlocals`` under a name of its own, which no worker and no model gets to see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Protocol

from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.skill.history import KeptThinking
from desktop.agents.skill.offers import Offers
from desktop.agents.skill.settings import named_model
from desktop.domain.code import CodeEngine
from desktop.domain.errors import ModelUnknown
from desktop.domain.inboxes import InboxLog, MemoryInboxes
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import UNSAID, ModelSettings, settings_from
from desktop.domain.models import HeldToSchemas, ModelClient, ModelRef, nothing_holds
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import ChatContext, Middleware, Start, StartedBy
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.tools import Tool
from desktop.pipeline.names import AllowedTools
from desktop.pipeline.pipeline import Pipeline
from desktop.skills.patterns.lists import NamedBy
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import EventQueue
from desktop.supervision.live_runs import LiveRuns

if TYPE_CHECKING:
    from desktop.tools.acp.sessions import AcpSessions

HOST = "host"
PERMISSIONS = "permissions"


async def _at_once(_start: Start, _meta: RunMeta) -> None:
    """Starts an agent at once: for runs in which nothing bounds how many start."""


@dataclass(frozen=True, slots=True)
class ChildTerms:
    """What an agent in code asks for a child that it starts (R-SUP-8, R-SUP-14)."""

    budget: ExecutionBudget | None = None
    """Tighter limits for the child and all below it."""
    priority: Priority | None = None
    """None: its parent's, or what its own definition says."""
    kept: str = ""
    """How long the threads of agents that it calls are kept, where that is not as the settings say."""


class Together(Protocol):
    """What both lists permit (R-AG-5); ``named_by``: see ``skills.patterns.lists.Intersection``."""

    def __call__(self, parent: AllowedTools, child: AllowedTools, named_by: NamedBy = "child") -> AllowedTools: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a run lends to the agents of its skills."""

    pipeline: Pipeline
    """Makes the calls."""
    client: ModelClient
    """Asks models."""
    model: ModelRef
    """The model of agents that name none."""
    settings: ModelSettings = UNSAID
    """What a person said for the thread: it holds over what an agent says."""
    request: ModelSettings = UNSAID
    """The settings of the requests of the agent that is at work."""
    usual: ModelSettings = UNSAID
    """What goes with ``model``, for agents that name none and say nothing else."""
    connected: Callable[[ModelRef], bool] = lambda _ref: True
    """Whether a model can be asked at all."""
    held_to_schemas: HeldToSchemas = nothing_holds
    """Whether a model's own structured output holds it to a schema."""
    budget: BudgetTracker
    """The budget of the run's branch."""
    system: Callable[[str, Sequence[Tool]], str]
    """Makes the system text of a prompt and tools."""
    allowed_of: Callable[[str | None], AllowedTools]
    """Reads a pattern list."""
    together: Together
    """Intersects two lists."""
    context_window: Callable[[ModelRef], int | None] = lambda _ref: None
    """A model's window in tokens, or None."""
    token_scale: Callable[[ModelRef], float] = lambda _ref: 1.0
    """How many of a model's tokens an estimated one is."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """How failed requests are repeated."""
    layers: Sequence[Middleware[ChatContext]] = ()
    """Chat-level middleware, outermost first."""
    code: CodeEngine | None = None
    """The sandbox of code mode; None: there is none here."""
    redact: Callable[[str], str] = lambda text: text
    """Cleans a text for traces (R-TRC-9)."""
    spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]] | None = None
    """Starts a task that may outlive the agent for a moment, for skills that listen."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for some seconds."""
    asked: Callable[[bool], None] = lambda _answered: None
    """Hears of questions that a provider puts to the model itself: False before, when it may raise LimitReached, True
    when there is an answer."""
    thinking: KeptThinking = field(default_factory=KeptThinking)
    """What the model thought in answers to such questions."""
    summaries: Callable[[], bool] = lambda: False
    """Whether older messages are summarised."""
    live: LiveRuns | None = None
    """Has the tree in which each agent has its place; None: nobody counts or shows agents."""
    offers: Callable[[], Offers] = Offers
    """How much is offered to a model beside what its list names."""
    begins: Callable[[Start, RunMeta], Awaitable[None]] = _at_once
    """Counts a start of a skill's agent, and waits until there is room for it."""
    by: StartedBy = "model"
    """Who calls the first skill."""
    terms: ChildTerms = field(default_factory=ChildTerms)
    """What an agent in code asks for the child that it starts."""
    inboxes: InboxLog = field(default_factory=MemoryInboxes)
    """Keeps what is posted to persistent agents."""
    subscribe: Callable[[str], EventQueue] | None = None
    """Opens a queue of the events of a topic; None: nobody listens here."""
    others: AcpSessions | None = None
    """The agents of other makers that are at work; None: there are none here."""

    def asking(self, config: Any, whose: str, where: str) -> Host:
        """The same for an agent with this ``model`` in its frontmatter, and for those below it: the model that it names
        is asked, else its caller's (R-MOD-2). Raises ModelUnknown for a model that nothing here leads to, and
        ConfigurationError for a setting that none takes."""
        given = config if isinstance(config, Mapping) else {"model": config}
        model, settings = named_model(given), settings_from(given, where, "model.")
        if model is not None and not self.connected(model):
            raise ModelUnknown(
                f"{whose} is to be worked on by {model}, and there is no connection named {model.connection_id}.",
                next_step="Connect it in Settings, Models and keys, or name another model.",
            )
        if model is None or model == self.model:
            return replace(self, request=self.settings.over(settings).over(self.usual))
        return replace(self, model=model, usual=UNSAID, request=self.settings.over(settings))

    def ending(self, name: object) -> CancellationToken | None:
        """What an agent of another maker ends a call by that it began under this name; None: nothing does, or it has
        done so."""
        return self.others.ending(name) if self.others is not None and isinstance(name, str) else None
