"""The bundled provider's body: the model loop, and nothing else (R-PRV-1).

It asks the model that the run lends, streams, calls through ``invokeRef``, tells ``hookRef`` in causal order and
follows what that says. Without a ``hookRef`` it is a plain loop (R-PRV-8).
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopEvent, Retrying
from desktop.agents.loop.request import ask_within
from desktop.agents.loop.rounds import RoundVerdict
from desktop.agents.loop.summarising import ContextKeeper, MemoryKeeper, MessageNumbers
from desktop.agents.loop.window import LAST_MESSAGES, NOTHING, PromptWindow
from desktop.agents.skill.history import messages_from_plain, strategies_of
from desktop.agents.skill.host import HOST, Host
from desktop.agents.skill.settings import strategy_names
from desktop.agents.skill.turn_events import DELTAS_S, joined_texts
from desktop.agents.turn import AgentTurn, TurnInput, TurnServices, TurnSpec
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import CancellationError, KnownError, ModelError, ToolAborted, ToolFailure
from desktop.domain.estimates import estimate_fixed, estimate_of
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock, Usage, media_from_plain
from desktop.domain.models import ModelAnswer, ModelRequest, ReasoningDelta, TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import Limit, positive_int
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.traces import usage_data
from desktop.pipeline.context import CallContext
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skills.code_mode import INVOKE

CONTINUE = "Continue."
TASK = "Execute the task."
PLAIN_LOOP = 20
"""Rounds where nobody said how many (R-LIM-1)."""
_STRONGEST_FIRST = ("stop", "deny", "continue", "allow")

_log = logging.getLogger(__name__)


async def run_provider(ctx: Context, args: Mapping[str, Any]) -> Any:
    """The result of the hook's stop directive, or the text. Raises ToolFailure when the model failed for good."""
    host, call = ctx.nonlocals.get(HOST), ctx.call
    if not isinstance(host, Host) or not isinstance(call, CallContext):
        raise ToolFailure("There is no model here to run an agent with.")
    return await _ProviderRun(host, call, ctx, args).done()


class Hook:
    """Tells the policy, and reads what it says. Deltas wait in order and are told together, while the text still
    comes; everything else waits for its turn behind them. ``spawn`` starts an owned task; without it deltas wait for
    the next event."""

    def __init__(
        self, ctx: Context, ref: Any, spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]] | None
    ) -> None:
        self._ctx = ctx
        self._ref = ref if isinstance(ref, str) and ref else ""
        self._waiting: deque[dict[str, Any]] = deque()
        self._telling = asyncio.Lock()
        self._spawn = spawn
        self._soon: asyncio.Task[None] | None = None

    def later(self, event: dict[str, Any]) -> None:
        """Keep an event that needs no answer; pieces of one text are put together."""
        if not self._ref:
            return
        last = self._waiting[-1] if self._waiting else None
        if last is not None and event.get("delta") and last.get("delta") and last["type"] == event["type"]:
            last["text"] += event["text"]
        else:
            self._waiting.append(event)
        if self._spawn is not None and self._soon is None:
            self._soon = self._spawn(self._tell_soon(), "tell what an agent writes")

    async def _tell_soon(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(DELTAS_S)
                await self.flush()
        except CancellationError:
            _log.debug("an agent was stopped while it was told what it writes")  # its loop hears of it too
        finally:
            self._soon = None

    async def close(self) -> None:
        """Tell the hook nothing any more."""
        if self._soon is not None:
            self._soon.cancel()
            await asyncio.wait((self._soon,))

    async def flush(self) -> None:
        """Tell the hook all events that wait."""
        async with self._telling:
            while self._waiting:
                await self._told(self._waiting.popleft())

    async def ask(self, event: dict[str, Any]) -> Mapping[str, Any]:
        """Tell, after all that waits, and return the strongest directive alone (R-PRV-6); empty: none."""
        await self.flush()
        answer = await self._told(event)
        known = [key for key in _STRONGEST_FIRST if answer.get(key)]
        kept = {known[0]: answer[known[0]]} if known else {}
        for key, of in (("result", "stop"), ("message", "continue")):
            if of in kept and key in answer:
                kept[key] = answer[key]
        return kept

    async def _told(self, event: dict[str, Any]) -> Mapping[str, Any]:
        """A hook that raises has no directive, but a call that it cannot judge is denied (R-PRV-7)."""
        if not self._ref:
            return {}
        try:
            answer = await self._ctx.manager.invoke(self._ref, event)
        except ToolFailure as failure:
            if failure.code == ToolAborted.code:
                raise CancellationError("stopped") from failure
            _log.warning("the hook of an agent failed on %s: %s", event["type"], failure)
            return {"deny": f"The call could not be judged: {failure}"} if event["type"] == "tool-call" else {}
        return answer if isinstance(answer, Mapping) else {}


class _Calls:
    """The loop's way to its tools: through the refs, and nowhere else (R-PRV-3)."""

    def __init__(self, host: Host, ctx: Context, hook: Hook, ref: Any) -> None:
        self._host = host
        self._ctx = ctx
        self._hook = hook
        self._ref = ref if isinstance(ref, str) else ""

    async def run(self, call: ToolCallBlock, *, ends: CancellationToken | None = None) -> ToolResultBlock:
        told = {"tool": call.tool, "args": dict(call.arguments or {}), "callId": call.call_id}
        said = await self._hook.ask({"type": "tool-call", **told})
        if "deny" in said or "stop" in said:
            answer: Mapping[str, Any] = {"ok": False, "text": str(said.get("deny") or "denied"), "code": "denied.hook"}
        else:
            answer = await self._made(call)
        text, failed = str(answer.get("text", "")), answer.get("ok") is not True
        await self._hook.ask({"type": "tool-result", **told, "result": text, "isError": failed})
        facts = {"state": answer.get("state", "denied" if failed else "done"), "code": answer.get("code", "")}
        media = media_from_plain(answer.get("media"))
        return ToolResultBlock(call.call_id, call.tool, text, failed, answer.get("structured"), facts, media)

    async def _made(self, call: ToolCallBlock) -> Mapping[str, Any]:
        if not self._ref:
            return {"ok": False, "text": "There are no tools here.", "code": "tool.unknown"}
        arguments = call.arguments
        code = arguments.get("code") if arguments is not None and call.tool == INVOKE else None
        asked: dict[str, Any] = {"tool": call.tool, "args": arguments, "callId": call.call_id, "problem": call.problem}
        given = {"code": code, "callId": call.call_id} if isinstance(code, str) else asked
        answer = await self._ctx.manager.invoke(self._ref, given)
        return answer if isinstance(answer, Mapping) else {"ok": True, "text": str(answer)}

    def parallel(self, call: ToolCallBlock) -> bool:
        """Category read, and declared safe beside others (R-LOOP-12)."""
        tool = self._host.pipeline.table.find(call.tool)
        return tool is not None and tool.spec.parallel_safe and tool.spec.category is Category.READ


class _ProviderRun:
    """One invocation of the provider."""

    def __init__(self, host: Host, call: CallContext, ctx: Context, args: Mapping[str, Any]) -> None:
        self._host = host
        self._call = call
        self._ctx = ctx
        config = args.get("config")
        self._config: Mapping[str, Any] = config if isinstance(config, Mapping) else {}
        self._hook = Hook(ctx, args.get("hookRef"), host.spawn)
        self._tools = _Calls(host, ctx, self._hook, args.get("invokeRef"))
        prompt, tools = str(args.get("prompt") or ""), _schemas(args.get("tools"))
        schema = args.get("answerSchema")
        held = schema if isinstance(schema, Mapping) else None
        self._request = ModelRequest(host.model, (), prompt, tools, host.request, held)
        self._numbers = MessageNumbers()
        asked = ChatMessage("user", (TextBlock(str(args.get("userMessage") or TASK)),))
        told = (*messages_from_plain(args.get("history")), asked)
        self._messages = [replace(message, source_id=self._numbers.next()) for message in told]
        self._task = self._messages[-1].source_id
        self._keeper = ContextKeeper(kept=MemoryKeeper(), overlay=NOTHING, allowed=host.summaries)
        self._turn = AgentTurn(self._spec(), self._services(), call.meta)
        self._rounds = self._begun = 0
        self._since_continue = ""
        self._stopped: Mapping[str, Any] | None = None
        self._used = Usage()

    async def done(self) -> Any:
        """Loop until a result; a failure of the model is the policy's to judge."""
        try:
            return await self._worked()
        finally:
            await self._hook.close()

    async def _worked(self) -> Any:
        attempt = 0
        while True:
            self._begun = self._rounds
            result = await self._turn.take(
                TurnInput(messages=self._messages, keeper=self._keeper, task=self._task, begun=self._begun)
            )
            self._messages = result.messages
            await self._hook.flush()
            if self._stopped is not None:
                return self._stopped.get("result", self._since_continue)
            error = result.error
            if result.end == "aborted":
                raise error if isinstance(error, CancellationError) else CancellationError("stopped")
            if error is None:
                return self._since_continue
            attempt += 1
            said = await self._hook.ask(_error_event(error, attempt))
            if "stop" in said:
                return said.get("result", self._since_continue)
            if "continue" not in said:
                raise error if isinstance(error, KnownError) else ToolFailure(str(error))
            self._trim()

    def _spec(self) -> TurnSpec:
        edits = self._config.get("contextEdit") is True
        return TurnSpec(
            agent_id=AgentId(self._call.tool, self._call.meta.thread_id),
            request=self._request,
            limit=self._limit,
            context_window=self._host.context_window(self._request.model),
            token_scale=partial(self._host.token_scale, self._request.model),
            last_messages=LAST_MESSAGES if edits else sys.maxsize,
            context_edit=edits,
            strategies=strategies_of(strategy_names(self._config), self._call_skill),
        )

    async def _call_skill(self, name: str, args: Mapping[str, Any]) -> Any:
        """A skill that the file of the agent names, under the list that the provider is called by."""
        return await self._ctx.manager.invoke(name, args, {"as_caller": True})

    def _services(self) -> TurnServices:
        host = self._host
        return TurnServices(
            answerer=Answerer(host.client, retry=host.retry),
            tools=self._tools,
            recorder=self._numbers,
            listener=self._listen,
            budget=host.budget,
            layers=host.layers,
            round_begins=self._round_begins,
            after_round=self._after_round,
        )

    def _limit(self, _done: int) -> Limit:
        """What the policy passed down (R-LIM-2); a repetition after a failure has one round at least."""
        asked = self._config.get("maxTurns", PLAIN_LOOP)
        maximum = sys.maxsize if asked is None else positive_int(asked, "maxTurns")
        return Limit("maxTurns", max(maximum, self._begun + 1), "the agent")

    async def _round_begins(self, number: int) -> None:
        self._rounds = number
        await self._hook.ask({"type": "turn-start", "turnNumber": number})

    def _listen(self, event: LoopEvent) -> None:
        if isinstance(event, TextDelta):
            self._hook.later({"type": "message", "text": event.text, "delta": True})
        elif isinstance(event, ReasoningDelta):
            self._hook.later({"type": "reasoning", "text": event.text, "delta": True})
        elif isinstance(event, Retrying):
            delay = int(event.delay_s * 1000)
            self._hook.later({"type": "retry", "attempt": event.attempt, "delayMs": delay, "error": str(event.error)})

    async def _after_round(self, message: ChatMessage, _round: int) -> RoundVerdict:
        """The end of a round is where the policy decides (R-PRV-2, R-PRV-4)."""
        self._since_continue = joined_texts(self._since_continue, message.text)
        said = await self._hook.ask(
            {
                "type": "turn-end",
                "result": self._since_continue,
                "turnNumber": self._rounds,
                "stopReason": message.stop_reason,
                "toolCalls": len(message.tool_calls),
                **_usage_of(message),
            }
        )
        if "stop" in said:
            self._stopped = said
            return RoundVerdict(stop=True)
        if "continue" not in said:
            return RoundVerdict()
        self._since_continue = ""
        nudge = said.get("message")
        return RoundVerdict(nudge=str(nudge or "") or ("" if message.tool_calls else CONTINUE))

    def _trim(self) -> None:
        """Drop what a failed round left, before it is tried again."""
        while self._messages and self._messages[-1].role == "assistant":
            self._messages.pop()


def _error_event(error: Exception, attempt: int) -> dict[str, Any]:
    transient = error.transient if isinstance(error, ModelError) else False
    code = error.code if isinstance(error, KnownError) else "bug"
    return {"type": "error", "error": str(error), "attempt": attempt, "code": code, "transient": transient}


def _usage_of(message: ChatMessage) -> dict[str, Any]:
    """The usage in the form of the trace; ``counted`` because the budget has it already."""
    if message.usage is None:
        return {}
    return {**usage_data(message.usage), "counted": True, "model": message.model}


def _schemas(given: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(one for one in given if isinstance(one, Mapping)) if isinstance(given, list) else ()


async def _asked(host: Host, request: ModelRequest, meta: RunMeta) -> ModelAnswer:
    """Through the same layers as the loop's requests: a paused agent asks nothing."""
    return await ask_within(host.layers, Answerer(host.client, retry=host.retry), request, meta, lambda _event: None)


def _within_window(
    host: Host, call: CallContext, request: ModelRequest, messages: Sequence[ChatMessage]
) -> Sequence[ChatMessage]:
    """What of these fits into the model's window beside system text and tools, as in a round of any agent (R-CTX-2).
    Raises ModelContextTooLong."""
    size = host.context_window(request.model)
    agent_id = AgentId(call.tool, call.meta.thread_id)
    scale = partial(host.token_scale, request.model)
    window = PromptWindow(agent_id, context_window=size, fixed=estimate_fixed(request), last=sys.maxsize, scale=scale)
    return window.view(messages).messages


async def ask_model(ctx: Context, args: Mapping[str, Any]) -> dict[str, Any]:
    """One question to the run's model, for providers of one's own: ``{text, calls: [{id, tool, args}], stopReason,
    usage}``. Where not all fits the oldest messages are left out. The budget is asked before and charged after. Raises
    ToolFailure when there is no model here, ModelContextTooLong, and what the model failed with."""
    host, call = ctx.nonlocals.get(HOST), ctx.call
    if not isinstance(host, Host) or not isinstance(call, CallContext):
        raise ToolFailure("There is no model here.")
    host.asked(False)
    host.budget.check()
    whole = ModelRequest(host.model, (), str(args.get("system") or ""), _schemas(args.get("tools")), host.request)
    told = host.thinking.put_back(messages_from_plain(args.get("messages")))
    request = replace(whole, messages=tuple(_within_window(host, call, whole, told)))
    answer = await _asked(host, request, call.meta)
    message = answer.message
    host.budget.consume(message.usage, estimate=estimate_of(request, message, host.token_scale(request.model)))
    if answer.error is not None:
        raise answer.error
    host.asked(True)
    host.thinking.keep(message)
    calls = [{"id": one.call_id, "tool": one.tool, "args": one.arguments} for one in message.tool_calls]
    return {"text": message.text, "calls": calls, "stopReason": message.stop_reason, **_usage_of(message)}
