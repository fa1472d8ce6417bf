"""Where a debate stands in the run tree: the root of its run, or a called agent; each turn is a node below."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from desktop.conversation.debate_ends import Stop
from desktop.conversation.endings import Ending
from desktop.conversation.runtime import Runtime
from desktop.conversation.side_spec import SideSpec
from desktop.domain.agent import AgentOutcome
from desktop.domain.cancellation import RunMeta
from desktop.domain.errors import BudgetExhausted, KnownError
from desktop.domain.ids import AgentId
from desktop.domain.run_tree import NodeState
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tree import RunTree, TreeNode, exhausted

_log = logging.getLogger(__name__)


class DebatePlace:
    """``open`` it first, ``close`` it last; ``meta`` is what all turns have in common. ``called``: the debate has its
    place already, below who called it."""

    def __init__(self, runtime: Runtime, meta: RunMeta, agent_id: AgentId, *, called: bool) -> None:
        self._runtime = runtime
        self._meta = meta
        self._agent_id = agent_id
        self._live: LiveRuns | None = runtime.live
        self._own = runtime.live if not called else None
        self._tree: RunTree | None = None

    async def open(self) -> BudgetTracker | None:
        """The budget of the run's tree; None: it has no tree of its own. Raises what the store raises."""
        if self._own is not None:
            self._tree = await self._own.open(self._meta, self._agent_id)
        return self._tree.root.budget if self._tree is not None else None

    @contextmanager
    def turn(self, spec: SideSpec, label: str, under: BudgetTracker) -> Iterator[tuple[RunMeta, BudgetTracker]]:
        """What a turn runs with. Where the run may have no agent more it has no node of its own."""
        node = self._begun(spec, label, under)
        if node is None or self._live is None or node.parent is None:
            yield self._meta, under
            return
        outcome = AgentOutcome("cancelled")
        try:
            with node.parent.idles(NodeState.JOINING, label):
                yield replace(self._meta, cancellation=node.token), node.budget
            cut_off = node.token.cancelled
            outcome = AgentOutcome("cancelled" if cut_off else "completed", detail=node.token.reason or "")
        finally:
            self._live.end(self._meta.run_id, node, outcome)

    def _begun(self, spec: SideSpec, label: str, under: BudgetTracker) -> TreeNode | None:
        above = self._meta.supervision
        if self._live is None or above is None or self._live.node_of(self._meta) is None:
            return None
        agent_id = AgentId(label or spec.agent, self._meta.thread_id)
        try:
            node = self._live.begin(
                self._meta, agent_id, above.spawn_child(self._agent_id), under=under, side=spec.side
            )
        except BudgetExhausted:
            return None
        node.does(NodeState.WORKING, model=str(spec.model))
        return node

    def judged(self, stop: Stop) -> Stop:
        """One whose time ran out ends at that limit (R-SUP-11)."""
        limit = self._tree.root.stopped if self._tree is not None else None
        if limit is None or stop.ending.reason != "cancelled":
            return stop
        error = exhausted(limit)
        return Stop("ended", Ending("budget", str(error), error.code, error.next_step, error.limit))

    async def close(self, ending: Ending) -> None:
        """It is over. A debate takes a turn that was cut off anew, so its journal always ends."""
        if self._own is None or self._tree is None:
            return
        try:
            await self._own.close(self._meta.run_id, AgentOutcome(ending.status, detail=ending.detail))
            await self._runtime.store.effects.forget(self._meta.run_id)
        except KnownError as error:
            _log.warning("the journal of run %s has no end: %s", self._meta.run_id, error)

    def forget(self) -> None:
        """Nothing of it stays."""
        if self._own is not None:
            self._own.forget(self._meta.run_id)
