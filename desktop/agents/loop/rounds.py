"""The round loop: ask, stream, call tools, ask again, until a text ends it.

Holds no state between runs and stores nothing (R-LOOP-7): a ``Recorder`` does, and listeners only watch (R-LOOP-16).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.calls import call_all, refuse_all
from desktop.agents.loop.events import (
    LoopEnd,
    LoopError,
    LoopEvent,
    LoopListener,
    LoopResult,
    MessageDone,
    Recorder,
    ResultDone,
    RoundStarted,
    ToolRunner,
)
from desktop.agents.loop.request import ask_within
from desktop.domain.errors import BudgetExhausted, CancellationError, LimitReached, ModelError
from desktop.domain.estimates import estimate_of
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import ModelAnswer, ModelRequest
from desktop.domain.runs.limits import USUAL_ROUNDS, Limit, positive_int
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import ChatContext, Middleware, MiddlewareTermination
from desktop.supervision.budgets import BudgetTracker

STOPPED = "Stopped: maximum iteration limit reached."
STOPPED_EVENT = "Maximum iteration limit reached"
MAX_CALLS = 64

_log = logging.getLogger(__name__)

Prepare = Callable[[Sequence[ChatMessage]], Awaitable[ModelRequest]]
"""Builds the request of the next round from everything so far: window, system text, tools (C-27, R-CTX-9). Raises
ModelContextTooLong when nothing that fits can be built."""


@dataclass(frozen=True, slots=True)
class RoundVerdict:
    """What follows a round that the loop would end or go on with: ``stop`` names the end, ``nudge`` is a user note
    for one more round (R-SES-20), ``heard`` are stored messages that the next round answers. All empty: the loop
    decides."""

    stop: bool = False
    nudge: str = ""
    heard: Sequence[ChatMessage] = ()


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """``limit`` on rounds names where it was set (R-LIM-5); of a message's calls only ``max_calls`` are made. So many
    rounds as ``begun`` says were done before the app was started again. ``cut``: what follows from the last round of
    the messages was not judged then, and is judged first."""

    limit: Limit = USUAL_ROUNDS
    max_calls: int = MAX_CALLS
    begun: int = 0
    cut: bool = False


@dataclass(slots=True)
class RoundLoop:
    """The loop with everything it depends on, all injected."""

    answerer: Answerer
    """Asks the model for one answer."""
    tools: ToolRunner
    """Makes the calls of an answer."""
    recorder: Recorder | None = None
    """Stores messages and results; None: nothing is stored."""
    listener: LoopListener | None = None
    """Hears each event of the loop."""
    budget: BudgetTracker | None = None
    """Asked before and told after each round (R-LOOP-15)."""
    layers: Sequence[Middleware[ChatContext]] = ()
    """Middleware around each model request (chat level, R-MW-6)."""
    after_round: Callable[[ChatMessage, int], RoundVerdict | Awaitable[RoundVerdict]] | None = None
    """May end the loop or ask for another round: the stop conditions of sides."""
    steering: Callable[[], Awaitable[Sequence[ChatMessage]]] | None = None
    """Gives messages that a person typed meanwhile, taken in before each round but the first (S-LOOP-1)."""
    limit: Callable[[int], Limit] | None = None
    """Asked before each round with the number of rounds made; holds instead of the configured limit, because a person
    may change it while the loop is at work."""
    meant: Callable[[ToolCallBlock], Awaitable[ToolCallBlock]] | None = None
    """The call that was really asked for, where it came through another tool."""
    token_scale: Callable[[], float] = lambda: 1.0
    """How many of the model's tokens an estimated one is, as it was last learned."""
    config: LoopConfig = field(default_factory=LoopConfig)
    """Limits and options of the loop."""

    async def run(self, messages: Sequence[ChatMessage], prepare: Prepare, meta: RunMeta) -> LoopResult:
        """Work until a final text, a limit, an abort or a failure; never raises for those."""
        return await _LoopRun(self, list(messages), prepare, meta).run()

    def tell(self, event: LoopEvent) -> None:
        """Tell the listener; what it raises is logged (R-LOOP-16)."""
        if self.listener is None:
            return
        try:
            self.listener(event)
        except Exception:  # a listener never affects the loop
            _log.exception("a listener of the round loop failed on %s", type(event).__name__)


class _LoopRun:
    """One run of the loop."""

    def __init__(self, loop: RoundLoop, messages: list[ChatMessage], prepare: Prepare, meta: RunMeta) -> None:
        self._loop = loop
        self._messages = messages
        self._prepare = prepare
        self._meta = meta
        self._usage = Usage(cost_usd=0.0)
        self._rounds = loop.config.begun

    async def run(self) -> LoopResult:
        loop = self._loop
        positive_int(int(loop.config.limit.value), loop.config.limit.name)
        try:
            ended = await self._gone_on() if loop.config.cut else None
            while ended is None and self._rounds < self._limit.value:
                ended = await self._round()
            if ended is not None:
                return ended
        except CancellationError as error:
            return self._end("aborted", error)
        except MiddlewareTermination as error:
            return self._end("terminated", error)
        except BudgetExhausted as error:
            loop.tell(LoopError(str(error)))
            return self._end("budget", error)
        except ModelError as error:
            loop.tell(LoopError(str(error)))
            return self._end("error", error)
        return await self._at_limit()

    @property
    def _limit(self) -> Limit:
        """The limit on rounds, which may have changed since the last round."""
        asked = self._loop.limit
        return asked(self._rounds) if asked is not None else self._loop.config.limit

    async def _round(self) -> LoopResult | None:
        """One request and its calls; a result when the loop is over (R-LOOP-1)."""
        loop = self._loop
        self._meta.cancellation.check()
        if loop.budget is not None:
            loop.budget.check()
        if loop.steering is not None and self._rounds:
            self._messages.extend(await loop.steering())
        request = await self._prepare(self._messages)
        self._rounds += 1
        if loop.recorder is not None:
            await loop.recorder.round_started(self._rounds)
        loop.tell(RoundStarted(self._rounds))
        answer = await ask_within(loop.layers, loop.answerer, request, self._meta, loop.tell)
        answer = replace(answer, message=await self._meant(answer.message))
        await self._keep(answer.message, request)
        if answer.error is not None:
            return await self._broken(answer)
        return await self._answered(answer.message)

    async def _meant(self, message: ChatMessage) -> ChatMessage:
        meant = self._loop.meant
        if meant is None or not message.tool_calls:
            return message
        blocks = [await meant(block) if isinstance(block, ToolCallBlock) else block for block in message.blocks]
        return replace(message, blocks=tuple(blocks))

    async def _keep(self, message: ChatMessage, request: ModelRequest) -> None:
        loop, stored = self._loop, ""
        if message.usage is not None:
            self._usage = self._usage.plus(message.usage)
        if loop.budget is not None:
            loop.budget.consume(message.usage, estimate=estimate_of(request, message, loop.token_scale()))
        if loop.recorder is not None:
            stored = await loop.recorder.message_finished(message)
        if message.blocks:
            self._messages.append(replace(message, source_id=stored) if stored else message)
        loop.tell(MessageDone(message))

    async def _broken(self, answer: ModelAnswer) -> LoopResult:
        """The answer is not whole: calls it nevertheless holds are answered, so the transcript stays valid."""
        if answer.message.tool_calls:
            await self._results(refuse_all(answer.message.tool_calls, "aborted"), executed=False)
        error = answer.error
        if isinstance(error, CancellationError):
            return self._end("aborted", error)
        if isinstance(error, MiddlewareTermination):  # a layer refused it; what it used is counted
            return self._end("terminated", error)
        self._loop.tell(LoopError(str(error)))
        return self._end("limit" if isinstance(error, LimitReached) else "error", error)

    async def _answered(self, message: ChatMessage) -> LoopResult | None:
        calls = message.tool_calls
        if calls and message.stop_reason == "length":
            await self._results(refuse_all(calls, "length"), executed=False)
        elif calls:
            await self._call(message)
            self._meta.cancellation.check()
        return await self._judged(message)

    async def _gone_on(self) -> LoopResult | None:
        """What follows the last round of an earlier start."""
        self._meta.cancellation.check()
        last = next((message for message in reversed(self._messages) if message.role == "assistant"), None)
        return None if last is None else await self._judged(last)

    async def _judged(self, message: ChatMessage) -> LoopResult | None:
        verdict = await self._verdict(message)
        if verdict.stop:
            return self._end("stopped")
        if verdict.nudge or verdict.heard:
            nudge = (ChatMessage("user", (TextBlock(verdict.nudge),)),) if verdict.nudge else ()
            self._messages.extend((*verdict.heard, *nudge))
            return None
        return None if message.tool_calls else self._end("response")

    async def _verdict(self, message: ChatMessage) -> RoundVerdict:
        if self._loop.after_round is None:
            return RoundVerdict()
        said = self._loop.after_round(message, self._rounds)
        return said if isinstance(said, RoundVerdict) else await said

    async def _call(self, message: ChatMessage) -> None:
        maximum = self._loop.config.max_calls
        made, refused = message.tool_calls[:maximum], message.tool_calls[maximum:]

        async def done(results: Sequence[ToolResultBlock]) -> None:
            await self._results(results, executed=True)

        await call_all(made, self._loop.tools, self._meta.cancellation, done, self._refused)
        if refused:
            await self._results(refuse_all(refused, "many", maximum), executed=False)

    async def _refused(self, results: Sequence[ToolResultBlock]) -> None:
        await self._results(results, executed=False)

    async def _results(self, results: Sequence[ToolResultBlock], *, executed: bool) -> None:
        recorder = self._loop.recorder
        stored = await recorder.results_finished(results, executed=executed) if recorder is not None else ()
        for count, (result, source) in enumerate(zip(results, stored or [""] * len(results), strict=True), 1):
            self._messages.append(ChatMessage("tool", (result,), source_id=source))
            if count % 200 == 0:
                await asyncio.sleep(0)
        for result in results:
            self._loop.tell(ResultDone(result))

    async def _at_limit(self) -> LoopResult:
        """Calls were still being asked for after the last permitted round (R-LOOP-8)."""
        loop = self._loop
        closing = ChatMessage("assistant", (TextBlock(STOPPED),), "limit")
        self._messages.append(closing)
        if loop.recorder is not None:
            await loop.recorder.message_finished(closing)
        loop.tell(LoopError(STOPPED_EVENT))
        return self._end("limit")

    def _end(self, end: LoopEnd, error: Exception | None = None) -> LoopResult:
        limit, budget = self._limit if end == "limit" and error is None else None, self._loop.budget
        if budget is not None and (end == "budget" or (limit is not None and limit.kind == "budget")):
            limit = budget.broken() or limit
        return LoopResult(self._messages, end, self._rounds, self._usage, error, limit)
