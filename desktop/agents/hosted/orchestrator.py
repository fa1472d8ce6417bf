"""The agent that has others work: it plans, starts children, waits for them, and puts together what they give
(R-SUP-16)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from desktop.domain.agent import AgentOutcome, ChildHandle, Inbox
from desktop.domain.errors import BudgetExhausted, ToolFailure
from desktop.domain.ids import AgentId
from desktop.domain.supervision import ExecutionBudget, Priority

MAX_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Task:
    """Work for a child of a registered kind."""

    agent: str
    inbox: Inbox
    budget: ExecutionBudget | None = None
    priority: Priority = Priority.NORMAL


class Spawner(Protocol):
    """All that an orchestrator needs of a run context."""

    async def spawn(
        self, agent: str, inbox: Inbox, *, budget: ExecutionBudget | None = None, priority: Priority = ...
    ) -> ChildHandle:
        """Start a child, without waiting."""
        ...

    async def join(self, child: ChildHandle) -> AgentOutcome:
        """Wait for its end."""
        ...


Plan = Callable[[Any, Inbox], Awaitable[Sequence[Task]]]
Combine = Callable[[Any, Sequence[AgentOutcome]], Awaitable[Any]]
"""Both get the context of the run."""


async def values_of(_ctx: object, outcomes: Sequence[AgentOutcome]) -> list[Any]:
    """The usual end: what each child gave, in order. Raises ToolFailure when one gave nothing."""
    for number, outcome in enumerate(outcomes, 1):
        if outcome.status != "completed":
            raise ToolFailure(f"Part {number} of {len(outcomes)} ended: {outcome.detail or outcome.status}")
    return [outcome.value for outcome in outcomes]


@dataclass(frozen=True, slots=True)
class OrchestratorAgent:
    """Fans out the tasks of ``plan`` to at most ``at_once`` children and hands their ends, in order, to ``combine``.

    ``at_once`` counts from the oldest that has not ended: children are joined in the order they were started, so that
    the same children are asked for in the same order after a restart. A child that fails does not stop the others.
    """

    id: AgentId
    plan: Plan
    combine: Combine = values_of
    at_once: int = MAX_AT_ONCE

    async def run(self, ctx: Spawner, inbox: Inbox) -> Any:
        """What ``combine`` returns."""
        return await self.combine(ctx, await fan_out(ctx, await self.plan(ctx, inbox), self.at_once))


async def fan_out(ctx: Spawner, tasks: Sequence[Task], at_once: int = MAX_AT_ONCE) -> list[AgentOutcome]:
    """Have every task done by a child of its own; how each ended, in order of the tasks. Where the tree has no place
    for another child, the oldest is waited for; a task for which there is none at all ends at that limit."""
    waiting: list[ChildHandle] = []
    outcomes: list[AgentOutcome] = []

    async def oldest() -> None:
        outcomes.append(await ctx.join(waiting.pop(0)))

    for task in tasks:
        while len(waiting) >= at_once:
            await oldest()
        started = await _started(ctx, task)
        while isinstance(started, AgentOutcome) and waiting:
            await oldest()
            started = await _started(ctx, task)
        if isinstance(started, AgentOutcome):
            outcomes.append(started)
        else:
            waiting.append(started)
    while waiting:
        await oldest()
    return outcomes


async def _started(ctx: Spawner, task: Task) -> ChildHandle | AgentOutcome:
    try:
        return await ctx.spawn(task.agent, task.inbox, budget=task.budget, priority=task.priority)
    except BudgetExhausted as error:
        return AgentOutcome("limit", code=error.code, detail=str(error), limit=error.limit)
