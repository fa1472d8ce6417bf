"""The ``agent`` skill's body: a markdown skill's prompt, worked on by a model in rounds of its own (R-AG-1).

The run that the skill was called in lends what is needed (``Host``, in ``nonlocals``): model, client, limits, window.
Its calls go through the pipeline as those of any agent, and never further than the caller's own permissions (R-AG-5).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from desktop.agents.answer import Answerer
from desktop.agents.discovery import visible_tools
from desktop.agents.loop import LoopConfig, RoundLoop, Verdict
from desktop.agents.loop_events import LoopResult
from desktop.agents.retry import RetryPolicy
from desktop.agents.shrink import estimate_fixed
from desktop.agents.window import PromptWindow
from desktop.domain.errors import CancellationError, LimitReached, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.limits import Limit, positive_int, tightest
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.middleware import ChatContext, Middleware
from desktop.domain.models import ModelClient, ModelRef, ModelRequest
from desktop.domain.supervision import ExecutionBudget
from desktop.domain.tools import Category, Tool
from desktop.pipeline.context import Call, CallRequest
from desktop.pipeline.names import AllowedTools, Caller
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.skill_context import Context
from desktop.supervision.budgets import BudgetTracker

HOST = "host"
PERMISSIONS = "permissions"
MAX_ROUNDS = 30
MAX_REMINDERS = 3
TASK = "Execute the task."

Together = Callable[[AllowedTools, AllowedTools], AllowedTools]
"""What both lists permit (R-AG-5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a run lends to the agents in it. ``allowed_of`` reads a pattern list, ``together`` intersects two;
    ``system`` makes the system text of a prompt and tools."""

    pipeline: Pipeline
    client: ModelClient
    model: ModelRef
    budget: BudgetTracker
    system: Callable[[str, Sequence[Tool]], str]
    allowed_of: Callable[[str | None], AllowedTools]
    together: Together
    context_window: Callable[[ModelRef], int | None] = lambda _ref: None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    layers: Sequence[Middleware[ChatContext]] = ()


async def run_agent(ctx: Context, args: Mapping[str, Any]) -> Any:
    """Work until a final text, which is the result; a value of the schema where ``returns`` asks for one.

    Raises ToolFailure when there is no model here, at a limit, and when no valid value came.
    """
    host = ctx.nonlocals.get(HOST)
    call = ctx.call
    if not isinstance(host, Host) or not isinstance(call, Call):
        raise ToolFailure("No model is at hand here to run an agent with.")
    return await _NestedAgent(host, call, ctx, args).work()


class _NestedAgent:
    def __init__(self, host: Host, call: Call, ctx: Context, args: Mapping[str, Any]) -> None:
        self._host = host
        self._call = call
        self._args = args
        config, returns = args.get("config"), args.get("returns")
        self._config: Mapping[str, Any] = config if isinstance(config, Mapping) else {}
        self._returns: Mapping[str, Any] | None = returns if isinstance(returns, Mapping) else None
        self._served = ctx.envelope.target
        self._reminders = 0
        own = host.allowed_of(args.get("allowedTools"))
        above = ctx.nonlocals.get(PERMISSIONS)
        self._allowed = own if above is None else host.together(above, own)
        ctx.nonlocals[PERMISSIONS] = self._allowed

    async def work(self) -> Any:
        host, served = self._host, self._served.run.tool.name
        visible = await visible_tools(host.pipeline.table, self._allowed, serving=served)
        schemas = tuple(host.pipeline.schema(tool.spec) for tool in visible.inlined)
        request = ModelRequest(host.model, (), host.system(self._prompt(), visible.inlined), schemas)
        budget = host.budget.child(ExecutionBudget(), f"the skill {served}")
        loop = RoundLoop(
            Answerer(host.client, retry=host.retry),
            _Tools(host.pipeline, self._call, Caller("native", (*self._call.request.caller.chain,), self._allowed)),
            budget=budget,
            layers=host.layers,
            after_round=self._checked,
            config=LoopConfig(limit=self._limit(served, budget)),
        )
        window = PromptWindow(served, context_window=host.context_window(host.model), fixed=estimate_fixed(request))

        async def prepare(messages: Sequence[ChatMessage]) -> ModelRequest:
            return ModelRequest(request.model, window.view(messages).messages, request.system, request.tools)

        result = await loop.run([ChatMessage("user", (TextBlock(self._task()),))], prepare, self._call.meta)
        return self._result(result)

    def _prompt(self) -> str:
        text = str(self._args.get("prompt") or "")
        if self._returns is None:
            return text
        schema = json.dumps(dict(self._returns), ensure_ascii=False)
        return f"{text}\n\nYour last message is one JSON value and nothing else, and fits this JSON Schema:\n{schema}"

    def _task(self) -> str:
        """The first message: the task, and what the skill was called with."""
        given = dict(self._served.args)
        if not given:
            return TASK
        return f"{TASK}\n\nIt was given these arguments:\n{json.dumps(given, ensure_ascii=False, default=str)}"

    def _limit(self, served: str, budget: BudgetTracker) -> Limit:
        """The policy's rounds, or what the skill says, or what the budget leaves (R-LIM-1, R-LIM-2)."""
        asked = self._config.get("maxTurns")
        rounds = MAX_ROUNDS if asked is None else positive_int(asked, "maxTurns")
        mine = Limit("maxTurns", rounds, f"the skill {served}" if asked is not None else "the agent's default")
        return tightest(mine, budget.rounds_left()) or mine

    def _checked(self, message: ChatMessage, _round: int) -> Verdict:
        """A recorded value ends the work (R-INV-9); a final text that is no JSON, where a value was promised, gets a
        reminder, at most three times (R-RET-2, S-RET-1)."""
        if self._finished:
            return Verdict(stop=True)
        if (
            self._returns is None
            or message.tool_calls
            or _json(message.text) is not None
            or self._reminders >= MAX_REMINDERS
        ):
            return Verdict()
        self._reminders += 1
        return Verdict(nudge="That was not one JSON value. Answer with the JSON value alone.")

    @property
    def _finished(self) -> bool:
        """Whether ``finish`` was called for this agent, by its model or by code that it called."""
        served = self._call.request.serves
        return served is not None and served.finished

    def _result(self, result: LoopResult) -> Any:
        if result.end == "aborted":
            raise result.error if isinstance(result.error, CancellationError) else CancellationError("stopped")
        if self._finished and self._call.request.serves is not None:
            return self._call.request.serves.result
        last = next((m for m in reversed(result.messages) if m.role == "assistant"), None)
        text = last.text if last is not None else ""
        if result.end == "limit":
            raise LimitReached(f"The agent stopped: {result.limit or result.error}.", limit=str(result.limit or ""))
        if result.error is not None:
            raise ToolFailure(f"The agent could not finish: {result.error}")
        if self._returns is None:
            return text
        value = _json(text)
        if value is None:
            raise ToolFailure("The agent did not answer with the value that this skill promises.")
        return value


def _json(text: str) -> Any:
    """The JSON value that a text is, also inside one fenced block; None when it is none."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].partition("\n")[2].strip()
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None


class _Tools:
    """The loop's way into the pipeline, below the agent's own call."""

    def __init__(self, pipeline: Pipeline, call: Call, caller: Caller) -> None:
        self._pipeline = pipeline
        self._call = call
        self._caller = caller

    async def run(self, call: ToolCallBlock) -> ToolResultBlock:
        """One call through every gate."""
        request = self._call.request
        outcome = await self._pipeline.invoke(
            CallRequest(
                replace(call, call_id=new_id()),  # the model's own may be that of a call of the thread
                self._caller, self._call.invocation, NestedSink(request.sink, request.block.call_id),
                request.message_id, "", request.limits,
            )
        )  # fmt: skip
        self._call.nested.append({"tool": call.tool[:64], "state": outcome.state, "elapsed_ms": outcome.elapsed_ms})
        return outcome.block(call)

    def parallel(self, call: ToolCallBlock) -> bool:
        """Category read, and declared safe beside others (R-LOOP-12)."""
        tool = self._pipeline.table.find(call.tool)
        return tool is not None and tool.spec.parallel_safe and tool.spec.category is Category.READ
