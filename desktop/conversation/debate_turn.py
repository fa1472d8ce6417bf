"""A side turn of a debate in its place: inside the agent-level chain, with a slot for the time that it takes.

A debate holds a slot for a turn and not for its whole length, so that many debates take turns, too (R-MW-6, R-SUP-14).
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace

from desktop.conversation.side_turn import Given, SideResult, SideTurn
from desktop.domain.cancellation import RunMeta
from desktop.domain.middleware import AgentContext, MiddlewareTermination
from desktop.domain.scopes import Interrupt
from desktop.pipeline.compose import compose


async def take_in_turn(turn: SideTurn, given: Given) -> SideResult:
    """Raises CancellationError while it waits for a slot, MiddlewareTermination, and what ``SideTurn.take`` raises."""
    layers = turn.runtime.agent_layers
    if not layers:
        return await _taken(turn, given, turn.meta)
    context = AgentContext(turn.meta, agent=turn.spec.agent)

    async def core() -> None:
        context.result = await _taken(turn, given, context.meta)

    await compose(layers)(context, core)
    if not isinstance(context.result, SideResult):
        raise MiddlewareTermination("A middleware kept this turn from being taken.")
    return context.result


async def _taken(turn: SideTurn, given: Given, meta: RunMeta) -> SideResult:
    async with AsyncExitStack() as held:
        async with Interrupt(meta.cancellation):
            await held.enter_async_context(turn.runtime.slots.slot())
        return await replace(turn, meta=meta).take(given)
