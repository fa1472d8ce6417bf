"""A skill as the provider of an agent that has a thread: of a chat, a side of a debate, a called agent, a job.

The skill that ``model.agent`` names gets what the bundled provider gets: prompt, tools, history and two callback refs
(R-AG-3, R-AG-4). What it tells through ``hookRef`` is stored and shown as an answer of the thread, round by round, and
what it calls through ``invokeRef`` goes the way of every call of the thread. Limits and stop conditions are kept here:
a provider that does not heed them gets no round and no call more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from desktop.agents.loop.events import LoopEnd, LoopError, LoopEvent, LoopListener, LoopResult, Retrying, RoundStarted
from desktop.agents.loop.rounds import MAX_CALLS, STOPPED
from desktop.agents.skill.discovery import provider_call
from desktop.agents.skill.host import HOST, Host
from desktop.agents.skill.provider_port import (
    ENDED,
    ProviderRounds,
    callback_ref,
    known_facts,
    provider_problem,
    refusal,
)
from desktop.agents.skill.turn_events import DELTAS_S
from desktop.agents.turn import RoundRequests, TurnInput, TurnServices, TurnSpec
from desktop.domain.errors import (
    BudgetExhausted,
    CancellationError,
    ConfigurationError,
    KnownError,
    ModelError,
    ToolAborted,
    ToolFailure,
)
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, ChatMessage, TextBlock, ToolCallBlock, Usage, media_to_plain, to_plain
from desktop.domain.models import ModelRequest, ReasoningDelta, TextDelta
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import AllowedTools, Caller
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skills.code_mode import INVOKE

AGENT = "agent"
CONTINUE = "Continue."
ATTACHED = "Answer my message above, which has attachments."
MAX_TEXT = 1_000_000
"""Characters of one answer."""
MAX_ID = 200

Directive = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillProvider:
    """The skill that works for an agent as its provider, and in whose name it is called."""

    name: str
    """The skill that ``model.agent`` names."""
    config: Mapping[str, Any]
    """What ``model`` of the agent's prompt says."""
    serving: str
    """The name of that prompt's skill."""
    allowed: AllowedTools
    """The agent's list."""
    chain: tuple[str, ...]
    """Who a request for approval names."""
    root: Invocation
    """Where the agent's calls hang; it holds what the run lends to agents (``Host``)."""
    shared: Any
    """Hands out callback refs (``skills.resolution.fabric``)."""
    add_blocks: Callable[[Sequence[Block]], Awaitable[None]]
    """Stores more of the message that was stored last."""

    def missing(self, host: Host) -> ConfigurationError | None:
        """Why this skill cannot be the provider; None: it can."""
        return provider_problem(host.pipeline.table, self.name, self.listed, self.serving)

    @property
    def listed(self) -> AllowedTools:
        """Under what the provider is called: a file chose it."""
        return provider_call(self.allowed, self.allowed, None)


class TellsLater:
    """Tells a listener what a provider tells: pieces of a text that come within a moment together, in order with all
    else."""

    def __init__(self, listener: LoopListener | None) -> None:
        self._listener = listener
        self._pieces: list[str] = []
        self._soon: asyncio.TimerHandle | None = None

    def text(self, piece: str) -> None:
        """Take a piece of the answer's text, to be told with the next ``flush``."""
        self._pieces.append(piece)
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(DELTAS_S, self.flush)

    def event(self, event: LoopEvent) -> None:
        """Take an event that is no piece of text."""
        self.flush()
        if self._listener is not None:
            self._listener(event)

    def flush(self) -> None:
        """Tell what waits."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        pieces, self._pieces = "".join(self._pieces), []
        if pieces and self._listener is not None:
            self._listener(TextDelta(pieces))


def provider_arguments(provider: SkillProvider, request: ModelRequest, limit: Limit) -> dict[str, Any]:
    """What a provider reads of an agent, beside the two refs."""
    history = list(request.messages)
    said, plain = CONTINUE, True
    if history and history[-1].role == "user":
        plain = all(isinstance(block, TextBlock) for block in history[-1].blocks)
        said = history[-1].text if plain else ATTACHED
    earlier = history[:-1] if said != CONTINUE and plain else history
    tools = [dict(tool) for tool in request.tools]
    rows = [{"role": one.role, "text": one.text, "blocks": [to_plain(b) for b in one.blocks]} for one in earlier]
    rounds = limit.value
    return {
        "userMessage": said,  # first: the log keeps the beginning of what a call was given
        "prompt": request.instructions,
        "config": {**provider.config, "maxTurns": None if rounds == float("inf") else int(rounds)},
        "skillName": provider.serving,
        "tools": json.loads(json.dumps(tools, default=str)),
        "history": json.loads(json.dumps(rows, default=str)),
    }


class SkillTurn:
    """One turn of an agent that a skill works for."""

    def __init__(self, provider: SkillProvider, spec: TurnSpec, services: TurnServices, meta: RunMeta) -> None:
        self._provider = provider
        self._spec = spec
        self._services = services
        self._meta = meta
        host = provider.root.inherited[HOST]
        assert isinstance(host, Host)
        self._host = host
        self._budget = services.budget or host.budget
        self._one_by_one = asyncio.Lock()
        self._messages: list[ChatMessage] = []
        self._rounds = ProviderRounds(spec.limit)
        self._open = False
        self._text = ""
        self._told_of = TellsLater(services.listener)
        self._calls = 0
        self._at = 0
        self._told = ""
        self._usage = Usage(cost_usd=0.0)
        self._end: LoopEnd | None = None
        self._limit: Limit | None = None
        self._root: Invocation | None = None

    async def take(self, given: TurnInput) -> LoopResult:
        """Work until the provider has given a result, or is told to stop. Raises ConfigurationError where it is not
        there or may not be called, and what the recorder raises."""
        problem = self._provider.missing(self._host)
        if problem is not None:
            raise problem
        self._messages = list(given.messages)
        self._rounds = ProviderRounds(self._spec.limit, given.begun, self._at_limit)
        try:
            request = await RoundRequests(self._spec, self._services, self._meta, given).next(self._messages)
            with ExitStack() as held:
                outcome = await self._asked(self._arguments(request, held))
            return await self._result(outcome)
        except CancellationError as error:
            return self._ended("aborted", error)
        except BudgetExhausted as error:
            self._limit = self._budget.broken()
            return self._ended("budget", error)
        finally:
            self._told_of.flush()
            self._own.meta.cancellation.detach()

    # -- what the provider gets (R-AG-4) ------------------------------------------------------------------------------

    def _arguments(self, request: ModelRequest, held: ExitStack) -> dict[str, Any]:
        """The arguments of the provider's skill: plain data only."""
        return {
            **provider_arguments(self._provider, request, self._rounds.limit),
            "invokeRef": self._callback(held, "agent-invoke", self._invoke),
            "hookRef": self._callback(held, "agent-hook", self._hook),
        }

    def _callback(
        self, held: ExitStack, label: str, do: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
    ) -> str:
        """A ref of this turn; what its provider tells and asks comes one after the other."""

        async def serve(_ctx: Context, args: Mapping[str, Any]) -> Any:
            async with self._one_by_one:
                return await do(args)

        return callback_ref(self._provider.shared, held, label, lambda: self._own, serve)

    async def _asked(self, arguments: Mapping[str, Any]) -> CallResult:
        caller = Caller("skill", (*self._provider.chain, AGENT), self._provider.listed)
        block = ToolCallBlock(new_id(), self._provider.name, arguments)
        request = CallRequest(block, caller, self._own, lambda _event: None, counted=False)
        return await self._host.pipeline.invoke(request)

    # -- what it tells (R-PRV-2) --------------------------------------------------------------------------------------

    async def _hook(self, event: Mapping[str, Any]) -> Directive:
        """Take one event of the provider and answer with a directive. An event of unknown kind is ignored."""
        kind, text = event.get("type"), str(event.get("text") or "")[:MAX_TEXT]
        if kind == "turn-start":
            await self._begin_round()
        elif kind == "message":
            await self._said(text, whole=event.get("delta") is not True)
        elif kind == "reasoning" and text:
            await self._in_round()
            self._told_of.event(ReasoningDelta(text))
        elif kind == "turn-end":
            return await self._round_over(event)
        elif kind == "retry":
            await self._in_round()
            delay = float(_number(event.get("delayMs"))) / 1000
            self._told_of.event(Retrying(int(_number(event.get("attempt"))) + 1, delay, _told_error(event)))
        elif kind == "error":
            return await self._failed(event)
        return {}

    async def _failed(self, event: Mapping[str, Any]) -> Directive:
        """An error of the provider's model, which a persistent agent waits out (R-PER-3)."""
        error = _told_error(event)
        self._told_of.event(LoopError(str(error)))
        after_error = self._services.after_error
        if self._end is None and after_error is not None and await after_error(error):
            return {"continue": True}
        return {}

    async def _said(self, text: str, *, whole: bool) -> None:
        """Take in text of the round under way: a piece of it, or with ``whole`` all of it."""
        await self._in_round()
        more = text.removeprefix(self._text) if whole else text
        if more and len(self._text) + len(more) <= MAX_TEXT:
            self._text += more
            self._told_of.text(more)

    async def _in_round(self) -> None:
        if not self._open:
            await self._begin_round()

    async def _begin_round(self) -> None:
        """Begin another round. Raises LimitReached for a provider that does not heed its limit, or that it was stopped,
        BudgetExhausted, and CancellationError."""
        if self._open:
            await self._close_round("", None)
        self._meta.cancellation.check()
        if self._end is None:
            self._check_budget()
        self._rounds.begin()
        self._open, self._text, self._calls = True, "", 0
        await self._services.recorder.round_started(self._rounds.made)
        self._told_of.event(RoundStarted(self._rounds.made))

    def _at_limit(self, limit: Limit) -> None:
        self._end, self._limit = "limit", limit

    def _check_budget(self) -> None:
        try:
            self._budget.check()
        except BudgetExhausted:
            self._end, self._limit = "budget", self._budget.broken()
            self._rounds.stop(self._limit)
            raise

    async def _close_round(self, reason: str, usage: Usage | None) -> ChatMessage:
        """Store what the round said; where it made calls their message has the beginning of it."""
        self._told_of.flush()
        self._open = False
        if self._calls:
            await self._amend(())
            if usage is not None:
                await self._services.recorder.spent(usage)
            return self._messages[self._at]
        blocks = (TextBlock(self._text),) if self._text else ()
        message = ChatMessage("assistant", blocks, reason or "end", usage, str(self._spec.request.model))  # type: ignore[arg-type]
        if blocks:
            await self._keep(message)
        return message

    async def _amend(self, blocks: Sequence[Block]) -> None:
        """More of the message that holds the round's calls: what was said since, and these."""
        message = self._messages[self._at]
        said = self._text.removeprefix(message.text)
        more = (*((TextBlock(said),) if said else ()), *blocks)
        if more:
            await self._provider.add_blocks(more)
            self._messages[self._at] = replace(message, blocks=(*message.blocks, *more))

    async def _keep(self, message: ChatMessage) -> None:
        self._told_of.flush()
        stored = await self._services.recorder.message_finished(message)
        self._messages.append(replace(message, source_id=stored))

    async def _round_over(self, event: Mapping[str, Any]) -> Directive:
        """The end of a round is where stop conditions, promised values and limits decide."""
        if self._end is not None:
            return {"stop": True}  # said before, and not heeded
        if not self._text:
            await self._said(_of_round(self._told, str(event.get("result") or "")[:MAX_TEXT]), whole=False)
        self._told = str(event.get("result") or "")[:MAX_TEXT]
        calls = self._calls
        message = await self._close_round("", self._charged(event))
        self._rounds.end()
        if self._budget.broken() is not None:
            return self._out_of_budget()
        after = self._services.after_round
        if after is not None:
            verdict = after(message, self._rounds.made)
            verdict = await verdict if isinstance(verdict, Awaitable) else verdict
            if verdict.stop:
                self._end = "stopped"
                self._rounds.stop()
                return {"stop": True}
            nudge = (ChatMessage("user", (TextBlock(verdict.nudge),)),) if verdict.nudge else ()
            if verdict.heard or nudge:
                return self._continue([*verdict.heard, *nudge])
        if self._rounds.used_up:
            limit = self._rounds.limit
            self._rounds.stop(limit)
            self._end, self._limit = ("limit", limit) if calls else ("response", None)
            return {"stop": True, "result": self._told}
        steered = await self._services.steering() if self._services.steering is not None and calls else ()
        return self._continue(steered) if steered else {}

    def _out_of_budget(self) -> Directive:
        """The provider is ended where it stands, even if it does not heed what it is told."""
        self._end, self._limit = "budget", self._budget.broken()
        self._rounds.stop(self._limit)
        self._own.meta.cancellation.cancel("budget")
        return {"stop": True}

    def _continue(self, said: Sequence[ChatMessage]) -> Directive:
        """One more round, with what is said to the agent."""
        self._messages.extend(said)
        self._told = ""
        return {"continue": True, "message": "\n\n".join(message.text for message in said)}

    def _charged(self, event: Mapping[str, Any]) -> Usage | None:
        """What a provider says that it used; what ``model-ask`` and the bundled provider asked is counted there."""
        usage = self._rounds.used(event)
        if usage is None:
            return None
        self._budget.consume(usage)
        self._usage = self._usage.plus(usage)
        return usage

    # -- what it calls (R-PRV-3) --------------------------------------------------------------------------------------

    async def _invoke(self, asked: Mapping[str, Any]) -> Directive:
        """One call of the provider's model, as plain data: ``{ok, text, code, state, structured, media}``."""
        await self._in_round()
        code, tool, given = asked.get("code"), asked.get("tool"), asked.get("args")
        if isinstance(code, str):
            tool, given = INVOKE, {"code": code}
        if not isinstance(tool, str):
            return refusal("That is no call that can be made here.", "tool.unknown")
        if (ends := self._host.ending(asked.get("ends"))) is None and asked.get("ends"):
            return refusal(*ENDED)
        if self._calls >= MAX_CALLS:
            return refusal(f"One round may make at most {MAX_CALLS} calls.", "denied.limit")
        arguments = given if isinstance(given, Mapping) else None
        block = ToolCallBlock(new_id(), tool, arguments, "", str(asked.get("problem") or "")[:500])
        meant = self._services.meant
        block = await meant(block) if meant is not None else block
        self._calls += 1
        if self._calls > 1:
            await self._amend((block,))
        else:
            said = (TextBlock(self._text),) if self._text else ()
            self._at = len(self._messages)
            made = ChatMessage("assistant", (*said, block), "tool_calls", None, str(self._spec.request.model))
            await self._keep(made)
        result = await self._services.tools.run(block, ends=ends)
        stored = await self._services.recorder.results_finished([result], executed=True)
        self._messages.append(ChatMessage("tool", (result,), source_id=stored[0] if stored else ""))
        return {
            "ok": not result.is_error,
            "text": result.as_read,
            "code": str(result.facts.get("code", "")),
            "state": str(result.facts.get("state", "")),
            "structured": result.structured,
            **known_facts(result.facts),
            **({"media": media_to_plain(result.media)} if result.media else {}),
        }

    # -- how it ended -------------------------------------------------------------------------------------------------

    async def _result(self, outcome: CallResult) -> LoopResult:
        """A result that no round has told of is stored as the answer."""
        result = outcome.result
        self._meta.cancellation.check()
        if result.code == ToolAborted.code and self._end != "budget":
            raise CancellationError(self._meta.cancellation.reason or "stopped")
        if self._open:
            await self._close_round("", None)
        if self._end == "limit":
            await self._keep(ChatMessage("assistant", (TextBlock(STOPPED),), "limit"))
        if result.is_error and self._end is None and self._budget.broken() is not None:
            self._end, self._limit = "budget", self._budget.broken()
        if self._end == "budget":
            words = f"The budget is used up: {self._limit}."
            return self._ended("budget", BudgetExhausted(words, limit=str(self._limit or "")))
        if self._end is not None:
            return self._ended(self._end)
        if result.is_error:
            return self._ended("error", _failure(result.text, result.code))
        said = "" if result.facts.get("empty") else result.text
        if said and not _has_said(self._messages, said):
            await self._services.recorder.round_started(self._rounds.made + 1)
            await self._keep(ChatMessage("assistant", (TextBlock(said[:MAX_TEXT]),), "end"))
        return self._ended("response")

    def _ended(self, end: LoopEnd, error: Exception | None = None) -> LoopResult:
        return LoopResult(self._messages, end, self._rounds.made, self._usage, error, self._limit)

    @property
    def _own(self) -> Invocation:
        """What the provider is called below, with a host that hears of what it asks a model."""
        if self._root is None:
            root = self._provider.root
            host = replace(self._host, asked=self._rounds.asks, request=self._spec.request.settings)
            self._root = replace(root, inherited={**root.inherited, HOST: host}, meta=root.meta.span())
        return self._root


def _of_round(told: str, result: str) -> str:
    """Of a result that holds the texts of all rounds since the last instruction, that of the last one."""
    return result.removeprefix(told).lstrip("\n") if told else result


def _has_said(messages: Sequence[ChatMessage], text: str) -> bool:
    last = next((message.text for message in reversed(messages) if message.role == "assistant"), "")
    return bool(last) and text.strip().endswith(last.strip())


def _told_error(event: Mapping[str, Any]) -> ModelError:
    """What a provider says that its model failed with."""
    error = ModelError(str(event.get("error") or "The model failed.")[:2000])
    error.code = str(event.get("code") or ModelError.code)[:MAX_ID]
    error.transient = event.get("transient") is not False
    return error


def _number(value: Any) -> int | float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value == value else 0


def _failure(text: str, code: str) -> KnownError:
    return ToolFailure(f"The agent could not finish: {text}", code=code or ToolFailure.code)
