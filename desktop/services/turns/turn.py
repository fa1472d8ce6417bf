"""``SideTurn``: one side works until it has answered. A chat's run is one of these, a debate many."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopResult
from desktop.agents.loop.loop import LoopConfig, Prepare, RoundLoop
from desktop.agents.loop.request import ask_within
from desktop.agents.loop.summarising import ContextKeeper
from desktop.agents.loop.window import NOTHING, PromptWindow, View
from desktop.agents.skill.host import HOST, PERMISSIONS
from desktop.agents.skill.result_contract import ResultContract
from desktop.domain.debates import TurnEnd
from desktop.domain.errors import CancellationError, KnownError, LimitReached
from desktop.domain.estimates import estimate, estimate_fixed, estimate_of
from desktop.domain.events import ContextMeasured, ContextSummarising, ToolCallFinished, ToolCallStarted
from desktop.domain.ids import AgentId, new_id
from desktop.domain.limits import Limit
from desktop.domain.messages import ChatMessage, NoticeBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.middleware import MiddlewareTermination
from desktop.domain.models import ModelAnswer, ModelRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.skills import SkillDef
from desktop.domain.supervision import ExecutionBudget
from desktop.pipeline.context import Invocation
from desktop.services.recovery.uncertain_calls import doubts
from desktop.services.recovery.unfinished import Settling, Unfinished
from desktop.services.skills.activation import arguments_in, named_in
from desktop.services.skills.text import ARGUMENTS
from desktop.services.threads.history import Above
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.code_mode import RunCode
from desktop.services.turns.runtime import Runtime, host_of
from desktop.services.turns.spec import (
    ResolvedSide,
    SideSpec,
    TurnRounds,
    check_stops,
    contract_of,
    few_left,
    ready,
    request_of,
    rounds_note,
    with_notes,
)
from desktop.services.turns.stops import SideStops
from desktop.services.turns.toolbox import Toolbox
from desktop.supervision.budgets import BudgetTracker

_log = logging.getLogger(__name__)
Steering = Callable[[], Awaitable[Sequence[ChatMessage]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """What a side reads: ``messages`` in its own perspective; ``pinned`` come before them whatever the window leaves
    out; ``notes`` join its system text in this turn; ``asked`` is the person's text that may bring in skills
    (S-SK-5); ``unfinished`` is what an answer that is gone on with left open; ``keeper`` has the thread's summary and
    pins; ``task`` is the id of the message that began the work, which no window leaves out; ``above`` is what the
    thread has before these; ``begun`` rounds of the turn are in ``messages`` already."""

    messages: Sequence[ChatMessage]
    pinned: Sequence[ChatMessage] = ()
    notes: Sequence[str] = ()
    asked: str = ""
    unfinished: Unfinished | None = None
    keeper: ContextKeeper | None = None
    task: str = ""
    above: Above | None = None
    begun: int = 0

    @property
    def cut(self) -> bool:
        """Whether the last round of ``messages`` was not judged before the app was started again."""
        return bool(self.begun) or (self.unfinished is not None and self.unfinished.cut)


@dataclass(frozen=True, slots=True)
class SideResult:
    """How a turn went. ``by`` is what ended it where that was no reply and no failure; ``value`` the stop tool's
    property, or what the prompt promised to return; ``missing`` when the property was not there, ``unmet`` why there is
    no promised value; ``handed``: another agent goes on."""

    loop: LoopResult
    limit: Limit
    by: TurnEnd | None = None
    value: Any = None
    missing: bool = False
    unmet: str = ""
    handed: bool = False


@dataclass(slots=True, kw_only=True)
class SideTurn:
    """One side turn of a run. ``left_out`` are notices of skills that could not join; ``below`` is the call that an
    agent works for which was called as a tool: time that a person takes counts for neither (R-PRM-10).

    ``meta`` names run and thread, and holds the token; ``steering`` gives what a person typed meanwhile.
    """

    runtime: Runtime
    spec: SideSpec
    meta: RunMeta
    recorder: RunRecorder
    budget: BudgetTracker
    steering: Steering | None = None
    below: Invocation | None = None
    left_out: list[NoticeBlock] = field(default_factory=list)

    async def take(self, given: TurnInput) -> SideResult:
        """Raises ConfigurationError before any model call when a piece is missing (R-DEF-11), ToolFailure when the
        prompt's text cannot be made, and what the store raises; everything else is in the result."""
        runtime = self.runtime
        self.meta = replace(self.meta, environment=self.spec.environment)
        side = await ready(runtime, self.spec)
        await check_stops(runtime, side)
        fabric = runtime.skills.fabric
        if self.meta.doubts is None:  # else its caller's hold
            found = await doubts(runtime.store, self.meta.thread_id, given.messages)
            self.meta = replace(self.meta, doubts=found)
        contract = contract_of(runtime, side)
        async with RunCode(side.mode, runtime.code, runtime.pipeline, fabric, side.caller, contract) as code:
            tools = Toolbox(
                runtime.pipeline,
                side.caller,
                self.meta,
                runtime.bus.publish,
                self.recorder,
                self.budget,
                self._root(side),
                code,
            )
            return await self._looped(side, tools, code, contract, given)

    async def _looped(
        self, side: ResolvedSide, tools: Toolbox, code: RunCode, contract: ResultContract, given: TurnInput
    ) -> SideResult:
        runtime, spec = self.runtime, self.spec
        thread = await self._of_thread(given.begun)
        rounds = TurnRounds.of(spec, f"the agent {spec.agent}", self.budget, given.begun, thread)
        node = runtime.live.node_of(self.meta) if runtime.live is not None else None
        if node is not None:
            node.own_rounds = rounds.own
        stops = SideStops(spec, runtime.pipeline.table, tools, code, rounds, contract, self._finished)
        request = await request_of(
            runtime, side, self.meta.cancellation, await self._brought_in(given.asked, side.skill), given.asked
        )
        loop = RoundLoop(
            Answerer(runtime.client, retry=runtime.retry),
            stops,
            recorder=self.recorder,
            listener=self.recorder.listen,
            budget=self.budget,
            layers=runtime.chat_layers,
            steering=self.steering,
            after_round=stops.after,
            limit=rounds,
            meant=lambda call: runtime.pipeline.meant(call, side.caller),
            config=LoopConfig(limit=rounds(given.begun), begun=given.begun, cut=given.cut),
        )
        messages = await self._settled(stops, given)
        stops.recall(messages if given.cut else ())
        result = await loop.run(messages, self._preparation(request, given, rounds), self.meta)
        expected = (KnownError, CancellationError, MiddlewareTermination)
        if result.error is not None and not isinstance(result.error, expected):
            _log.error("run %s: the model client failed", self.meta.run_id, exc_info=result.error)
        unmet = contract.unmet if stops.by is None and result.error is None else ""
        limit = result.limit or rounds(result.rounds)
        return SideResult(result, limit, stops.by, stops.value, stops.missing, unmet, stops.handed)

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
        if given.unfinished is None:
            return given.messages
        if self.runtime.live is not None:
            self.runtime.live.memory.remember(self.meta.run_id, given.unfinished.before, given.unfinished.keys)
        settling = Settling(given.unfinished, tools, self.recorder, self.meta.cancellation)
        return [*given.messages, *await settling.settle(self.runtime.store.effects)]

    def _root(self, side: ResolvedSide) -> Invocation:
        """Where the turn's calls hang; what agents below need of it goes down with them (R-INV-7)."""
        below = self.recorder.below = self.budget.child(ExecutionBudget(), "the agents below")
        host = host_of(self.runtime, self.spec.model, below, self.spec.environment)
        inherited = {HOST: host, PERMISSIONS: side.allowed, "rootContextId": self.meta.run_id}
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
                given = {ARGUMENTS: arguments_in(asked, one.name)}
                text = await skills.expanded(
                    one, given, one.metadata, {}, token=self.meta.cancellation, environment=self.spec.environment
                )
            except KnownError as error:
                if one.name in wanted:
                    raise
                self.left_out.append(_left_out(one, error))
            else:
                texts.append((one.name, text))
        return texts

    def _preparation(self, request: ModelRequest, given: TurnInput, rounds: TurnRounds) -> Prepare:
        """The window is built anew before each round (R-CTX-9), and measured."""
        number, told, meta, size = given.begun, False, self.meta, self.runtime.context_window(request.model)
        window = window_of(self.runtime, self.spec, request, given)

        async def prepare(messages: Sequence[ChatMessage]) -> ModelRequest:
            nonlocal number, told
            limit, number = int(rounds(number).value), number + 1
            keeper, model = given.keeper, request.model
            if given.above is not None:
                wanted = keeper.overlay.pins if keeper is not None else frozenset[str]()
                wanted = (wanted | {given.task}) - {message.source_id for message in messages}
                picked = await given.above.picked(wanted)
                messages, window.older = [*picked, *messages], given.above.count - len(picked)
            overlay = NOTHING if keeper is None else await keeper.current(messages, window, self._beside, model, size)
            view = window.view(messages, overlay)
            self.runtime.bus.publish(
                ContextMeasured(
                    thread_id=meta.thread_id,
                    run_id=meta.run_id,
                    used=view.tokens,
                    window=size,
                    compacted=view.compacted,
                    account=view.account,
                )
            )
            note, told = rounds_note(limit, number, told), few_left(limit, number)
            return whole_request(request, view, given, note)

        return prepare

    async def _beside(self, request: ModelRequest) -> ModelAnswer:
        """A question to the model beside the rounds, the way of all others: bounded, queued, counted, journaled."""
        runtime, budget = self.runtime, self.budget
        runtime.bus.publish(ContextSummarising(thread_id=self.meta.thread_id, run_id=self.meta.run_id))
        answerer = Answerer(runtime.client, retry=runtime.retry)
        answer = await ask_within(runtime.chat_layers, answerer, request, self.meta, lambda _event: None)
        message = answer.message
        budget.consume(message.usage, rounds=0, estimate=estimate_of(request, message))
        if message.usage is not None:
            await self.recorder.spent(message.usage)
        return answer


def window_of(runtime: Runtime, spec: SideSpec, request: ModelRequest, given: TurnInput) -> PromptWindow:
    """What fits beside the system text, the tools and the pinned messages."""
    fixed = estimate_fixed(request) + sum(estimate(message) for message in given.pinned)
    size = runtime.context_window(request.model)
    return PromptWindow(AgentId(spec.agent, spec.side), context_window=size, fixed=fixed, task=given.task)


def whole_request(request: ModelRequest, view: View, given: TurnInput, note: str) -> ModelRequest:
    """The request of a round, with what is noted about its number."""
    system = with_notes(request.system, [*given.notes, note])
    return replace(request, messages=(*given.pinned, *view.messages), system=system)


def _left_out(skill: SkillDef, error: KnownError) -> NoticeBlock:
    return NoticeBlock(
        f"The skill {skill.name} fits this message and was left out: {error}",
        "skill.left_out",
        f"Correct it on the Skills page, or name it (/{skill.name}) where you need it.",
        "warning",
    )
