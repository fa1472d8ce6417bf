"""One agent at work until it has answered: the only place that makes a round loop.

The agent of a chat, a side of a debate, a called agent, a job and the agent of a skill work through ``AgentTurn``,
unless a skill is their provider (``skill/provider_turn.py``). They differ in their ``TurnSpec`` (what the agent is) and
their ``TurnServices`` (what it reaches the world with), and nowhere else: the window, what is asked beside the rounds,
the limit on rounds and the notes about it are the same for all (R-AG-1, R-CTX-9).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.context import TurnContext
from desktop.agents.loop.events import LoopListener, LoopResult, Recorder, ToolRunner
from desktop.agents.loop.request import ask_within
from desktop.agents.loop.round_notes import is_near_limit, notes_text, rounds_note
from desktop.agents.loop.rounds import LoopConfig, RoundLoop, RoundVerdict
from desktop.agents.loop.summarising import ContextKeeper
from desktop.agents.loop.window import LAST_MESSAGES, NOTHING, PromptWindow, View
from desktop.domain.context import ContextShares, Overlay
from desktop.domain.estimates import estimate, estimate_fixed, estimate_of, estimate_read
from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, ToolCallBlock
from desktop.domain.models import ModelAnswer, ModelRequest
from desktop.domain.runs.agent import CompactionStrategy
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import ChatContext, Middleware
from desktop.supervision.budgets import BudgetTracker


class EarlierMessages(Protocol):
    """The messages of a thread that stand before those that a turn was given."""

    @property
    def count(self) -> int:
        """How many messages there were before this turn."""
        ...

    async def picked(self, wanted: frozenset[str]) -> Sequence[ChatMessage]:
        """The messages with the ids ``wanted``, the oldest first."""
        ...


class ContextListener(Protocol):
    """Hears how large an agent's context is."""

    def measured(self, view: View, window: int | None, shares: ContextShares) -> None:
        """The request of a round holds ``view``; ``window`` is the model's, in tokens (None: unknown)."""
        ...

    def summarising(self) -> None:
        """The model is asked for a summary of older messages."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSpec:
    """What an agent is in one turn."""

    agent_id: AgentId
    """Whose context it is."""
    request: ModelRequest
    """Model, system text and tools, without messages."""
    limit: Callable[[int], Limit]
    """The most rounds, asked before each of them with the number that was made; a person may change it meanwhile."""
    context_window: int | None = None
    """The model's, in tokens; None: unknown."""
    token_scale: Callable[[], float] = lambda: 1.0
    """How many of the model's tokens an estimated one is, as it was last learned."""
    last_messages: int = LAST_MESSAGES
    """How many of the latest messages are sent (R-CTX-6)."""
    context_edit: bool = False
    """Whether the turn gives up for good what its window leaves out (S-AG-2)."""
    strategies: Sequence[CompactionStrategy] = ()
    """Condense the conversation, in their order, before the window leaves out its oldest messages (R-CTX-2)."""
    announces_rounds: bool = False
    """Whether the agent is told when few rounds are left (R-SES-16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnServices:
    """What an agent reaches the world with."""

    answerer: Answerer
    """Asks the model."""
    tools: ToolRunner
    """Makes the model's calls."""
    recorder: Recorder
    """Stores what is said."""
    listener: LoopListener | None = None
    """Hears of it, piece by piece."""
    budget: BudgetTracker | None = None
    """Asked before each round and told after it (R-LOOP-15); None: whoever is asked counts by itself."""
    layers: Sequence[Middleware[ChatContext]] = ()
    """Chat-level middleware around each request (R-MW-6)."""
    round_begins: Callable[[int], Awaitable[None]] | None = None
    """Told the number of a round when its request is ready."""
    after_round: Callable[[ChatMessage, int], RoundVerdict | Awaitable[RoundVerdict]] | None = None
    """Judges each round: whether it ends the turn."""
    after_error: Callable[[Exception], Awaitable[bool]] | None = None
    """Asked after a round that failed: whether it is tried again, once the wait for that is over (R-PER-3)."""
    steering: Callable[[], Awaitable[Sequence[ChatMessage]]] | None = None
    """What a person typed meanwhile (S-LOOP-1)."""
    meant: Callable[[ToolCallBlock], Awaitable[ToolCallBlock]] | None = None
    """Which call a call is that was asked for through another tool."""
    context: ContextListener | None = None
    """Hears of the context's size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """What an agent reads in a turn."""

    messages: Sequence[ChatMessage]
    """The conversation, in the agent's own perspective."""
    pinned: Sequence[ChatMessage] = ()
    """Come before them, whatever the window leaves out."""
    notes: Sequence[str] = ()
    """Are said behind the messages in each request of this turn."""
    keeper: ContextKeeper | None = None
    """Has the thread's summary and pins."""
    task: str = ""
    """The id of the message that began the work, which no window leaves out."""
    earlier: EarlierMessages | None = None
    """What the thread has before ``messages``."""
    begun: int = 0
    """So many rounds of the turn are in ``messages`` already."""
    unjudged: bool = False
    """Whether what follows from the last round of ``messages`` was not decided before the app was started again."""


class Provider(Protocol):
    """Has an agent work until it has answered. There are two kinds: ``AgentTurn`` asks the model in rounds, and
    ``skill.provider_turn.SkillTurn`` lets a skill do so, the one that ``model.agent`` names (R-AG-3)."""

    async def take(self, given: TurnInput) -> LoopResult:
        """Work until a final text, a limit, an abort or a failure. Raises what the recorder raises, and nothing for
        those."""
        ...


class AgentTurn:
    """The native provider: the round loop over one input after the other. Summaries made meanwhile are kept by their
    keepers."""

    def __init__(self, spec: TurnSpec, services: TurnServices, meta: RunMeta) -> None:
        self._spec = spec
        self._services = services
        self._meta = meta

    async def take(self, given: TurnInput) -> LoopResult:
        """Work until a final text, a limit, an abort, or a failure that no repetition mends."""
        after_error = self._services.after_error
        while True:
            result = await self._worked(given)
            if result.error is None or after_error is None or not await after_error(result.error):
                return result
            given = after_failure(given, result)

    async def _worked(self, given: TurnInput) -> LoopResult:
        spec, services = self._spec, self._services
        loop = RoundLoop(
            services.answerer,
            services.tools,
            services.recorder,
            services.listener,
            services.budget,
            services.layers,
            services.after_round,
            services.steering,
            spec.limit,
            services.meant,
            spec.token_scale,
            LoopConfig(limit=spec.limit(given.begun), begun=given.begun, cut=given.unjudged),
        )
        requests = RoundRequests(spec, services, self._meta, given)
        return await loop.run(given.messages, requests.next, self._meta)


def after_failure(given: TurnInput, result: LoopResult) -> TurnInput:
    """What a turn that failed is tried again with: what its last round left is no part of the conversation."""
    messages = list(result.messages)
    while messages and messages[-1].role == "assistant":
        messages.pop()
    return replace(given, messages=messages, begun=max(0, result.rounds - 1), unjudged=False)


class RoundRequests:
    """Makes the request of each round of a turn: the window is built anew (R-CTX-9), and measured."""

    def __init__(self, spec: TurnSpec, services: TurnServices, meta: RunMeta, given: TurnInput) -> None:
        self._spec = spec
        self._services = services
        self._meta = meta
        self._given = given
        self._window = window_of(spec, given)
        self._context = TurnContext(spec.agent_id, self, self._window, spec.strategies, self._overlay)
        self._messages: Sequence[ChatMessage] = ()
        self._earlier = given.earlier
        self._number = given.begun
        self._told = False

    async def next(self, messages: Sequence[ChatMessage]) -> ModelRequest:
        """Raises ModelContextTooLong when nothing that fits can be built."""
        spec, services, given = self._spec, self._services, self._given
        limit, self._number = spec.limit(self._number), self._number + 1
        view = await self._viewed(messages)
        if services.context is not None:
            services.context.measured(view, spec.context_window, shares_of(spec, view))
        if services.round_begins is not None:
            await services.round_begins(self._number)
        return request_with(spec.request, view, given, self._note(limit))

    async def read(self, agent_id: AgentId, session_id: str) -> Sequence[ChatMessage]:
        """``HistoryProvider``: the messages of the turn so far, after those earlier ones that always stay."""
        messages = self._messages
        return [*await self._picked(messages), *messages] if self._earlier is not None else messages

    async def _overlay(self, messages: Sequence[ChatMessage]) -> Overlay:
        keeper, spec = self._given.keeper, self._spec
        if keeper is None:
            return NOTHING
        model = spec.request.model
        return await keeper.current(messages, self._window, self._beside, model, spec.context_window)

    async def _viewed(self, messages: Sequence[ChatMessage]) -> View:
        self._messages = messages
        await self._context.get_prompt_window(self._meta.thread_id)
        view, keeper = self._context.view, self._given.keeper
        if self._spec.context_edit and view.compacted and isinstance(messages, list):
            messages[:] = view.messages
            self._earlier, self._window.older = None, 0
            if keeper is not None:
                keeper.overlay = NOTHING  # its summary is a message of its own now
        return view

    async def _picked(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        earlier, keeper = self._earlier, self._given.keeper
        if earlier is None:
            return ()
        pins = keeper.overlay.pins if keeper is not None else frozenset[str]()
        picked = await earlier.picked((pins | {self._given.task}) - {message.source_id for message in messages})
        self._window.older = earlier.count - len(picked)
        return picked

    def _note(self, limit: Limit) -> str:
        if not self._spec.announces_rounds:
            return ""
        maximum = int(limit.value)
        note, self._told = rounds_note(maximum, self._number, self._told), is_near_limit(maximum, self._number)
        return note

    async def _beside(self, request: ModelRequest) -> ModelAnswer:
        """A question to the model that is no round, the way of all others: bounded, queued, counted, journaled."""
        services = self._services
        if services.context is not None:
            services.context.summarising()
        answer = await ask_within(services.layers, services.answerer, request, self._meta, lambda _event: None)
        message = answer.message
        if services.budget is not None:
            estimate = estimate_of(request, message, self._spec.token_scale())
            services.budget.consume(message.usage, rounds=0, estimate=estimate)
        if message.usage is not None:
            await services.recorder.spent(message.usage)
        return answer


def window_of(spec: TurnSpec, given: TurnInput) -> PromptWindow:
    """What fits beside the system text, the tools and the pinned messages."""
    fixed = estimate_fixed(spec.request) + sum(estimate(message) for message in given.pinned)
    return PromptWindow(
        spec.agent_id,
        context_window=spec.context_window,
        fixed=fixed,
        last=spec.last_messages,
        task=given.task,
        scale=spec.token_scale,
    )


def shares_of(spec: TurnSpec, view: View) -> ContextShares:
    """What the tokens of a window are."""
    scale, request = spec.token_scale(), spec.request
    fixed = round(estimate_fixed(request) * scale)
    read = round(sum(map(estimate_read, view.messages)) * scale)
    return ContextShares(fixed, len(request.tools), max(0, view.tokens - fixed - read), read)


def request_with(request: ModelRequest, view: View, given: TurnInput, note: str) -> ModelRequest:
    """The request of a round, with what is noted about its number."""
    messages, notes = (*given.pinned, *view.messages), notes_text([*given.notes, note])
    return replace(request, messages=messages, beside_id=given.task, note=notes)
