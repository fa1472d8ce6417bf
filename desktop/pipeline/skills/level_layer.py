"""Middleware skills around an agent's work and around a request to a model (D-7, R-MW-1 to R-MW-6).

One of the library works in this process and knows the context itself. One of a person's own is called through every
gate, like any skill, beside the run: it has no model of the run's and sees plain data. The calls that it makes are no
part of the run's log, by which a run is gone on with; that it ran, what it did and how long is told of the run
(``MiddlewareRan``).

level   ``ctx.envelope.target.args``                            ``await ctx.manager.next()`` gives
agent   agent, thread, run                                      {ended, detail}
chat    model, system, messages, tools                          {text, calls, stopReason, usage}, error where it failed

What it returns without going on is the answer in the place of the agent's or the model's; after going on, of a request
another text for the answer. ``ctx.manager.fail(reason)``, and any failure of its own, ends the run with that reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ToolFailure, first_of
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock
from desktop.domain.models import ModelAnswer
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import EventSink, MiddlewareRan
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import (
    AgentContext,
    CallNext,
    ChatContext,
    Middleware,
    MiddlewareContext,
    MiddlewareTermination,
)
from desktop.domain.skills import SkillDef
from desktop.domain.tools import ToolSpec
from desktop.pipeline.compose import compose
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.skill_context import Context, Envelope, RunInfo, ServedContext
from desktop.pipeline.skills.manager import Invoker
from desktop.pipeline.skills.run import LibraryCode

BESIDE = "+middleware"
"""Ends the run id of what middleware of one's own calls: such calls belong to no run's log."""
WIND_UP_S = 2.0
"""For its own code, once what it stands around is over and the run is cancelled or failed."""

C = TypeVar("C", bound=MiddlewareContext)
Work = Callable[[Any, MiddlewareContext, CallNext], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class LevelEntry:
    """One that is switched on. ``value`` is what its key says; ``unready`` why it cannot work, for a person."""

    definition: SkillDef
    value: Any = True
    unready: str = ""


class LevelLayer(Generic[C]):
    """All middleware of a level as one layer: what is switched on now, the first outermost."""

    def __init__(
        self,
        entries: Callable[[], Awaitable[Sequence[LevelEntry]]],
        pipeline: Callable[[], Invoker | None],
        library: LibraryCode,
        shared: dict[str, Any],
        told: EventSink = lambda _event: None,
    ) -> None:
        self.name = "middleware"
        self._told = told
        self._entries = entries
        self._pipeline = pipeline
        self._library = library
        self._shared = shared

    async def process(self, context: C, call_next: CallNext) -> None:
        """Run the middleware of this level that is switched on, or go straight on."""
        layers = [self._layer(entry) for entry in await self._entries()]
        await (compose(layers)(context, call_next) if layers else call_next())

    def _layer(self, entry: LevelEntry) -> Middleware[C]:
        if entry.definition.source == "library":
            return _Library(entry, self._library, self._shared)
        return _Own(entry, self._pipeline, self._shared, self._told)


class _Library:
    """``run(ctx, args)`` of a library file: ``ctx.envelope.target.call`` is the context of the level."""

    def __init__(self, entry: LevelEntry, library: LibraryCode, shared: dict[str, Any]) -> None:
        self.name = entry.definition.name
        self._entry = entry
        self._library = library
        self._shared = shared

    async def process(self, context: Any, call_next: CallNext) -> None:
        definition = self._entry.definition
        function = await asyncio.to_thread(self._library.function, definition)
        target = _target(context, self._shared, {})
        ctx = Context({}, target.run, {"config": self._entry.value}, {}, self._shared, call=context)
        ctx.bind(Envelope(new_id(), target, None, context.meta.cancellation), _Onward(call_next))
        try:
            await function(ctx, {})
        except ToolFailure as failure:
            raise MiddlewareTermination(f"{definition.name}: {failure}") from failure


class _Onward:
    """The manager of library code here: it goes on, and calls nothing."""

    def __init__(self, call_next: CallNext) -> None:
        self._call_next = call_next

    async def next(self) -> None:
        await self._call_next()

    def __getattr__(self, name: str) -> Any:
        raise ToolFailure(f"{name} is not for middleware of this level.")


class _Own:
    """One call of a person's skill around one piece of work. The work is done by whoever asked for it, in its own task:
    there it is cancelled in its own way, and its failures stay what they are."""

    def __init__(
        self, entry: LevelEntry, pipeline: Callable[[], Invoker | None], shared: dict[str, Any], told: EventSink
    ) -> None:
        self.name = entry.definition.name
        self._told = told
        self._entry = entry
        self._pipeline = pipeline
        self._shared = shared

    async def process(self, context: Any, call_next: CallNext) -> None:
        layer_run, refusal = _LayerRun(self.name, context, self._shared), ""
        try:
            await self._go(layer_run, call_next)
        except MiddlewareTermination as refused:
            refusal = "" if layer_run.inside else str(refused)  # what it stands around has refused, not this one
            raise
        finally:
            layer_run.detach()
            self._told(layer_run.ran(refusal))

    async def _go(self, layer_run: _LayerRun, call_next: CallNext) -> None:
        pipeline = self._pipeline()
        if self._entry.unready or pipeline is None:
            raise MiddlewareTermination(
                f"The middleware {self.name} is switched on and cannot work: {self._entry.unready}. Nothing was begun. "
                "Look at it on the Skills page, or switch it off in Settings, Middleware."
            )
        try:
            async with asyncio.TaskGroup() as group:
                call = pipeline.invoke(layer_run.request(self._entry))
                work = group.create_task(call, name=f"middleware {self.name}")
                try:
                    await layer_run.follow(work, call_next)
                finally:
                    layer_run.token.cancel("over")
                    work.cancel()
        except BaseExceptionGroup as failed:
            raise first_of(failed) from None


class _LayerRun:
    """One request on its way through the layer: hands control between the skill's task and the asker's."""

    def __init__(self, name: str, context: Any, shared: dict[str, Any]) -> None:
        self._name = name
        self._context = context
        self._shared = shared
        self._wanted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.token = CancellationToken(deadline=context.meta.deadline)
        self.inside = False  # the work itself is under way, or has failed: it is cancelled in its own way
        self._did: Literal["watched", "changed", "answered", "stopped"] = "stopped"  # until it goes on or answers
        self._began, self._elsewhere = time.monotonic(), 0.0
        loop = asyncio.get_running_loop()
        stop = self.token.cancel
        self.detach = context.meta.cancellation.on_cancel(
            lambda reason: None if self.inside else loop.call_soon_threadsafe(stop, reason)
        )
        self._served: ServedContext | None = None

    def request(self, entry: LevelEntry) -> CallRequest:
        meta: RunMeta = self._context.meta
        beside = replace(
            meta, run_id=f"{meta.run_id}{BESIDE}", cancellation=self.token, supervision=None, node="", call=""
        )
        target = _target(self._context, self._shared, _view(self._context), self.token)
        self._served = ServedContext(target, self._advance, entry.value)
        root = Invocation(beside, shared=self._shared)
        target.call = _Clocks(root)
        block = ToolCallBlock(new_id(), entry.definition.name, {})
        caller = Caller("skill", (self._name,), ExactTools(None))
        return CallRequest(block, caller, root, lambda _event: None, serves=self._served, counted=False)

    async def _advance(self) -> Any:
        """In the skill's task: have the work done, and wait for it."""
        if not self._wanted.done():
            self._wanted.set_result(None)
        return await asyncio.shield(self._done)

    async def follow(self, work: asyncio.Task[CallResult], call_next: CallNext) -> None:
        """In the asker's task. Raises what the work raised, MiddlewareTermination for what the skill did."""
        either: list[asyncio.Future[Any]] = [work, self._wanted]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._wanted.done():
            try:
                await self._onward(call_next)
            except BaseException as error:
                self._done.set_exception(ToolFailure(str(error) or type(error).__name__))
                self._done.exception()  # looked at, also where the skill does not
                if not isinstance(error, asyncio.CancelledError):
                    await asyncio.wait([work], timeout=WIND_UP_S)
                raise
            self._done.set_result(_outcome(self._context))
        await asyncio.wait([work], timeout=WIND_UP_S if self._context.meta.cancellation.cancelled else None)
        if not work.done():
            return
        outcome = work.result()
        if outcome.result.is_error:
            self._context.meta.cancellation.check()
            raise MiddlewareTermination(f"{self._name}: {outcome.result.text}")
        served = self._served
        if served is not None and served.finished and served.result is not None:
            self._put(served.result)
        elif not self._wanted.done():
            await self._onward(call_next)

    async def _onward(self, call_next: CallNext) -> None:
        """The work that it stands around; its time is not this one's."""
        began, self.inside, self._did = time.monotonic(), True, "watched"
        try:
            await call_next()
        finally:
            self._elsewhere += time.monotonic() - began
        self.inside = False

    def ran(self, refusal: str) -> MiddlewareRan:
        """The event that tells what this middleware did."""
        context, meta = self._context, self._context.meta
        return MiddlewareRan(
            thread_id=meta.thread_id,
            run_id=meta.run_id,
            name=self._name,
            level=context.level,
            did="refused" if refusal else self._did,
            call_id=meta.call,
            detail=refusal,
            elapsed_ms=round(1000 * (time.monotonic() - self._began - self._elsewhere)),
        )

    def _put(self, value: Any) -> None:
        """The answer that the skill gave itself, or what it made of one."""
        context, went_on = self._context, self._wanted.done()
        text = value.get("text") if isinstance(value, Mapping) else value
        if isinstance(context, AgentContext):
            if not went_on:
                context.result, self._did = str(text), "answered"
            return
        if not isinstance(text, str):
            raise MiddlewareTermination(f"{self._name} returned no text for the answer.")
        if not went_on:
            self._did = "answered"
            context.response = ModelAnswer(ChatMessage("assistant", (TextBlock(text),), "end"))
        elif isinstance(context.response, ModelAnswer) and text != context.response.message.text:
            self._did = "changed"
            context.response = _with_text(context.response, text)


@dataclass(slots=True)
class _Clocks:
    """Where the pipeline looks for clocks of what is served."""

    invocation: Invocation


def _target(
    context: MiddlewareContext, shared: dict[str, Any], view: Mapping[str, Any], token: CancellationToken | None = None
) -> Context:
    spec = ToolSpec(
        context.level, f"What middleware of the level {context.level} stands around", {}, Category.READ, gives="calls"
    )
    made = Context(
        MappingProxyType(dict(view)), RunInfo(spec, None, f"level:{context.level}", {}), {}, {}, shared, call=context
    )
    made.bind(Envelope(new_id(), made, None, token or context.meta.cancellation), _Onward(_nothing))
    return made


async def _nothing() -> None:
    raise ToolFailure("Go on through your own manager.")


def _view(context: Any) -> dict[str, Any]:
    """The context as data."""
    if isinstance(context, AgentContext):
        return {"agent": context.agent, "thread": context.meta.thread_id, "run": context.meta.run_id}
    request = context.request if isinstance(context, ChatContext) else None
    if request is None:
        return {}
    return {
        "model": str(request.model),
        "system": request.instructions,
        "tools": [tool.get("name") for tool in request.tools],
        "messages": [
            {"role": message.role, "text": message.text, "calls": _calls(message)} for message in request.messages
        ],
    }


def _outcome(context: Any) -> dict[str, Any]:
    """What came of it, as data."""
    if isinstance(context, AgentContext):
        result = context.result
        return {"ended": str(getattr(result, "reason", "")), "detail": str(getattr(result, "detail", ""))}
    answer = context.response
    if not isinstance(answer, ModelAnswer):
        return {}
    message, usage = answer.message, answer.message.usage
    counts = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens} if usage is not None else None
    return {
        "text": message.text,
        "calls": _calls(message),
        "stopReason": message.stop_reason,
        "usage": counts,
        **({"error": str(answer.error)} if answer.error is not None else {}),
    }


def _calls(message: ChatMessage) -> list[dict[str, Any]]:
    return [{"tool": call.tool, "args": call.arguments} for call in message.tool_calls]


def _with_text(answer: ModelAnswer, text: str) -> ModelAnswer:
    """The text in the place of the first one, what else there is stays."""
    rest = [block for block in answer.message.blocks if not isinstance(block, TextBlock)]
    blocks = [*([TextBlock(text)] if text else []), *rest]
    return replace(answer, message=replace(answer.message, blocks=tuple(blocks)))
