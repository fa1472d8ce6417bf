"""Hosts the agents of one run: any object that is an ``Agent`` (R-SUP-15), the children it starts, and how they end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from desktop.domain.agent import Agent, AgentOutcome, AgentStatus, Inbox
from desktop.domain.effects import AskUnknown, UnknownAnswer
from desktop.domain.errors import (
    BudgetExhausted,
    BugError,
    CancellationError,
    KnownError,
    LimitReached,
    NotFound,
    first_of,
)
from desktop.domain.ids import AgentId, short_id
from desktop.domain.limits import Limit
from desktop.domain.middleware import AgentContext, MiddlewareTermination
from desktop.domain.run_meta import RunMeta
from desktop.recovery.effect_journal import EffectJournal
from desktop.supervision.agent_tasks import AgentTasks
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.run_context import AgentRun, ChildOrder, EffectPorts
from desktop.supervision.tree import RunTree, TreeNode, exhausted

_log = logging.getLogger(__name__)

BUG = "Something went wrong inside this agent; the log has the details."
NO_VALUE = "What this agent gave back is no plain data, or too much of it."
PARENT_ENDED = "the agent that started it has ended"

MakeAgent = Callable[[AgentId], Agent]
Around = Callable[[AgentContext, Callable[[], Awaitable[None]]], Awaitable[None]]
"""The agent-level middleware as one chain (R-MW-6)."""


class AgentKinds:
    """Which agents can be started, by name."""

    def __init__(self, kinds: Mapping[str, MakeAgent] | None = None) -> None:
        self._kinds = dict(kinds or {})

    def register(self, name: str, make: MakeAgent) -> None:
        """Make a kind of agent known. ``make`` gets its address and must not wait."""
        self._kinds[name] = make

    def maker(self, name: str) -> MakeAgent:
        """Raises NotFound."""
        make = self._kinds.get(name)
        if make is None:
            raise NotFound(f"There is no agent called {name!r}.")
        return make


async def _nobody(_record: object) -> UnknownAnswer:
    """Nobody is there to ask, so nothing is repeated."""
    return "stop"


@dataclass(slots=True, kw_only=True)
class RunHost:
    """One run. ``leave_open`` are the reasons of a cancellation (the app closes) after which the run is to be gone on
    with, so that it gets no terminal entry. Without somebody to ask, a write of unknown outcome ends the run."""

    tree: RunTree
    meta: RunMeta
    journal: EffectJournal
    ports: EffectPorts
    kinds: AgentKinds = field(default_factory=AgentKinds)
    queue: ModelQueue = field(default_factory=ModelQueue)
    ask_unknown: AskUnknown = _nobody
    around: Around | None = None
    leave_open: frozenset[str] = frozenset()
    _group: asyncio.TaskGroup = field(init=False)
    _ends: dict[str, asyncio.Future[AgentOutcome]] = field(init=False, default_factory=dict)
    _bodies: AgentTasks = field(init=False, default_factory=AgentTasks)

    async def run(self, agent: Agent, inbox: Inbox) -> AgentOutcome:
        """Host ``agent`` at the root until it and everything it started have ended, and write how (R-JRN-5).

        The journal must be loaded. Raises only CancelledError, what the store raises, and BugError for a run that is
        over already.
        """
        if self.journal.ended is not None:
            raise BugError(f"run {self.journal.run_id} is over")
        try:
            async with asyncio.TaskGroup() as self._group:
                outcome = await self._live(self.tree.root, lambda _id: agent, inbox)
            if not self._is_left_open(outcome):
                await self.journal.end(outcome.status, outcome.detail)
        except BaseExceptionGroup as group:
            raise first_of(group) from None
        finally:
            self.tree.close()
            self.journal.hurry()
        return outcome

    # -- children (``Children``) --------------------------------------------------------------------------------------

    def start(self, parent: TreeNode, order: ChildOrder) -> AgentId:
        """Start a child, or remember the end of one that had ended before a restart."""
        agent_id = AgentId(order.agent, order.path)
        before = self.journal.returned(order.path)
        if before is not None:
            self._ends[order.path] = asyncio.get_running_loop().create_future()
            self._ends[order.path].set_result(before)
            parent.budget.replayed(before.usage, before.rounds)
            return agent_id
        make = self.kinds.maker(order.agent)
        supervision = parent.supervision.spawn_child(
            parent.agent_id, execution_budget=order.budget, retention=order.retention, priority=order.priority
        )
        node = self.tree.add(parent, order.path, agent_id, supervision)
        self._ends[order.path] = node.outcome
        self._group.create_task(self._live(node, make, order.inbox), name=f"agent {agent_id}")
        return agent_id

    async def ended(self, path: str) -> AgentOutcome:
        """Wait for the end of a child."""
        end = self._ends.get(path)
        if end is None:
            raise NotFound(f"This run has not started an agent {path!r}.")
        return await asyncio.shield(end)

    # -- one agent ----------------------------------------------------------------------------------------------------

    async def _live(self, node: TreeNode, make: MakeAgent, inbox: Inbox) -> AgentOutcome:
        """Its whole life. What a store cannot write, and CancelledError, end the run."""
        span = self.meta.trace_id if node.parent is None else short_id()
        meta = replace(self.meta, cancellation=node.token, supervision=node.supervision, trace_id=span)
        ctx = AgentRun(node, meta, self.journal, self.ports, self.queue, self, self.ask_unknown)
        outcome = AgentOutcome("cancelled", detail="the run was cut off")
        try:
            try:
                outcome = await self._outcome(node, make, ctx, inbox)
            finally:
                ctx.close()
            await self._see_children_out(node)
            outcome = replace(outcome, usage=node.budget.used, rounds=node.budget.rounds)
            if not self._is_left_open(outcome):
                self.journal.end_agent(node.path, outcome)
        finally:
            self.tree.end(node, outcome)
        return outcome

    async def _outcome(self, node: TreeNode, make: MakeAgent, ctx: AgentRun, inbox: Inbox) -> AgentOutcome:
        try:
            body, name = partial(self._within_layers, node, make, ctx, inbox), f"agent {node.agent_id}"
            return self._plain(await self._bodies.run(body, node.token, name))
        except CancellationError as error:
            if node.stopped is not None:
                return _stopped(exhausted(node.stopped), node.stopped)
            return AgentOutcome("cancelled", code="cancelled", detail=error.reason)
        except BudgetExhausted as error:
            return _stopped(error, node.stopped or node.budget.broken())
        except LimitReached as error:
            return AgentOutcome("limit", code=error.code, detail=str(error), limit=error.limit)
        except MiddlewareTermination as error:
            return AgentOutcome("failed", code="terminated", detail=str(error))
        except KnownError as error:
            return AgentOutcome("failed", code=error.code, detail=str(error))
        except Exception:  # the boundary of agents: a bug of one costs this agent, and is in the log
            _log.exception("the agent %s failed", node.agent_id)
            return AgentOutcome("failed", code="bug", detail=BUG)

    def _plain(self, value: Any) -> AgentOutcome:
        """Everybody is given what the journal holds."""
        try:
            return AgentOutcome("completed", self.journal.plain(value))
        except Exception:  # the boundary of agents: what one gives back may be anything
            _log.warning("an agent gave back what is no plain data", exc_info=True)
            return AgentOutcome("failed", code="agent.value", detail=NO_VALUE)

    async def _within_layers(self, node: TreeNode, make: MakeAgent, ctx: AgentRun, inbox: Inbox) -> Any:
        with ctx.entered():
            agent = make(node.agent_id)
            if self.around is None:
                return await agent.run(ctx, inbox)
            context = AgentContext(ctx.meta, agent=str(agent.id), inbox=inbox)

            async def core() -> None:
                context.result = await agent.run(ctx, context.inbox)

            await self.around(context, core)
            return context.result

    async def _see_children_out(self, node: TreeNode) -> None:
        """An agent's children do not outlive it."""
        alive = [child for child in node.children.values() if not child.over]
        for child in alive:
            child.token.cancel(node.token.reason or PARENT_ENDED)
        for child in alive:
            await asyncio.shield(child.outcome)

    def _is_left_open(self, outcome: AgentOutcome) -> bool:
        return outcome.status == "cancelled" and self.tree.root.token.reason in self.leave_open


def _stopped(error: BudgetExhausted, limit: Limit | None) -> AgentOutcome:
    status: AgentStatus = "limit"
    return AgentOutcome(status, code=error.code, detail=str(error), limit=str(limit) if limit else error.limit)
