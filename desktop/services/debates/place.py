"""Where a debate stands in the run tree: the root of its run, or a called agent; each side is a node below.

A side keeps its node for the whole run, so that what it has used is in one place, and a limit set for it, a pause or
its end hold for its later turns too. While the other side speaks it waits for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from functools import partial

from desktop.domain.errors import BudgetExhausted
from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.agent import AgentOutcome, AgentStatus
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.tree import NodeState
from desktop.services.debates.ends import DebateStop
from desktop.services.turns.run_frame import RunFrame
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.spec import SideSpec
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tree import TreeNode

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _SideNode:
    """The node of one side in the tree; ``rests`` is open while the other side has the turn."""

    node: TreeNode
    rests: ExitStack = field(default_factory=ExitStack)


class DebatePlace:
    """``open`` it first, ``close`` it last; ``meta`` is what all turns have in common. ``frame`` has the tree of the
    run, unless the debate has its place already, below who called it."""

    def __init__(self, runtime: Runtime, meta: RunMeta, agent_id: AgentId, frame: RunFrame) -> None:
        self._runtime = runtime
        self._meta = meta
        self._agent_id = agent_id
        self._frame = frame
        self._live: LiveRuns | None = runtime.live
        self._sides: dict[str, _SideNode] = {}

    async def open(self) -> BudgetTracker | None:
        """The budget of the run's tree; None: it has no tree of its own. Raises what the store raises."""
        return await self._frame.open_tree(self._meta, self._agent_id, where=self._runtime.set_by)

    @contextmanager
    def turn(
        self, spec: SideSpec, label: str, under: BudgetTracker, *, other: str = ""
    ) -> Iterator[tuple[RunMeta, BudgetTracker]]:
        """What a turn runs with; then it is the ``other`` side's. Where the run may have no agent more, the side has no
        node of its own."""
        side = self._side(spec, label, under)
        above = side.node.parent if side is not None else None
        if side is None or above is None:
            yield self._meta, under
            return
        node = side.node
        side.rests.close()
        node.does(NodeState.WORKING, model=str(spec.model))
        own = replace(self._meta, cancellation=node.token, supervision=node.supervision, node=node.path)
        try:
            with above.idles(NodeState.JOINING, label):
                yield own, node.budget
        finally:
            self._rest(side, other)

    def _side(self, spec: SideSpec, label: str, under: BudgetTracker) -> _SideNode | None:
        known = self._sides.get(spec.side)
        if known is not None or self._live is None or self._live.node_of(self._meta) is None:
            return known
        try:
            node = self._live.nest(self._meta, AgentId(label or spec.agent, self._meta.thread_id), under=under)
        except BudgetExhausted:
            return None
        node.side = spec.side
        made = self._sides[spec.side] = _SideNode(node)
        return made

    def _rest(self, side: _SideNode, other: str) -> None:
        """Until its next turn; a side that is cancelled meanwhile has ended at once."""
        node = side.node
        if node.token.cancelled:
            self._end(side)
            return
        node.budget.rests(True)
        side.rests.callback(node.budget.rests, False)
        side.rests.enter_context(node.idles(NodeState.JOINING, other))
        side.rests.callback(node.token.on_cancel(partial(_soon, asyncio.get_running_loop(), self._end, side)))

    def _end(self, side: _SideNode) -> None:
        node = side.node
        if self._live is not None and not node.over:
            status: AgentStatus = "cancelled" if node.token.cancelled else "completed"
            self._live.end(self._meta.run_id, node, AgentOutcome(status, detail=node.token.reason or ""))
        side.rests.close()

    def judged(self, stop: DebateStop) -> DebateStop:
        """One whose time ran out, or that of a side, ends at that limit (R-SUP-11)."""
        tree = self._frame.tree
        nodes = [tree.root if tree is not None else None, *(side.node for side in self._sides.values())]
        ending = self._frame.judged(stop.ending, nodes)
        return stop if ending is stop.ending else DebateStop("ended", ending)

    async def close(self, stop: DebateStop) -> None:
        """Close the debate's tree. A run that the closing app cut off keeps its journal open: its turn is gone on
        with."""
        self._end_sides()
        await self._frame.close_tree(stop.ending, cut_off=stop.ending.reason == "interrupted" and not stop.wanted)

    def forget(self) -> None:
        """Remove the debate's nodes from the tree."""
        self._end_sides()
        self._frame.forget()

    def _end_sides(self) -> None:
        for side in self._sides.values():
            self._end(side)
        self._sides.clear()


def _soon(loop: asyncio.AbstractEventLoop, end: Callable[[_SideNode], None], side: _SideNode, _reason: str) -> None:
    """On the cancelling thread, which may be any (R-CAN-12)."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(end, side)
