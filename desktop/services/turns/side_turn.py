"""``SideTurn``: one side works until it has answered. A chat's run is one of these, a debate many."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from functools import partial
from typing import Any

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopEvent, LoopResult
from desktop.agents.loop.rounds import RoundVerdict
from desktop.agents.loop.window import View
from desktop.agents.skill.calls import CallPort, CodeCalls
from desktop.agents.skill.history import strategies_of
from desktop.agents.skill.host import HOST, PERMISSIONS
from desktop.agents.skill.provider_turn import AGENT, SkillProvider, SkillTurn
from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.skill.settings import PROVIDER
from desktop.agents.skill.trace import Delivery, TopicEvents, Whose, thread_context
from desktop.agents.skill.turn_events import TurnEvents
from desktop.agents.turn import AgentTurn, Provider, TurnInput, TurnServices, TurnSpec
from desktop.domain.debates import TurnEnd
from desktop.domain.errors import CancellationError, ConfigurationError, KnownError, LimitReached
from desktop.domain.events import ContextMeasured, ContextSummarising, ToolCallFinished, ToolCallStarted
from desktop.domain.ids import AgentId, new_id
from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.limits import Limit
from desktop.domain.messages import ChatMessage, NoticeBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.middleware import MiddlewareTermination
from desktop.domain.run_meta import RunMeta
from desktop.domain.skills import SkillDef
from desktop.domain.supervision import ExecutionBudget
from desktop.pipeline.context import CallRequest, Invocation
from desktop.recovery.resume import Unfinished
from desktop.recovery.uncertain_calls import find_uncertain
from desktop.services.recovery.settling import Settling
from desktop.services.skills.activation import named_in
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.persistent import PersistentTurn, Place
from desktop.services.turns.remembered import named_skills, remembered
from desktop.services.turns.runtime import Runtime, host_of
from desktop.services.turns.spec import ResolvedSide, SideSpec, TurnRounds, check_stops, contract_of, ready, request_of
from desktop.services.turns.stops import SideStops
from desktop.services.turns.toolbox import Toolbox
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.topics import TopicListener

LIBRARY = "library"
"""The source of skills that the app brings along."""

_log = logging.getLogger(__name__)
Steering = Callable[[], Awaitable[Sequence[ChatMessage]]]


@dataclass(frozen=True, slots=True)
class SideResult:
    """How a turn went."""

    loop: LoopResult
    """What the loop gave."""
    limit: Limit
    """The limit on rounds that held."""
    by: TurnEnd | None = None
    """What ended it, where that was no reply and no failure."""
    value: Any = None
    """The stop tool's property, or what the prompt declares that it returns."""
    missing: bool = False
    """Whether that property was not there."""
    unmet: str = ""
    """Why there is no declared value, or ""."""
    handed: bool = False
    """Whether another agent goes on."""


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

    async def take(self, given: TurnInput) -> SideResult:
        """Raises ConfigurationError before any model call when a piece is missing (R-DEF-11), ToolFailure when the
        prompt's text cannot be made, and what the store raises; everything else is in the result."""
        runtime = self.runtime
        self.meta = replace(self.meta, environment=self.spec.environment)
        side = await ready(runtime, self.spec)
        await check_stops(runtime, side)
        fabric = runtime.skills.fabric
        if self.meta.uncertain is None:  # else its caller's hold
            found = await find_uncertain(runtime.store, self.meta.thread_id, given.messages)
            self.meta = replace(self.meta, uncertain=found)
        if side.settings.persistent and self.away is None:
            raise ConfigurationError(
                f"{side.skill.name} is persistent (model.persistent), and a side of a debate has to end its turn.",
                next_step="Take persistent out of the skill's metadata, or let it answer in a chat.",
            )
        whose = self._whose()
        contract, root = contract_of(runtime, side), self._root(side, whose)
        pipeline, memory = runtime.pipeline, side.settings.memory
        sandbox = CodeCalls(side.mode, runtime.code, pipeline, lambda: fabric, side.caller, contract, memory)
        async with sandbox as code:
            port = CallPort(pipeline, side.caller, self.budget, code, side.calls)
            tools = Toolbox(port, pipeline.table, runtime.bus.publish, self.recorder, root)
            delivery = (
                Delivery(partial(self._tell_listener, root), runtime.spawn) if runtime.spawn is not None else None
            )
            events = TurnEvents(TopicEvents(whose, runtime.skills.topics, delivery), runtime.redact)
            events.begin(side.skill.name, side.settings.provider)
            end: dict[str, Any] = {"status": "failed", "rounds": given.begun}
            try:
                with self._kept_at_work(side, whose.context_id) as persistent:
                    result = await self._worked(side, tools, code, contract, root, given, events, persistent)
                end |= _end_of(result)
            finally:
                events.over(**end, calls=tools.made)
        return result

    async def _worked(
        self,
        side: ResolvedSide,
        tools: Toolbox,
        code: CodeCalls,
        contract: ResultContract,
        root: Invocation,
        given: TurnInput,
        events: TurnEvents,
        persistent: PersistentTurn | None,
    ) -> SideResult:
        runtime, spec = self.runtime, self.spec
        thread = await self._of_thread(given.begun)
        rounds = TurnRounds.of(spec, f"the agent {spec.agent}", self.budget, given.begun, thread, side.rounds)
        node = runtime.live.node_of(self.meta) if runtime.live is not None else None
        if node is not None and not side.settings.persistent:
            node.own_rounds = rounds.own
        stops = SideStops(spec, runtime.pipeline.table, tools, code, rounds, contract, self._finished, events)
        request = await request_of(
            runtime, side, self.meta.cancellation, await self._brought_in(self.asked, side.skill), self.asked
        )
        own = TurnSpec(
            agent_id=AgentId(spec.agent, spec.side),
            request=request,
            limit=rounds,
            context_window=runtime.context_window(request.model),
            context_edit=side.settings.context_edit,
            strategies=strategies_of(side.settings.compaction, named_skills(runtime, side, root)),
            announces_rounds=True,
        )
        services = self._services(side, stops, events, persistent, rounds)
        unjudged = bool(given.begun) or (self.unfinished is not None and self.unfinished.cut)
        messages = await self._settled(stops, given)
        stops.recall(messages if unjudged else ())
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
            steering=persistent.messages if persistent is not None else self.steering,
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
        found = runtime.pipeline.table.find(name)
        if name == PROVIDER and (found is None or found.spec.source == LIBRARY):
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

    async def _of_thread(self, begun: int) -> Limit:
        """What is left of the rounds of this thread, whatever runs they are of. Raises LimitReached when nothing is."""
        bound = self.runtime.thread_rounds()
        left = int(bound.value) - await self.runtime.store.messages.rounds(thread_id=self.meta.thread_id)
        if left < 1:
            raise LimitReached(
                f"All rounds of this chat are used up: {bound}.",
                limit=str(bound),
                code="limit.rounds",
                next_step="Go on in a new chat, or raise the limit in Settings, Chats.",
            )
        return Limit(f"rounds left of the {bound.value:,.0f} of this chat,", left + begun, bound.where)

    async def _settled(self, tools: SideStops, given: TurnInput) -> Sequence[ChatMessage]:
        """The messages, with results for the calls that a run before this one has left open."""
        unfinished = self.unfinished
        if unfinished is None:
            return given.messages
        if self.runtime.live is not None:
            self.runtime.live.histories.remember(self.meta.run_id, unfinished.history, unfinished.keys)
        settling = Settling(unfinished, tools, self.recorder, self.meta.cancellation)
        return [*given.messages, *await settling.settle(self.runtime.store.effects)]

    def _whose(self) -> Whose:
        """Which agent this is for those who listen; its calls find the same as ``nonlocals.agent`` (R-AG-6)."""
        meta, spec = self.meta, self.spec
        above = self.below.inherited if self.below is not None else {}
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

    def _kept_at_work(self, side: ResolvedSide, context_id: str) -> AbstractContextManager[PersistentTurn | None]:
        """Within it a persistent agent's inbox is open."""
        if not side.settings.persistent or self.away is None or self.steering is None:
            return nullcontext()
        return PersistentTurn(
            self.runtime, self.meta, self.recorder, context_id, self.spec.shown, self.steering, self.away
        )

    async def _tell_listener(self, root: Invocation, one: TopicListener, event: Mapping[str, Any]) -> None:
        """Call the skill that subscribed to what this agent does, in the name of who subscribed."""
        block = ToolCallBlock(new_id(), one.ref, event)
        await self.runtime.pipeline.invoke(CallRequest(block, one.caller, root, lambda _event: None, counted=False))

    def _root(self, side: ResolvedSide, whose: Whose) -> Invocation:
        """Where the turn's calls hang; what agents below need of it goes down with them (R-INV-7)."""
        below = self.recorder.below = self.budget.child(ExecutionBudget(), "the agents below")
        host = host_of(self.runtime, self.spec.model, below, self.spec.environment)
        inherited = {HOST: host, PERMISSIONS: side.allowed, "rootContextId": whose.root, AGENT: whose.scope}
        shared, above = self.runtime.skills.shared, self.below
        if above is None:
            return Invocation(self.meta, inherited=inherited, shared=shared)
        return Invocation(self.meta, above, above.depth + 1, above.history, inherited=inherited, shared=shared)

    def _finished(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        """The card of the call that gives what was promised; no pipeline makes that call."""
        meta, recorder = self.meta, self.recorder
        result_id = recorder.result_ids[call.call_id] = new_id()
        where = {"thread_id": meta.thread_id, "run_id": meta.run_id, "message_id": recorder.message_id}
        publish = self.runtime.bus.publish
        arguments = call.arguments or {}
        publish(ToolCallStarted(**where, call_id=call.call_id, tool=call.tool, arguments=arguments, category="read"))
        publish(
            ToolCallFinished(
                **where,
                call_id=call.call_id,
                tool=call.tool,
                state=str(result.facts["state"]),
                text=result.text,
                is_error=result.is_error,
                code=str(result.facts["code"]),
                elapsed_ms=0,
                facts=result.facts,
                result_message_id=result_id,
                media=result.media,
            )
        )

    async def _brought_in(self, asked: str, skill: SkillDef) -> list[tuple[str, str]]:
        """The texts of the skills that a message names, or that fit it (S-SK-4, S-SK-5).

        Raises ToolFailure when one that was named cannot be made; one that nobody asked for is left out with a notice.
        """
        skills, wanted = self.runtime.skills, named_in(asked)
        texts: list[tuple[str, str]] = []
        for one in await skills.brought_in(asked) if asked else ():
            if one.name == skill.name:
                continue
            try:
                text = await skills.named(one, asked, token=self.meta.cancellation, environment=self.spec.environment)
            except KnownError as error:
                if one.name in wanted:
                    raise
                self.left_out.append(_left_out(one, error))
            else:
                texts.append((one.name, text))
        return texts

    # -- ``agents.turn.ContextListener`` ------------------------------------------------------------------------------

    def measured(self, view: View, window: int | None) -> None:
        """The context of a round is told to the thread."""
        self.runtime.bus.publish(
            ContextMeasured(
                thread_id=self.meta.thread_id,
                run_id=self.meta.run_id,
                used=view.tokens,
                window=window,
                compacted=view.compacted,
                account=view.account,
            )
        )

    def summarising(self) -> None:
        """Publish that older messages are summarised."""
        self.runtime.bus.publish(ContextSummarising(thread_id=self.meta.thread_id, run_id=self.meta.run_id))


def _end_of(result: SideResult) -> dict[str, Any]:
    """For ``agent-complete``: status, rounds, and the limit that ended it with its place (R-LIM-5)."""
    loop = result.loop
    status = {"aborted": "aborted", "limit": "limit", "budget": "budget"}.get(
        loop.end, "failed" if loop.error else "done"
    )
    found: dict[str, Any] = {"status": status, "rounds": loop.rounds}
    if loop.limit is not None:
        found["limit"] = str(loop.limit)
    if loop.error is not None:
        found["error"] = str(loop.error)[:2000]
    return found


def _left_out(skill: SkillDef, error: KnownError) -> NoticeBlock:
    return NoticeBlock(
        f"The skill {skill.name} fits this message and was left out: {error}",
        "skill.left_out",
        f"Correct it on the Skills page, or name it (/{skill.name}) where you need it.",
        "warning",
    )
