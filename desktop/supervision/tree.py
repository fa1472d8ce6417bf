"""The live tree of a run: who is at work, what each may use, and how a person steps in.

Nothing here waits or does anything: agents ask their node before each call, and are told by their token to stop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from desktop.domain.errors import BudgetExhausted, NotFound
from desktop.domain.ids import AgentId
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.supervision import ExecutionBudget, Priority, Supervision
from desktop.domain.runs.tree import NodeFacts, NodeState
from desktop.supervision.agent_slots import AgentSlot, AgentSlots
from desktop.supervision.budgets import BudgetTracker

ROOT = "0"
MAX_ENDED = 200
INTERVAL_S = 0.1
DEADLINE = "the time of its budget is used up"

Publish = Callable[[Sequence[NodeFacts]], None]
Watched = Callable[[Collection[str]], bool]
"""Whether a person looks at one of these threads."""


class TreeNode:
    """One agent in the tree of a run.

    ``budget`` is that of its branch; ``outcome`` is set when it has ended; ``stopped`` when a budget of it, or of one
    above it, ran out in the middle of something; ``own_rounds`` is its own limit of rounds.
    """

    def __init__(
        self,
        tree: RunTree,
        path: str,
        agent_id: AgentId,
        supervision: Supervision,
        token: CancellationToken,
        budget: BudgetTracker,
        slot: AgentSlot,
        parent: TreeNode | None,
    ) -> None:
        self.path = path
        self.agent_id = agent_id
        self.supervision = supervision
        self.token = token
        self.budget = budget
        self.slot = slot
        self.parent = parent
        self.children: dict[str, TreeNode] = {}
        self.outcome: asyncio.Future[AgentOutcome] = asyncio.get_running_loop().create_future()
        self.state = NodeState.WORKING
        self.doing = self.model = self.side = self.detail = ""
        self.started_at = time.time()
        self.ended_at: float | None = None
        self.final: tuple[float, float] = (0.0, 0.0)
        self.pause_asked = False
        self.stopped: Limit | None = None
        self.own_rounds: Limit | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.spawned = 0
        self.thread_id = supervision.session_id
        self._waits = 0
        self._before = (self.state, "")
        self._idle = 0
        self._tree = tree
        self._wake = asyncio.Event()
        budget.clock.work(1)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.ended_at is not None

    @property
    def held(self) -> bool:
        """Whether it, or a branch that it is in, is paused, or its place is taken: it makes no model call then."""
        return not self.slot.held or self.paused

    @property
    def paused(self) -> bool:
        """Whether a person has paused it or a branch that it is in."""
        at: TreeNode | None = self
        while at is not None:
            if at.pause_asked:
                return True
            at = at.parent
        return False

    @property
    def priority(self) -> Priority:
        """What it counts for in the queue of model requests (R-SUP-14). While a person looks at a thread of the run its
        agents count as HIGH, but for those that have a priority of their own."""
        own = self.supervision.priority
        inherited = self.parent is None or own is self._tree.root.supervision.priority
        return max(own, Priority.HIGH) if inherited and self._tree.watched else own

    # -- what the agent says ------------------------------------------------------------------------------------------

    def does(self, state: NodeState, doing: str = "", model: str = "") -> None:
        """What it does from now on, for the panel. One that has ended does nothing more, whatever winds up in it."""
        if self.over:
            return
        self.state, self.doing = state, doing
        if model:
            self.model = model
        self._tree.touch(self)

    async def may_call(self, *, model: bool = False) -> None:
        """Wait here while paused (R-SUP-6), until resumed or stopped. Only a model call waits for a place that another
        agent has taken. Raises CancellationError."""
        self.token.check()
        while self.paused or (model and not self.slot.held):
            state = NodeState.PAUSED if self.paused else NodeState.PREEMPTED
            self._wake.clear()
            self.does(state)
            with self._standing(person=state is NodeState.PAUSED):
                async with Interrupt(self.token):
                    await self._wake.wait()

    def wake(self) -> None:
        """Something about its place or a pause has changed."""
        self._wake.set()

    @contextmanager
    def waits(self, doing: str = "") -> Iterator[None]:
        """A person is waited for within (R-SUP-10); nests and may overlap."""
        if not self._waits:
            self._before = (self.state, self.doing)
        self.does(NodeState.WAITING, doing)
        try:
            with self._standing(person=True):
                yield
        finally:
            if not self._waits and not self.over:
                self.does(*self._before)

    @contextmanager
    def idles(self, state: NodeState, doing: str = "") -> Iterator[None]:
        """Inside the block the agent waits for a child, and its clock stands still."""
        self.does(state, doing)
        with self._standing(person=False):
            yield
        if not self.over and not self._idle:
            self.does(NodeState.WORKING)

    @contextmanager
    def _standing(self, *, person: bool) -> Iterator[None]:
        clock = self.budget.clock
        self._idle += 1
        self._waits += person
        if self._idle == 1:
            clock.work(-1)
        if person:
            clock.wait(1)
        try:
            yield
        finally:
            self._idle -= 1
            self._waits -= person
            if person:
                clock.wait(-1)
            if self._idle == 0 and not self.over:
                clock.work(1)

    def check_budget(self) -> None:
        """Raise BudgetExhausted before a model call that a budget here or above does not allow (R-SUP-7, R-SUP-8)."""
        if self.stopped is not None:
            raise exhausted(self.stopped)
        self.budget.check()

    def close_clock(self) -> None:
        """Stop the clock of its working time."""
        if self._idle == 0:
            self.budget.clock.work(-1)

    def facts(self) -> NodeFacts:
        """The node's state and usage as of now."""
        used, node, own = self.budget.used, self.supervision, self.own_rounds
        elapsed, waited = self.final if self.over else (self.budget.elapsed_s, self.budget.waited_s)
        return NodeFacts(
            path=self.path,
            parent=self.parent.path if self.parent is not None else "",
            agent=self.agent_id.type,
            state=self.state,
            priority=self.priority,
            depth=node.depth,
            budget=self.budget.budget,
            budget_from=self.budget.where,
            side=self.side,
            model=self.model,
            doing=self.doing,
            thread_id=self.thread_id,
            rounds=self.budget.rounds,
            tool_calls=self.budget.tool_calls,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cost_usd=used.cost_usd or 0.0,
            cost_known=self.budget.cost_known,
            tokens_estimated=self.budget.estimated,
            started_at=self.started_at,
            ended_at=self.ended_at,
            elapsed_s=elapsed,
            waited_s=waited,
            pause_asked=self.pause_asked,
            detail=self.detail,
            budget_changed=tuple(self.budget.changed.items()),
            stopping=self.token.cancelled and not self.over,
            own_rounds=int(own.value) if own is not None else 0,
            own_rounds_from=own.where if own is not None else "",
        )


class RunTree:
    """All agents of one run. ``publish`` is told what changed, at most once in ``INTERVAL_S`` seconds and once at the
    end; of agents that have ended the last ``MAX_ENDED`` stay. Used on the loop only; ``close`` it."""

    def __init__(
        self,
        agent_id: AgentId,
        supervision: Supervision,
        token: CancellationToken,
        *,
        where: str = "the run's budget",
        publish: Publish | None = None,
        watched: Watched = lambda _threads: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._publish = publish
        self._watched = watched
        self._changed: dict[str, TreeNode] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._ended: dict[str, TreeNode] = {}
        self.agent_slots = AgentSlots(supervision.spawn_budget, where, supervision.priority)
        self._by_slot: dict[int, TreeNode] = {}
        self.nodes: dict[str, TreeNode] = {}
        tracker = BudgetTracker(supervision.execution_budget, where=where, clock=clock)
        self.root = self._put(TreeNode(self, ROOT, agent_id, supervision, token, tracker, self.agent_slots.root, None))

    @property
    def watched(self) -> bool:
        """Whether a person looks at the thread of one of its agents."""
        return self._watched({node.thread_id for node in self.nodes.values()})

    # -- agents come and go -------------------------------------------------------------------------------------------

    def add(
        self,
        parent: TreeNode,
        path: str,
        agent_id: AgentId,
        supervision: Supervision,
        *,
        under: BudgetTracker | None = None,
        token: CancellationToken | None = None,
    ) -> TreeNode:
        """A child, which may take the place of a lesser agent (R-SUP-6). Raises BudgetExhausted (R-SUP-5). ``under``
        and ``token`` are a part of the parent's budget, and of what ends it, that are its own already."""
        slot, victim = self.agent_slots.acquire(supervision.priority)
        own = supervision.execution_budget
        inherited = own is parent.supervision.execution_budget
        budget = (under or parent.budget).child(ExecutionBudget() if inherited else own, f"the agent {agent_id}")
        ends = (token or parent.token).child()
        node = TreeNode(self, path, agent_id, supervision, ends, budget, slot, parent)
        parent.children[path] = self._put(node)
        if victim is not None:
            self.touch(self._by_slot[victim.number])
        return node

    def _put(self, node: TreeNode) -> TreeNode:
        self.nodes[node.path] = node
        self._by_slot[node.slot.number] = node
        self._arm(node)
        self.touch(node)
        return node

    def end(self, node: TreeNode, outcome: AgentOutcome) -> None:
        """Mark a node as ended, however it ended, and free its slot."""
        if node.over:
            return
        node.close_clock()
        node.final = (node.budget.elapsed_s, node.budget.waited_s)
        node.detail = outcome.detail
        node.does(NodeState(outcome.status))
        node.ended_at = time.time()
        self._disarm(node)
        del self._by_slot[node.slot.number]
        freed = self.agent_slots.release(node.slot)
        if freed is not None and freed.number in self._by_slot:
            self._by_slot[freed.number].wake()
            self.touch(self._by_slot[freed.number])
        node.token.detach()
        if not node.outcome.done():
            node.outcome.set_result(outcome)
        self._ended[node.path] = node
        self._forget_oldest()

    def _forget_oldest(self) -> None:
        while len(self._ended) > MAX_ENDED:
            path = next(iter(self._ended))
            node = self._ended.pop(path)
            self.nodes.pop(path, None)
            if node.parent is not None:
                node.parent.children.pop(path, None)

    def close(self) -> None:
        """The run is over: the last changes are told, and no timer is left."""
        for node in self.nodes.values():
            self._disarm(node)
        if self._timer is not None:
            self._timer.cancel()
        self._tell()

    # -- what a person does -------------------------------------------------------------------------------------------

    def find(self, path: str) -> TreeNode:
        """The node at a path. Raises NotFound."""
        node = self.nodes.get(path)
        if node is None:
            raise NotFound("This agent has ended long ago." if "." in path else "There is no such agent.")
        return node

    def pause(self, path: str) -> None:
        """The branch makes no further call; calls under way come to their end."""
        self._pause(self.find(path), True)

    def resume(self, path: str) -> None:
        """The branch goes on, unless one above it is paused too."""
        self._pause(self.find(path), False)

    def _pause(self, node: TreeNode, paused: bool) -> None:
        node.pause_asked = paused
        for one in self.branch(node):
            one.slot.paused = one.paused
            one.wake()
            self.touch(one)

    def cancel(self, path: str, reason: str = "cancelled") -> None:
        """End a branch now (R-CAN-10)."""
        node = self.find(path)
        node.token.cancel(reason)
        for one in self.branch(node):
            self.touch(one)

    def change_budget(self, path: str, budget: ExecutionBudget, where: str = "the Run panel") -> None:
        """Replace the budget of a branch. One above it still holds: a child cannot extend it (R-SUP-9)."""
        node = self.find(path)
        node.budget.change(budget, where)
        self._arm(node)
        self.touch(node)

    def branch(self, node: TreeNode) -> Iterator[TreeNode]:
        """The node and everything below it, from the top down."""
        yield node
        for child in tuple(node.children.values()):
            yield from self.branch(child)

    def facts(self) -> tuple[NodeFacts, ...]:
        """All of it, parents first."""
        return tuple(node.facts() for node in self.branch(self.root))

    # -- time and news ------------------------------------------------------------------------------------------------

    def _arm(self, node: TreeNode) -> None:
        """A branch whose time runs out is ended also in the middle of a long call."""
        self._disarm(node)
        left = node.budget.time_left_s
        if left is None or node.over:
            return
        if left <= 0 and node.stopped is None:
            deadline, where = node.budget.budget.deadline_s or 0.0, node.budget.where_of("deadline_s")
            limit = Limit("deadline_s", deadline, where, "budget")
            for one in self.branch(node):
                one.stopped = one.stopped or limit
            node.token.cancel(DEADLINE)
            return
        loop = asyncio.get_running_loop()
        node.timer = loop.call_later(max(left, 0.02), self._arm, node)

    def _disarm(self, node: TreeNode) -> None:
        if node.timer is not None:
            node.timer.cancel()
            node.timer = None

    def touch(self, node: TreeNode) -> None:
        """Note that a node has changed, to be told with the next batch of changes."""
        if self._publish is None:
            return
        self._changed[node.path] = node
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL_S, self._tell)

    def _tell(self) -> None:
        self._timer = None
        changed, self._changed = self._changed, {}
        if changed and self._publish is not None:
            self._publish([node.facts() for node in changed.values()])


def exhausted(limit: Limit) -> BudgetExhausted:
    """The stop that a used-up budget is."""
    return BudgetExhausted(f"The budget is used up: {limit}.", limit=str(limit), next_step="Raise the budget to go on.")


def cut_off(node: TreeNode, code: str = "") -> AgentOutcome:
    """How an agent ended that was stopped. A budget that ran out in the middle of something is an ordinary end, also
    where it was the run's (R-SUP-11)."""
    if node.stopped is None:
        at: TreeNode | None = node
        while at is not None and at.token.reason is None:  # one that a thread cancels hears of it a moment later
            at = at.parent
        return AgentOutcome("cancelled", code=code, detail=(at.token.reason or "") if at is not None else "")
    error = exhausted(node.stopped)
    return AgentOutcome("limit", code=error.code, detail=str(error), limit=error.limit)
