"""``SideTurn``: one side works until it has answered. A chat's run is one of these, a debate many."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import field, replace
from functools import partial
from typing import Any

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopEvent
from desktop.agents.loop.rounds import RoundVerdict
from desktop.agents.loop.window import View
from desktop.agents.skill.calls import CallPort, CodeCalls
from desktop.agents.skill.history import strategies_of
from desktop.agents.skill.host import HOST, PERMISSIONS
from desktop.agents.skill.persistence import thread_context
from desktop.agents.skill.provider_port import is_bundled
from desktop.agents.skill.provider_turn import AGENT, SkillProvider, SkillTurn
from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.skill.trace import Delivery, TopicEvents, Whose
from desktop.agents.skill.turn_events import TurnEvents
from desktop.agents.turn import AgentTurn, Provider, TurnInput, TurnServices, TurnSpec
from desktop.domain.context import ContextShares
from desktop.domain.errors import CancellationError, ConfigurationError, KnownError, LimitReached
from desktop.domain.ids import AgentId, new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, NoticeBlock, ToolCallBlock
from desktop.domain.runs.call_keys import inside_key
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.effects import call_key
from desktop.domain.runs.events import ContextMeasured, ContextSummarising
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import MiddlewareTermination
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.pipeline.context import CallRequest, Invocation
from desktop.recovery.resume import Unfinished
from desktop.recovery.uncertain_calls import find_uncertain
from desktop.services.recovery.settling import Settling
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.around import TurnLayers, served_call
from desktop.services.turns.heeding import Heeding, Steering
from desktop.services.turns.persistent import PersistentTurn, Place
from desktop.services.turns.remembered import named_skills, remembered
from desktop.services.turns.runtime import Runtime, host_of
from desktop.services.turns.side_result import SideResult, end_event
from desktop.services.turns.spec import (
    ResolvedSide,
    SideSpec,
    TurnRounds,
    brought_in,
    check_stops,
    contract_of,
    held,
    prompt_text,
    ready,
    request_of,
    with_what_is_there,
)
from desktop.services.turns.stops import SideStops
from desktop.services.turns.toolbox import Toolbox
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.topics import TopicListener

_log = logging.getLogger(__name__)
Opened = tuple[ResultContract, CallPort]


@dataclass(slots=True, kw_only=True)
class SideTurn:
    """One side turn of a run: it finds what the side needs, and has it work."""

    runtime: Runtime
    """Everything a run needs."""
    spec: SideSpec
    """The side."""
    meta: RunMeta
    """Names run and thread, and holds the token."""
    recorder: RunRecorder
    """Stores what is said."""
    budget: BudgetTracker
    """What the run has used and may use."""
    asked: str = ""
    """The person's text that may bring in skills (S-SK-5)."""
    unfinished: Unfinished | None = None
    """What an answer that is gone on with left open."""
    steering: Steering | None = None
    """Gives what a person typed meanwhile."""
    away: Place | None = None
    """Within it the run gives its place to others while a persistent agent waits; None: this turn has to end."""
    below: Invocation | None = None
    """The call that an agent works for which was called as a tool: time that a person takes counts for neither
    (R-PRM-10)."""
    left_out: list[NoticeBlock] = field(default_factory=list)
    """Notices of skills that could not join."""
    heeding: Heeding = field(default_factory=Heeding)
    """Knows what comes before it from outside."""
    turn: str = ""
    """Names the turn of a debate in the run's log, however often it is gone on with."""
    _joined: Sequence[tuple[str, str]] = ()
    _ports: list[CallPort] = field(default_factory=list)
    _cut: bool = False
    _handed: bool = False

    async def take(self, given: TurnInput) -> SideResult:
        """Raises ConfigurationError before any model call when a piece is missing (R-DEF-11), ToolFailure when the
        prompt's text cannot be made, and what the store raises; everything else is in the result."""
        runtime = self.runtime
        self.meta = replace(self.meta, environment=self.spec.environment)
        self.spec = replace(self.spec, project=self.meta.project)
        self._cut = self.unfinished is not None and self.unfinished.cut
        side = await with_what_is_there(runtime, await ready(runtime, self.spec), self.meta.thread_id)
        side = await held(runtime, side)
        await check_stops(runtime, side)
        if self.meta.uncertain is None:  # else its caller's hold
            found = await find_uncertain(runtime.store, self.meta.thread_id, given.messages)
            self.meta = replace(self.meta, uncertain=found)
        if side.settings.persistent and self.away is None:
            raise ConfigurationError(
                f"{side.skill.name} is persistent (model.persistent), and a side of a debate has to end its turn.",
                next_step="Take persistent out of the skill's metadata, or let it answer in a chat.",
            )
        whose = _whose(self)
        root = self._root(side, whose)
        self.heeding.begin(runtime.pipeline, root)
        delivery = (
            Delivery(partial(_tell_listener, runtime, root), runtime.spawn) if runtime.spawn is not None else None
        )
        events = TurnEvents(TopicEvents(whose, runtime.skills.topics, delivery), runtime.redact)
        events.begin(side.skill.name, side.settings.provider)
        end: dict[str, Any] = {"status": "failed", "rounds": given.begun}
        try:
            result = await self._within_middleware(side, whose, root, given, events)
            end |= end_event(result)
        finally:
            events.over(**end, calls=sum(port.made for port in self._ports))
        return result

    async def _within_middleware(
        self, side: ResolvedSide, whose: Whose, root: Invocation, given: TurnInput, events: TurnEvents
    ) -> SideResult:
        """The turn within the middleware that the prompt's keys name (D-10)."""
        runtime, meta, key = self.runtime, self.meta, _turn_key(self, side)
        around = replace(root, meta=replace(meta, call=key))  # the calls of its layers are known again by that
        call = await served_call(runtime, side, around, given.messages)
        text = await prompt_text(runtime, side, meta.cancellation, await runtime.skills.inherited(call))
        if not call.cascade.chain:
            return await self._attempt(side, whose, root, given, events, text)
        events.kept = []
        call.invocation.local.update({"prompt": text, AGENT: {"trace": events.kept}})

        def below() -> Invocation:
            above, depth = around.history, around.depth
            return Invocation(self.meta, around, depth, above, inherited=around.inherited, shared=around.shared)

        async with AsyncExitStack() as held:
            opened: Opened | None = None
            if self.unfinished is not None:  # a layer may answer in the place of the turn
                opened = await held.enter_async_context(_opened(self.runtime, side, self.budget, self._ports))
                given = await self._settled_first(side, below(), given, events, opened, key)

            async def take(token: CancellationToken, left: TurnInput, again: bool) -> SideResult:
                self.meta = replace(meta, cancellation=token)
                begun = None if again else opened
                try:
                    return await self._attempt(side, whose, below(), left, events, text, again=again, opened=begun)
                finally:
                    self.meta = meta

            layers = TurnLayers(runtime.pipeline, side, call, contract_of(runtime, side), self.recorder)
            return await layers.around(given, take)

    async def _settled_first(
        self, side: ResolvedSide, root: Invocation, given: TurnInput, events: TurnEvents, opened: Opened, key: str
    ) -> TurnInput:
        """What is known of the layers' calls, and results for the open calls before any layer runs."""
        rounds = await self._rounds(side, given)
        stops = self._stops(opened, root, rounds, events)
        messages = await self._settled(stops, given, key)
        self._handed = stops.handed
        return replace(given, messages=messages)

    async def _rounds(self, side: ResolvedSide, given: TurnInput) -> TurnRounds:
        spec, thread = self.spec, await _left_of_thread(self.runtime, self.meta.thread_id, given.begun)
        return TurnRounds.of(spec, f"the agent {spec.agent}", self.budget, given.begun, thread, side.rounds)

    def _stops(self, opened: Opened, root: Invocation, rounds: TurnRounds, events: TurnEvents) -> SideStops:
        (contract, port), runtime = opened, self.runtime
        tools = Toolbox(port, runtime.pipeline.table, runtime.bus.publish, self.recorder, root)
        return SideStops(
            self.spec, runtime.pipeline.table, tools, port.code, rounds, contract, tools.finished, events, self._handed
        )

    async def _attempt(
        self,
        side: ResolvedSide,
        whose: Whose,
        root: Invocation,
        given: TurnInput,
        events: TurnEvents,
        text: str,
        *,
        again: bool = False,
        opened: Opened | None = None,
    ) -> SideResult:
        async with AsyncExitStack() as held:
            if opened is None:
                opened = await held.enter_async_context(_opened(self.runtime, side, self.budget, self._ports))
            with self._kept_at_work(side, whose.context_id) as persistent:
                return await self._worked(side, opened, root, given, events, persistent, text, again=again)

    async def _worked(
        self,
        side: ResolvedSide,
        opened: Opened,
        root: Invocation,
        given: TurnInput,
        events: TurnEvents,
        persistent: PersistentTurn | None,
        text: str,
        *,
        again: bool,
    ) -> SideResult:
        runtime, spec = self.runtime, self.spec
        rounds, (contract, _) = await self._rounds(side, given), opened
        node = runtime.live.node_of(self.meta) if runtime.live is not None else None
        if node is not None and not side.settings.persistent:
            node.own_rounds = rounds.own
        stops = self._stops(opened, root, rounds, events)
        if not again:
            self._joined = await brought_in(runtime, side, self.meta.cancellation, self.asked, self.left_out)
        request = await request_of(runtime, side, text, self._joined, self.asked)
        own = TurnSpec(
            agent_id=AgentId(spec.agent, spec.side),
            request=request,
            limit=rounds,
            context_window=runtime.context_window(request.model),
            token_scale=partial(runtime.token_scale, request.model),
            context_edit=side.settings.context_edit,
            strategies=strategies_of(side.settings.compaction, named_skills(runtime, side, root)),
            announces_rounds=True,
        )
        services = self._services(side, stops, events, persistent, rounds)
        unjudged = not again and (bool(given.begun) or self._cut)
        messages = await self._settled(stops, given)
        stops.recall(messages if unjudged else ())
        if not again:
            given, messages = await remembered(runtime, side, root, given, messages)
        provider = await self._provider(side, root, own, services)
        result = await provider.take(replace(given, messages=messages, unjudged=unjudged))
        expected = (KnownError, CancellationError, MiddlewareTermination)
        if result.error is not None and not isinstance(result.error, expected):
            _log.error("run %s: the model client failed", self.meta.run_id, exc_info=result.error)
        unmet = contract.unmet if stops.by is None and result.error is None else ""
        limit = result.limit or rounds(result.rounds)
        return SideResult(result, limit, stops.by, stops.value, stops.missing, unmet, stops.handed)

    def _services(
        self,
        side: ResolvedSide,
        stops: SideStops,
        events: TurnEvents,
        persistent: PersistentTurn | None,
        rounds: TurnRounds,
    ) -> TurnServices:
        """What the agent reaches the world with."""
        runtime = self.runtime

        async def after_round(message: ChatMessage, number: int) -> RoundVerdict:
            events.round_over(message, number)
            if persistent is None:
                verdict = await stops.after(message, number)
            else:
                verdict = await persistent.after(message, number, stops.after, rounds(number))
            self.heeding.reads(verdict.heard)
            if verdict.nudge or verdict.heard:
                events.goes_on()
            return verdict

        def listen(event: LoopEvent) -> None:
            self.recorder.listen(event)
            events.listen(event)

        return TurnServices(
            answerer=Answerer(runtime.client, retry=runtime.retry),
            tools=stops,
            recorder=self.recorder,
            listener=listen,
            budget=self.budget,
            layers=runtime.chat_layers,
            steering=self.heeding.of(persistent.messages if persistent is not None else self.steering),
            after_round=after_round,
            after_error=persistent.after_error if persistent is not None else None,
            meant=lambda call: runtime.pipeline.meant(call, side.caller),
            context=self,
        )

    async def _provider(self, side: ResolvedSide, root: Invocation, spec: TurnSpec, services: TurnServices) -> Provider:
        """The provider that has the agent work (R-AG-3): the round loop, unless ``model.agent`` names another or a
        person's own skill stands in the place of the bundled one."""
        runtime, name = self.runtime, side.settings.provider
        await runtime.skills.table.bring(name)
        if is_bundled(runtime.pipeline.table, name):
            return AgentTurn(spec, services, self.meta)
        skill = SkillProvider(
            name=name,
            config=side.model_settings,
            serving=side.skill.name,
            allowed=side.allowed,
            chain=side.caller.chain,
            root=root,
            shared=runtime.skills.fabric,
            add_blocks=self.recorder.blocks_added,
        )
        return SkillTurn(skill, spec, services, self.meta)

    async def _settled(self, tools: SideStops, given: TurnInput, turn: str = "") -> Sequence[ChatMessage]:
        """The messages, with results for the calls that a run before this one has left open; from then on the calls
        inside ``turn`` are known again, too."""
        unfinished = self.unfinished
        if unfinished is None:
            return given.messages
        if self.runtime.live is not None:
            self.runtime.live.histories.remember(self.meta.run_id, unfinished.history, unfinished.keys | {turn})
        settling = Settling(unfinished, tools, self.recorder, self.meta.cancellation)
        settled = self.heeding.reads(await settling.settle(self.runtime.store.effects))
        self.unfinished = None
        return [*given.messages, *settled]

    def _kept_at_work(self, side: ResolvedSide, context_id: str) -> AbstractContextManager[PersistentTurn | None]:
        """Within it a persistent agent's inbox is open."""
        if not side.settings.persistent or self.away is None or self.steering is None:
            return nullcontext()
        return PersistentTurn(
            self.runtime, self.meta, self.recorder, context_id, self.spec.shown, self.steering, self.away
        )

    def _root(self, side: ResolvedSide, whose: Whose) -> Invocation:
        """Where the turn's calls hang; what agents below need of it goes down with them (R-INV-7)."""
        below = self.recorder.below
        if below is None:
            below = self.recorder.below = self.budget.child(ExecutionBudget(), "the agents below")
        spec = self.spec
        host = host_of(self.runtime, spec.model, below, spec.place, said=spec.said, usual=spec.usual)
        inherited = {HOST: host, PERMISSIONS: side.allowed, "rootContextId": whose.root, AGENT: whose.scope}
        shared, above = self.runtime.skills.shared, self.below
        if above is None:
            return Invocation(self.meta, inherited=inherited, shared=shared)
        return Invocation(self.meta, above, above.depth + 1, above.history, inherited=inherited, shared=shared)

    # -- ``agents.turn.ContextListener`` ------------------------------------------------------------------------------

    def measured(self, view: View, window: int | None, shares: ContextShares) -> None:
        """Publish how large the context of a round is."""
        self.runtime.bus.publish(
            ContextMeasured(
                thread_id=self.meta.thread_id,
                run_id=self.meta.run_id,
                used=view.tokens,
                window=window,
                compacted=view.compacted,
                account=view.account,
                shares=shares,
            )
        )

    def summarising(self) -> None:
        """Publish that older messages are summarised."""
        self.runtime.bus.publish(ContextSummarising(thread_id=self.meta.thread_id, run_id=self.meta.run_id))


def _turn_key(turn: SideTurn, side: ResolvedSide) -> str:
    """What stands for the turn in the run's log, and does when another run goes on with it."""
    name = f"turn {turn.turn} {side.skill.name}"
    if turn.below is not None and turn.below.meta.call:
        return inside_key(turn.below.meta.call, name, 1)
    began = turn.unfinished.began if turn.unfinished is not None else turn.recorder.run_id
    return call_key(turn.meta.thread_id if turn.turn else began, name)


@asynccontextmanager
async def _opened(
    runtime: Runtime, side: ResolvedSide, budget: BudgetTracker, ports: list[CallPort]
) -> AsyncIterator[Opened]:
    """What calls are made with and judged by; the port joins ``ports``, which count them."""
    contract, fabric, pipeline = contract_of(runtime, side), runtime.skills.fabric, runtime.pipeline
    memory = side.settings.memory
    async with CodeCalls(side.mode, runtime.code, pipeline, lambda: fabric, side.caller, contract, memory) as code:
        port = CallPort(pipeline, side.caller, budget, code, side.calls)
        ports.append(port)
        yield contract, port


async def _left_of_thread(runtime: Runtime, thread_id: str, begun: int) -> Limit:
    """What is left of the rounds of this thread, whatever runs they are of. Raises LimitReached when nothing is."""
    bound = runtime.thread_rounds()
    left = int(bound.value) - await runtime.store.messages.rounds(thread_id=thread_id)
    if left < 1:
        raise LimitReached(
            f"All rounds of this chat are used up: {bound}.",
            limit=str(bound),
            code="limit.rounds",
            next_step="Go on in a new chat, or raise the limit in Settings, Chats.",
        )
    return Limit(f"rounds left of the {bound.value:,.0f} of this chat,", left + begun, bound.where)


def _whose(turn: SideTurn) -> Whose:
    """Which agent this is for those who listen; its calls find the same as ``nonlocals.agent`` (R-AG-6)."""
    meta, spec = turn.meta, turn.spec
    above = turn.below.inherited if turn.below is not None else {}
    agent = above.get(AGENT)
    scope = agent if isinstance(agent, Mapping) else {}
    return Whose(
        thread_id=meta.thread_id,
        run_id=meta.run_id,
        call_id="",
        context_id=thread_context(meta.thread_id, spec.side),
        ancestor=str(scope.get("contextId") or ""),
        agent=spec.agent,
        root=str(above.get("rootContextId") or meta.run_id),
        topic=str(scope.get("events") or ""),
    )


async def _tell_listener(runtime: Runtime, root: Invocation, one: TopicListener, event: Mapping[str, Any]) -> None:
    """Call the skill that subscribed to what this agent does, in the name of who subscribed."""
    block = ToolCallBlock(new_id(), one.ref, event)
    await runtime.pipeline.invoke(CallRequest(block, one.caller, root, lambda _event: None, counted=False))
