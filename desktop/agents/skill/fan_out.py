"""Several agents at once for one call: the orchestrator of the library (R-SUP-16).

Each child is an ordinary call of an agent: it passes every gate in the name of whoever calls the skill, stands below
them in the run tree, within their budget, and ends with them. The run's log has it by itself, so that a run that goes
on does not repeat those that had ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.agents.skill.host import HOST, Host
from desktop.domain.errors import BudgetExhausted, ToolAborted, ToolFailure, first_of
from desktop.pipeline.context import CallContext
from desktop.pipeline.names import Caller
from desktop.pipeline.skill_context import Context

AT_ONCE = 8
AGENT = "agent"
"""The source of tools that are agents."""


async def fan_out_agents(ctx: Context, args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each of ``tasks`` (``{agent, message}``) came to, in their order. Raises ToolFailure before any begins when
    one names no agent."""
    call = ctx.call
    if not isinstance(call, CallContext):
        raise ToolFailure("No agents can be called here.")
    tasks = [(_agent(ctx, str(one["agent"])), str(one["message"])) for one in args["tasks"]]
    caller = call.request.caller
    code = replace(caller, origin="code", chain=(*caller.chain, call.tool))  # plain names only, and no handing over
    room = asyncio.Semaphore(AT_ONCE)

    async def one(agent: str, message: str) -> dict[str, Any]:
        async with room:
            return {"agent": agent, **await _called(ctx, code, agent, message)}

    try:
        async with asyncio.TaskGroup() as group:
            rows = [group.create_task(one(*task), name=f"call of {task[0]}") for task in tasks]
    except BaseExceptionGroup as broken:
        raise first_of(broken) from None
    return [row.result() for row in rows]


async def _called(ctx: Context, caller: Caller, agent: str, message: str) -> dict[str, Any]:
    """How one agent ended. One that fails does not stop the others."""
    try:
        value = await ctx.manager.invoke(agent, {"message": message}, {"in_name_of": caller})
    except ToolFailure as error:
        status = "limit" if error.code == BudgetExhausted.code else "failed"
        status = "cancelled" if error.code == ToolAborted.code else status
        return {"status": status, "error": str(error), "code": error.code}
    return {"status": "completed", "result": value}


def _agent(ctx: Context, name: str) -> str:
    """The name by which the agent ``name`` can be called as a tool."""
    host = ctx.nonlocals.get(HOST)
    if not isinstance(host, Host):
        raise ToolFailure("There is no model here to run agents with.")
    tool = host.pipeline.table.find(name[:256])
    if tool is None or tool.spec.source != AGENT:
        raise ToolFailure(f"There is no agent called {name[:64]!r}; nothing was started.", code="not_found")
    return tool.spec.name
