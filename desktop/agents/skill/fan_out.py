"""Several agents at once for one call: the orchestrator over the calls of a library skill (R-SUP-16).

Each child is an ordinary call of an agent: it passes every gate in the name of whoever calls the skill, stands below
them in the run tree, within their budget, and ends with them. The run's log has it by itself, so that a run that goes
on does not repeat those that had ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.agents.hosted.orchestrator import OrchestratorAgent, Task
from desktop.agents.skill.host import HOST, Host
from desktop.domain.agent import AgentOutcome, ChildHandle, Inbox
from desktop.domain.errors import BudgetExhausted, ToolAborted, ToolFailure, first_of
from desktop.domain.ids import AgentId
from desktop.domain.messages import user_message
from desktop.domain.supervision import ExecutionBudget, HistoryRetention, Priority
from desktop.pipeline.context import CallContext
from desktop.pipeline.names import Caller
from desktop.pipeline.skill_context import Context

AT_ONCE = 8
AGENT = "agent"
"""The source of tools that are agents."""


class CalledAgents:
    """What an orchestrator needs of a run context, over the calls of a skill. ``group`` holds the calls."""

    def __init__(self, ctx: Context, caller: Caller, group: asyncio.TaskGroup) -> None:
        self._ctx = ctx
        self._caller = caller
        self._group = group
        self._children: list[asyncio.Task[AgentOutcome]] = []

    async def spawn(
        self,
        agent: str,
        inbox: Inbox,
        *,
        budget: ExecutionBudget | None = None,
        priority: Priority = Priority.NORMAL,
        retention: HistoryRetention = HistoryRetention.RUN,
    ) -> ChildHandle:
        """Call it, without waiting. Budget, priority and retention are those of a called agent."""
        message = "\n\n".join(one.text for one in inbox)
        number = len(self._children)
        self._children.append(self._group.create_task(self._called(agent, message), name=f"call of {agent}"))
        return ChildHandle(str(number), AgentId(agent, str(number)))

    async def join(self, child: ChildHandle) -> AgentOutcome:
        """Wait for its answer."""
        return await self._children[int(child.path)]

    async def _called(self, agent: str, message: str) -> AgentOutcome:
        try:
            value = await self._ctx.manager.invoke(agent, {"message": message}, {"in_name_of": self._caller})
        except ToolAborted as error:
            return AgentOutcome("cancelled", code=error.code, detail=str(error))
        except ToolFailure as error:
            status = "limit" if error.code == BudgetExhausted.code else "failed"
            return AgentOutcome(status, code=error.code, detail=str(error))  # type: ignore[arg-type]
        return AgentOutcome("completed", value)


async def fan_out_agents(ctx: Context, args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each of ``tasks`` (``{agent, message}``) came to, in their order. Raises ToolFailure before any begins when
    one names no agent."""
    call = ctx.call
    if not isinstance(call, CallContext):
        raise ToolFailure("No agents can be called here.")
    tasks = [Task(_agent(ctx, str(one["agent"])), [user_message(str(one["message"]))]) for one in args["tasks"]]
    caller = call.request.caller
    code = replace(caller, origin="code", chain=(*caller.chain, call.tool))  # plain names only, and no handing over

    async def plan(_ctx: object, _inbox: Inbox) -> Sequence[Task]:
        return tasks

    async def rows(_ctx: object, outcomes: Sequence[AgentOutcome]) -> list[dict[str, Any]]:
        return [_row(task.agent, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]

    orchestrator = OrchestratorAgent(AgentId(call.tool, call.meta.thread_id), plan, rows, AT_ONCE)
    try:
        async with asyncio.TaskGroup() as group:
            found: list[dict[str, Any]] = await orchestrator.run(CalledAgents(ctx, code, group), [])
    except BaseExceptionGroup as broken:
        raise first_of(broken) from None
    return found


def _agent(ctx: Context, name: str) -> str:
    """The name that it is called by."""
    host = ctx.nonlocals.get(HOST)
    if not isinstance(host, Host):
        raise ToolFailure("There is no model here to run agents with.")
    tool = host.pipeline.table.find(name[:256])
    if tool is None or tool.spec.source != AGENT:
        raise ToolFailure(f"There is no agent called {name[:64]!r}; nothing was started.", code="not_found")
    return tool.spec.name


def _row(agent: str, outcome: AgentOutcome) -> dict[str, Any]:
    if outcome.status == "completed":
        return {"agent": agent, "status": "completed", "result": outcome.value}
    return {"agent": agent, "status": outcome.status, "error": outcome.detail, "code": outcome.code}
