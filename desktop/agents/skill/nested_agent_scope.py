"""The place of an agent that works within its caller's call, in the tree of the run (R-SUP-5, R-SUP-8, R-CAN-10).

It shares thread and run with its caller, so the metadata of its calls name its node (``RunMeta.node``): what it asks a
model and calls is counted, paused and cancelled there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

from desktop.agents.skill.host import ChildTerms, Host
from desktop.domain.errors import AssentError, CancellationError, KnownError, LimitReached, ToolFailure
from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.agent import AgentOutcome, AgentStatus
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from desktop.pipeline.context import CallContext
from desktop.supervision.tree import TreeNode, cut_off, exhausted

STOPPED = "agent.stopped"
MAX_DETAIL = 600
BUG = "Something went wrong inside this agent; the log has the details."


@dataclass(frozen=True, slots=True)
class NestedAgentScope:
    """What the agent works with: its caller's host and call, both narrowed to its own node."""

    host: Host
    call: CallContext


@contextmanager
def nested_agent_scope(host: Host, call: CallContext, name: str) -> Iterator[NestedAgentScope]:
    """An agent called ``name`` lives within. Raises BudgetExhausted where there is no place for one more, and
    ToolFailure for one that was stopped while its caller goes on."""
    terms, host = host.terms, replace(host, terms=ChildTerms())
    if host.live is None:
        budget = host.budget.child(terms.budget or ExecutionBudget(), f"the skill {name}")
        yield NestedAgentScope(replace(host, budget=budget), call)
        return
    live, meta = host.live, call.meta
    agent_id = AgentId(name, call.invocation.context_id)
    node = live.nest(meta, agent_id, under=host.budget, budget=terms.budget, priority=terms.priority)
    node.does(NodeState.WORKING, model=str(host.model))
    own = replace(meta, cancellation=node.token, supervision=node.supervision, node=node.path)
    scope = NestedAgentScope(
        replace(host, budget=node.budget), replace(call, meta=own, invocation=replace(call.invocation, meta=own))
    )
    outcome = AgentOutcome("failed", detail=BUG)
    try:
        with _joined(node, name):
            yield scope
        node.token.check()  # whatever it made of being stopped
        outcome = AgentOutcome("completed")
    except asyncio.CancelledError:
        outcome = cut_off(node)
        raise
    except (CancellationError, KnownError) as error:
        told = _told(error, node, meta.cancellation, name)
        outcome = _outcome(told, node)
        if told is error:
            raise
        raise told from error
    finally:
        live.end(meta.run_id, node, outcome)


def _joined(node: TreeNode, name: str) -> AbstractContextManager[None]:
    """Mark the calling agent as waiting while this one works."""
    return node.parent.idles(NodeState.JOINING, name) if node.parent is not None else nullcontext()


def _told(error: AssentError, node: TreeNode, above: CancellationToken, name: str) -> AssentError:
    """What its caller hears: of an agent that was stopped alone, that it was, or at which limit."""
    if node.stopped is not None and not above.cancelled:
        return exhausted(node.stopped)
    if node.token.cancelled and not above.cancelled:
        return ToolFailure(f"{name} was stopped before it was done.", code=STOPPED)
    return error


def _outcome(told: AssentError, node: TreeNode) -> AgentOutcome:
    code = told.code if isinstance(told, KnownError) else ""
    if node.token.cancelled and not isinstance(told, LimitReached):
        return cut_off(node, code)
    limit = told.limit if isinstance(told, LimitReached) else ""
    status: AgentStatus = "limit" if limit or code.startswith(LimitReached.code) else "failed"
    return AgentOutcome(status, code=code, detail=str(told)[:MAX_DETAIL], limit=limit)
