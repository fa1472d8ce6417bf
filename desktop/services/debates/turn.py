"""A side turn of a debate in its place: inside the agent-level chain, with a slot for the time that it takes, below
whoever called the debate as a tool.

A debate holds a slot for a turn and not for its whole length, so that many debates take turns, too (R-MW-6, R-SUP-14).
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

from desktop.agents.turn import TurnInput
from desktop.domain.debates import DebateSetup
from desktop.domain.definitions import SideName
from desktop.domain.ids import AgentId
from desktop.domain.jobs import Unattended
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import AgentContext, MiddlewareTermination, Start, StartedBy
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.supervision import ExecutionBudget, Supervision
from desktop.pipeline.compose import compose
from desktop.services.debates.setup import DEBATE, spec_of
from desktop.services.debates.state import Debate
from desktop.services.turns.run_frame import CalledBy
from desktop.services.turns.runtime import Runtime, waits
from desktop.services.turns.side_result import SideResult
from desktop.services.turns.side_turn import SideTurn
from desktop.services.turns.spec import SideSpec
from desktop.supervision.budgets import BudgetTracker


async def take_in_turn(turn: SideTurn, given: TurnInput, *, slot: bool = True) -> SideResult:
    """Raises CancellationError while it waits for a slot, MiddlewareTermination, and what ``SideTurn.take`` raises.
    Not ``slot``: whoever called has one."""
    layers = turn.runtime.agent_layers
    if not layers:
        return await _taken(turn, given, turn.meta, slot)
    context = AgentContext(turn.meta, agent=turn.spec.agent, waits=partial(waits, turn.runtime.bus, turn.meta))

    async def core() -> None:
        context.result = await _taken(turn, given, context.meta, slot)

    await compose(layers)(context, core)
    if not isinstance(context.result, SideResult):
        raise MiddlewareTermination("Middleware stopped this turn before it began.")
    return context.result


async def _taken(turn: SideTurn, given: TurnInput, meta: RunMeta, slot: bool) -> SideResult:
    async with AsyncExitStack() as held:
        if slot:
            async with Interrupt(meta.cancellation):
                await held.enter_async_context(turn.runtime.slots.slot())
        return await replace(turn, meta=meta).take(given)


def spec_below(setup: DebateSetup, side: SideName, above: CalledBy | None) -> SideSpec:
    """A side as it runs; below a caller never with more than that has, and named after it (R-AAT-4, R-AAT-9)."""
    spec = spec_of(setup, side)
    if above is None:
        return spec
    return replace(spec, within=above.allowed, chain=(*above.chain, spec.agent, *spec.chain))


def bounds(
    runtime: Runtime, debate: Debate, above: CalledBy | None, root: BudgetTracker | None = None
) -> BudgetTracker:
    """The app's budget for one run, which is that of the tree's ``root``, within the caller's if there is one, and the
    debate's own for all of its runs."""
    setup, used = debate.setup, debate.spent
    whole = root or runtime.tracker(above.budget if above is not None else None)
    own = ExecutionBudget(max_tokens=setup.max_tokens, max_cost_usd=setup.max_cost)
    tracker = whole.child(own, "the debate")
    tracker.used = replace(used, cost_usd=used.cost_usd or 0.0)
    return tracker


def meta_of(
    runtime: Runtime,
    debate: Debate,
    run_id: str,
    token: CancellationToken,
    above: CalledBy | None,
    unattended: Unattended | None,
) -> RunMeta:
    """What all turns of a run have in common. Below a caller its permission holds, never another one (R-CRON-1)."""
    thread_id = debate.thread.thread_id
    if above is not None:
        return replace(above.meta, thread_id=thread_id)
    node = Supervision.root(
        AgentId(debate.setup.agent or DEBATE, thread_id),
        run_id=run_id,
        session_id=thread_id,
        execution_budget=runtime.budget,
        spawn_budget=runtime.spawn_budget,
    )
    return RunMeta(run_id, token, thread_id, node, unattended=unattended, project=debate.thread.project)


def start_of(runtime: Runtime, debate: Debate, meta: RunMeta, above: CalledBy | None) -> AgentContext:
    """The start of a whole debate for the agent-level middleware; its turns are no starts."""
    agent = debate.setup.agent or DEBATE
    by: StartedBy = "person"
    if above is not None:
        by = "model"
    elif meta.unattended is not None:
        by = "job"
    return AgentContext(meta, agent=agent, waits=partial(waits, runtime.bus, meta), start=Start(agent, by))
