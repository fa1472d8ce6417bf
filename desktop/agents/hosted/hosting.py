"""Hosts agents in code: each gets a place in the tree of the run, and the effects that its ``ctx`` offers (R-JRN-1).

The skill that an agent is written in is called like any other. What the agent does is calls below that call: they pass
the gates, stand in the run's journal under names of their own, and are known again when the run is gone on with.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from desktop.agents.skill.discovery import OwnCalls
from desktop.agents.skill.host import HOST, PERMISSIONS, ChildTerms, Host
from desktop.agents.skill.nested_agent_scope import STOPPED, NestedAgentScope, nested_agent_scope
from desktop.agents.skill.settings import standing
from desktop.domain.errors import BudgetExhausted, ConfigurationError, LimitReached, NotFound, ToolAborted, ToolFailure
from desktop.domain.ids import AgentId, new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import CallLimits
from desktop.domain.runs.middleware import Start
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.runs.tree import NodeState
from desktop.domain.tools import Tool
from desktop.pipeline.context import MAX_BRANCH, CallContext, CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.results import value_of
from desktop.pipeline.skill_context import Context, HostedAgent
from desktop.pipeline.skill_tool import SkillTool
from desktop.skills.names import is_bare_name

MAX_EFFECTS = 10_000
"""Of one agent in one call; what it asks of models has a budget besides."""
LONGEST_NAP_S = 30.0
"""A suspended computer does not shift a moment that is waited for: the clock is looked at this often."""
PARENT_ENDED = "the agent that started it has ended"
EFFECT = "agent-effect"
TASK = "Execute the task."

_SKILLS: Mapping[str, str] = {"llm": "model-ask", "emit": "event-emit"}
"""The library's skills that make an effect; all others are made by ``EFFECT``."""


async def host_agent(ctx: Context, _args: Mapping[str, Any]) -> Any:
    """Have the served skill's code work as an agent. Raises ToolFailure where no run is at work, BudgetExhausted where
    the tree has no place for one more agent, and what the code failed with."""
    served = ctx.envelope.target
    host, call, work = ctx.nonlocals.get(HOST), ctx.call, served.call
    if not isinstance(host, Host) or not isinstance(call, CallContext) or not isinstance(work, CallContext):
        raise ToolFailure("There is no run here that an agent could work in.")
    where = standing(served.run.definition, work.tool)
    asking = host.asking(served.run.frontmatter.get("model"), work.tool, where)
    with nested_agent_scope(asking, call, work.tool) as scope, ExitStack() as held:
        await host.begins(Start(work.tool, host.by if call.invocation.depth <= 1 else "model", "skill"), call.meta)
        effects = AgentEffects(scope, served, work)
        held.callback(effects.close)
        fabric = ctx.globals["skills"]
        ref: str = fabric.hand_out("agent-ctx", effects.serve)
        held.callback(fabric.take_back, ref)
        key = AgentId(work.tool, scope.call.meta.node or work.invocation.context_id)
        served.hosted = HostedAgent(str(key), ref, _inbox(work), effects.allowed, effects.called)
        held.callback(effects.begin())
        async with Interrupt(scope.call.meta.cancellation):
            return await ctx.manager.next()


def _inbox(work: CallContext) -> list[dict[str, str]]:
    """What the agent was called with, as a message."""
    given = dict(work.frozen)
    message = given.pop("message", None) or work.request.said
    message = str(message or TASK)
    if given:
        message += f"\n\nIt was given these arguments:\n{json.dumps(given, ensure_ascii=False, default=str)}"
    return [{"role": "user", "text": message}]


class AgentEffects:
    """What one agent in code does: ``serve`` answers the calls of its ``ctx``, and only those."""

    def __init__(self, scope: NestedAgentScope, served: Context, work: CallContext) -> None:
        self._scope = scope
        self._served = served
        self._work = work
        definition = served.run.definition
        host, above = scope.host, served.nonlocals.get(PERMISSIONS)
        own = host.allowed_of(definition.allowed_tools if definition is not None else None)
        permitted = own if above is None else host.together(above, own, "child")
        served.nonlocals[PERMISSIONS] = permitted
        self.allowed = OwnCalls(permitted, own, work.tool)
        self._made = 0
        self._children: set[CancellationToken] = set()

    def begin(self) -> Callable[[], None]:
        """From now on the calls of the code count for its own place in the tree. Gives what ends that."""
        invocation, own = self._work.invocation, self._scope.call.meta
        before, lent = invocation.meta, self._served.nonlocals[HOST]
        invocation.meta = replace(before, cancellation=own.cancellation, supervision=own.supervision, node=own.node)
        self._served.nonlocals[HOST] = self._scope.host

        def leave() -> None:
            invocation.meta = before
            self._served.nonlocals[HOST] = lent

        return leave

    def called(self, outcome: CallResult) -> None:
        """Count a tool call of the code at the agent's node in the tree of the run."""
        budget = self._scope.host.budget
        budget.called()
        budget.waited(outcome.facts.get("waited_ms", 0) / 1000)

    def close(self) -> None:
        """The agent has ended, and with it the children that it did not wait for."""
        for token in self._children:
            token.cancel(PARENT_ENDED)

    async def serve(self, ctx: Context, args: Mapping[str, Any]) -> Any:
        """One effect, as ``{kind, given, branch}``. Raises NotFound for any other code, ToolFailure beyond
        ``MAX_EFFECTS``."""
        if not isinstance(ctx.call, CallContext) or ctx.call.invocation is not self._work.invocation:
            raise NotFound("There is no such tool here.")
        self._made += 1
        if self._made > MAX_EFFECTS:
            raise ToolFailure(f"An agent may have {MAX_EFFECTS:,} effects in one call.", code="denied.limit")
        kind, given, branch = str(args.get("kind")), args.get("given"), str(args.get("branch") or "")
        if not isinstance(given, Mapping):
            raise ToolFailure("An effect takes its values by name.")
        if kind == "close":
            return self.close()
        if kind == "spawn":
            return await self._spawn(given, branch)
        tool = _SKILLS.get(kind)
        arguments = {"kind": kind, **given} if tool is None else given
        chain = (*self._work.request.caller.chain, self._work.tool)
        caller = Caller("skill", chain, ExactTools(None))  # every agent has these, whatever its list says
        outcome = await self._call(tool or EFFECT, arguments, caller, self._work.invocation, branch)
        return value_of(outcome.result)

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        parent: Invocation,
        branch: str,
        said: str = "",
        limits: CallLimits | None = None,
    ) -> CallResult:
        request = self._work.request
        made = CallRequest(
            ToolCallBlock(new_id(), tool, dict(arguments)),
            caller,
            parent,
            NestedSink(request.sink, request.block.call_id),
            request.message_id,
            "",
            limits,
            said=said,
            branch=branch[:MAX_BRANCH],
        )
        return await self._scope.host.pipeline.invoke(made)

    # -- children (R-JRN-3) -------------------------------------------------------------------------------------------

    async def _spawn(self, asked: Mapping[str, Any], branch: str) -> dict[str, Any]:
        """How a child ended: its status, and its value or its kind of error."""
        agent, message = str(asked.get("agent")), str(asked.get("message") or "")
        terms = _terms(asked)
        tool = await self._agent(agent)
        work = self._work
        token = work.invocation.meta.cancellation.child()
        parent = replace(
            work.invocation,
            meta=replace(work.invocation.meta, cancellation=token),
            inherited={**work.invocation.inherited, HOST: replace(self._scope.host, terms=terms)},
        )
        caller = Caller("code", (*work.request.caller.chain, work.tool), self.allowed)
        words = isinstance(tool, SkillTool) and tool.definition.kind in ("markdown", "folder")
        self._children.add(token)
        try:
            given = {} if words else {"message": message}
            outcome = await self._call(agent, given, caller, parent, branch, message, work.request.limits)
        finally:
            self._children.discard(token)
            token.detach()
        return _outcome_of(outcome)

    async def _agent(self, name: str) -> Tool:
        """Raises NotFound for what is no agent. A path or a URI is none: its file would be read, wherever it lies
        (R-COD-7)."""
        tool = await self._scope.host.pipeline.named(name) if is_bare_name(name.replace("_", "-")) else None
        code = isinstance(tool, SkillTool) and tool.definition.is_code and tool.definition.role != "agent"
        if tool is None or code or not (isinstance(tool, SkillTool) or tool.spec.source == "agent"):
            raise NotFound(f"There is no agent called {name[:64]!r}; nothing was started.")
        return tool


def _terms(given: Mapping[str, Any]) -> ChildTerms:
    """Raises ConfigurationError for a budget or a priority that is none (R-LIM-7)."""
    plain, priority = given.get("budget") or {}, str(given.get("priority") or "").upper()
    if not isinstance(plain, Mapping):
        raise ConfigurationError(f"A budget has its limits by name, and is not {plain!r:.80}.")
    unknown = sorted(set(plain) - set(ExecutionBudget.__dataclass_fields__))
    if unknown or (priority and priority not in Priority.__members__):
        raise ConfigurationError(f"There is no budget or priority called {(unknown or [priority.lower()])[0]!r}.")
    budget = ExecutionBudget.from_plain(plain) if plain else None
    return ChildTerms(budget, Priority[priority] if priority else None)


def _outcome_of(outcome: CallResult) -> dict[str, Any]:
    result = outcome.result
    if not result.is_error:
        value = (
            None if result.facts.get("empty") else result.structured if result.structured is not None else result.text
        )
        return {"status": "completed", "value": value, "code": "", "detail": ""}
    status = "cancelled" if result.code in (ToolAborted.code, STOPPED) else "failed"
    if result.code in (BudgetExhausted.code, LimitReached.code):
        status = "limit"
    return {"status": status, "value": None, "code": result.code, "detail": result.text}


async def make_effect(ctx: Context, args: Mapping[str, Any]) -> Any:
    """``now``, ``uuid``, ``random`` or ``sleep_until``: what comes of it is in the run's journal, so that it is the
    same after a restart."""
    kind = args["kind"]
    if kind == "now":
        return time.time()
    if kind == "uuid":
        return new_id()
    if kind == "random":
        return random.random()
    host, call = ctx.nonlocals.get(HOST), ctx.call
    live = host.live if isinstance(host, Host) else None
    node = live.node_of(call.meta) if live is not None and isinstance(call, CallContext) else None
    if node is not None:
        node.does(NodeState.SLEEPING)
    while (left := float(args["until"]) - time.time()) > 0:
        await asyncio.sleep(min(left, LONGEST_NAP_S))
    if node is not None:
        node.does(NodeState.WORKING)
    return None
