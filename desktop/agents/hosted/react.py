"""The agent that reasons and acts: the round loop as a hosted agent (R-SUP-16).

``ReActAgent`` is told how it works by a ``Runner``; ``loop_runner`` is the round loop on the run context, so that each
of its model requests and tool calls is journaled, bounded and done once over restarts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopListener, LoopResult
from desktop.agents.loop.loop import DEFAULT_LIMIT
from desktop.agents.loop.summarising import ContextKeeper, KeptInMemory, MessageNumbers
from desktop.agents.loop.window import NOTHING
from desktop.agents.turn import AgentTurn, TurnInput, TurnServices, TurnSpec
from desktop.domain.agent import Inbox, RunContext
from desktop.domain.errors import BudgetExhausted, CancellationError, LimitReached, ModelError
from desktop.domain.ids import AgentId
from desktop.domain.limits import Limit
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.domain.middleware import Rest
from desktop.domain.models import ModelAnswer, ModelRef, ModelRequest
from desktop.domain.run_meta import RunMeta

Runner = Callable[[RunContext, Inbox], Awaitable[Any]]
"""What an agent does with what waits for it: policy and provider, wired by whoever hosts it."""


@dataclass(frozen=True, slots=True)
class ReActAgent:
    """Hosts a ``runner`` under an address (R-SUP-15)."""

    id: AgentId
    runner: Runner

    async def run(self, ctx: RunContext, inbox: Inbox) -> Any:
        """What the runner returns."""
        return await self.runner(ctx, inbox)


class ModelAsker(Protocol):
    """The part of a context that a loop needs which shows an answer while it comes."""

    async def ask_model(self, request: ModelRequest, do: Callable[[], Awaitable[ChatMessage]]) -> ChatMessage:
        """``RunContext.llm`` with another way to do it."""
        ...


class JournaledAnswerer(Answerer):
    """Asks models through the context: an answer that the journal holds is given back, not asked for again.

    What came of an answer that is not whole is in the failed effect's error, as an ``ModelAnswer`` with that error.
    """

    def __init__(self, ctx: ModelAsker, inner: Answerer) -> None:
        self._ctx = ctx
        self._inner = inner

    async def ask(
        self, request: ModelRequest, meta: RunMeta, tell: LoopListener, rest: Rest | None = None
    ) -> ModelAnswer:
        """The answer, with the failures and aborts of ``Answerer.ask``."""
        partial: list[ModelAnswer] = []

        async def do() -> ChatMessage:
            answer = await self._inner.ask(request, meta, tell, rest)
            if answer.error is not None:
                partial.append(answer)
                raise answer.error
            return answer.message

        try:
            return ModelAnswer(await self._ctx.ask_model(request, do))
        except BudgetExhausted:
            raise
        except (ModelError, LimitReached, CancellationError) as error:
            return partial[0] if partial else _without_words(request, error)


class ContextTools:
    """The loop's tool runner over a context."""

    def __init__(self, ctx: RunContext, parallel: Callable[[str], bool] = lambda _name: False) -> None:
        self._ctx = ctx
        self._parallel = parallel

    async def run(self, call: ToolCallBlock) -> ToolResultBlock:
        """One call; what its arguments lack is the model's to mend."""
        if call.arguments is None:
            return ToolResultBlock(call.call_id, call.tool, call.problem, True, None, {"state": "failed"})
        result = await self._ctx.tool(call.tool, call.arguments)
        facts = {"state": "failed" if result.is_error else "done", "code": result.code, **result.facts}
        return ToolResultBlock(
            call.call_id, call.tool, result.text, result.is_error, result.structured, facts, result.media
        )

    def parallel(self, call: ToolCallBlock) -> bool:
        """As its maker says of the tool."""
        return self._parallel(call.tool)


class _Asking(Answerer):
    """A context's plain ``llm`` in the place of an answerer."""

    def __init__(self, ctx: RunContext) -> None:
        self._ctx = ctx

    async def ask(
        self, request: ModelRequest, meta: RunMeta, tell: LoopListener, rest: Rest | None = None
    ) -> ModelAnswer:
        """The answer or the failure."""
        try:
            return ModelAnswer(await self._ctx.llm(request))
        except (ModelError, CancellationError) as error:
            return _without_words(request, error)


def _without_words(request: ModelRequest, error: Exception) -> ModelAnswer:
    return ModelAnswer(ChatMessage("assistant", (), "error", None, str(request.model)), error)


def loop_runner(
    model: ModelRef,
    *,
    system: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    limit: Limit = DEFAULT_LIMIT,
    parallel: Callable[[str], bool] = lambda _name: False,
    window: int | None = None,
    summaries: bool = False,
) -> Runner:
    """A runner that asks ``model`` until it answers with a text, which is the result. Raises what ended the loop.

    ``window`` is the model's, in tokens; ``summaries``: what it does not take is summarised, an effect of the run like
    any other request. A run that goes on after a restart needs the same of both.
    """
    asked = ModelRequest(model, (), system, tuple(tools))

    async def run(ctx: RunContext, inbox: Inbox) -> Any:
        numbers = MessageNumbers()
        messages = [replace(message, source_id=numbers.next()) for message in inbox]
        spec = TurnSpec(agent_id=ctx.agent_id, request=asked, limit=lambda _done: limit, context_window=window)
        services = TurnServices(answerer=_Asking(ctx), tools=ContextTools(ctx, parallel), recorder=numbers)
        keeper = ContextKeeper(kept=KeptInMemory(), overlay=NOTHING, allowed=lambda: summaries)
        task = next((message.source_id for message in reversed(messages) if message.role == "user"), "")
        turn = AgentTurn(spec, services, ctx.meta)
        return _text_of(await turn.take(TurnInput(messages=messages, keeper=keeper, task=task)))

    return run


def _text_of(result: LoopResult) -> str:
    if result.error is not None:
        raise result.error
    if result.limit is not None:
        raise LimitReached(f"Stopped after {result.rounds} rounds: {result.limit}.", limit=str(result.limit))
    last = next((message for message in reversed(result.messages) if message.role == "assistant"), None)
    return last.text if last is not None else ""
