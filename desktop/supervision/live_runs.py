"""The chats' runs that are at work: each with its tree and its journal, reached through two layers of middleware.

A chat's loop knows nothing of this. Its model requests pass ``models`` (pause, budget, the shared queue), its tool
calls pass ``calls`` (pause, the journal), and what its questions to a person cost in time is heard on the bus.
Whose a call is says its thread, and within a thread the node that its metadata names.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

from desktop.domain.errors import BudgetExhausted, BugError, NotFound
from desktop.domain.ids import AgentId
from desktop.domain.models import ModelAnswer
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.effects import EffectLog
from desktop.domain.runs.events import Event, EventSink, RunTreeChanged, ToolCallAnswered, ToolCallWaiting
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import CallNext, ChatContext, FunctionContext
from desktop.domain.runs.supervision import ExecutionBudget, Priority, Supervision
from desktop.domain.runs.tree import BESIDE, NodeFacts, NodeState
from desktop.domain.tools import ToolSpec
from desktop.recovery.effect_journal import EffectJournal
from desktop.recovery.history import CallHistories
from desktop.recovery.journal import CallJournal
from desktop.supervision.attention import Attention
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.choke_point import ModelAdmission
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.tree import ROOT, Publish, RunTree, TreeNode, cut_off

LEFT = "its run is over"


class LiveRuns:
    """``open`` a run before its first request, ``close`` it after its last; ``hear`` every event of the bus.

    ``redact`` and ``mask`` are those of ``EffectJournal``; ``publish`` is told of changed trees; ``histories`` has what
    earlier runs left open.
    """

    def __init__(
        self,
        log: EffectLog,
        calls: CallJournal,
        publish: EventSink,
        *,
        queue: ModelQueue | None = None,
        redact: Callable[[str], str] = lambda text: text,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        self._log = log
        self._publish = publish
        self._redact = redact
        self._mask = mask
        self._trees: dict[str, RunTree] = {}
        self._below: dict[tuple[str, str], list[TreeNode]] = {}
        self._lent: set[str] = set()
        self._beside: dict[tuple[str, str], RunTree] = {}
        self.attention = Attention()
        self._waiting: dict[str, tuple[str, ExitStack]] = {}
        self.histories = CallHistories(self._stopped)
        self.journaled = calls
        self.models = ModelGate(self, calls, queue or ModelQueue())
        self.calls = CallGate(self, calls)

    async def open(self, meta: RunMeta, agent_id: AgentId, *, where: str = "the run's budget") -> RunTree:
        """The tree of a run that begins, with ``tree.root.budget`` for its loop. BugError without a place."""
        if meta.supervision is None:
            raise BugError(f"run {meta.run_id} has no place in a tree")
        journal = EffectJournal(meta.run_id, self._log, redact=self._redact, mask=self._mask)
        await journal.load()
        tree = self._grown(meta, agent_id, meta.supervision, where)
        self.journaled.open(journal)
        return tree

    def _grown(
        self, meta: RunMeta, agent_id: AgentId, supervision: Supervision, where: str, publish: Publish | None = None
    ) -> RunTree:
        thread_id, run_id = meta.thread_id, meta.run_id

        def tell(nodes: Sequence[NodeFacts]) -> None:
            self._publish(RunTreeChanged(thread_id=thread_id, run_id=run_id, nodes=tuple(nodes)))

        told, watched = publish or tell, self.attention.holds
        tree = RunTree(agent_id, supervision, meta.cancellation, where=where, publish=told, watched=watched)
        tree.root.budget.told = True
        self._trees[run_id] = tree
        return tree

    @contextmanager
    def lend(self, meta: RunMeta, agent_id: AgentId, *, beside: str = "") -> Iterator[None]:
        """A tree for what belongs to no run, such as a judge's work. Its agents show below the first agent of the run
        ``beside``, under way or not, if one is named."""
        mark, thread_id = f"{meta.run_id[:8]}{BESIDE}", meta.thread_id

        def tell(nodes: Sequence[NodeFacts]) -> None:
            below = tuple(_grafted(facts, mark) for facts in nodes if facts.parent)
            if below:
                self._publish(RunTreeChanged(thread_id=thread_id, run_id=beside, nodes=below))

        tree = self._grown(meta, agent_id, meta.place(), "the run's budget", tell if beside else None)
        if beside:
            self._beside[(beside, mark)] = tree
        try:
            yield
        finally:
            self._beside.pop((beside, mark), None)
            tree.end(tree.root, AgentOutcome("completed"))
            self.forget(meta.run_id)

    # -- agents below (R-AAT-4, R-AAT-8) ------------------------------------------------------------------------------

    def begin(
        self,
        meta: RunMeta,
        agent_id: AgentId,
        supervision: Supervision,
        *,
        thread_id: str = "",
        under: BudgetTracker | None = None,
        side: str = "",
    ) -> TreeNode:
        """A place below whoever makes the call that ``meta`` belongs to, for an agent or one side's turn. Its calls are
        those in ``thread_id``, by default the caller's. ``end`` it. Raises BudgetExhausted (R-SUP-5).

        A call of a run without a tree, as of a skill that a person tries, gets one for as long as anybody is below it.
        """
        node = self._added(meta, self._caller(meta, supervision), agent_id, supervision, under)
        node.side, node.thread_id = side, thread_id or meta.thread_id
        self._below.setdefault((meta.run_id, node.thread_id), []).append(node)
        return node

    def nest(
        self,
        meta: RunMeta,
        agent_id: AgentId,
        *,
        under: BudgetTracker | None = None,
        budget: ExecutionBudget | None = None,
        priority: Priority | None = None,
    ) -> TreeNode:
        """A place for an agent that works within a call of ``meta``, in the same thread: its calls are those whose
        metadata name its ``path`` as their ``node``. ``budget`` and ``priority`` are what is asked for it; it never
        counts more than its caller, and else as much. Otherwise as ``begin``."""
        caller = self._caller(meta, meta.place())
        rank = caller.supervision.priority_for_child(priority)
        place = caller.supervision.spawn_child(caller.agent_id, execution_budget=budget, priority=rank)
        node = self._added(meta, caller, agent_id, place, under)
        node.thread_id = meta.thread_id
        return node

    def _caller(self, meta: RunMeta, supervision: Supervision) -> TreeNode:
        parent = self.node_of(meta)
        if parent is None:
            above = meta.supervision or supervision
            parent = self._grown(meta, above.root_id, above, "the run's budget").root
            self._lent.add(meta.run_id)
        return parent

    def _added(
        self, meta: RunMeta, parent: TreeNode, agent_id: AgentId, supervision: Supervision, under: BudgetTracker | None
    ) -> TreeNode:
        parent.spawned += 1
        path = f"{parent.path}.{parent.spawned}"
        try:
            node = self._trees[meta.run_id].add(
                parent, path, agent_id, supervision, under=under, token=meta.cancellation
            )
        except BudgetExhausted:
            self._return_tree(meta.run_id)
            raise
        node.budget.told = True
        return node

    def end(self, run_id: str, node: TreeNode, outcome: AgentOutcome) -> None:
        """Note how an agent ended and free its slot. Harmless when its run is over."""
        for key, nodes in list(self._below.items()):
            if key[0] == run_id and node in nodes:
                nodes.remove(node)
                if not nodes:
                    del self._below[key]
        tree = self._trees.get(run_id)
        if tree is None:
            node.token.detach()
            return
        tree.end(node, outcome)
        journal = self.journaled.journal(run_id)
        if journal is not None:
            journal.end_agent(node.path, outcome)
        self._return_tree(run_id)

    def _return_tree(self, run_id: str) -> None:
        tree = self._trees[run_id] if run_id in self._lent else None
        if tree is not None and all(node.over for node in tree.branch(tree.root) if node is not tree.root):
            self._lent.discard(run_id)
            tree.end(tree.root, AgentOutcome("completed"))
            self._trees.pop(run_id).close()

    def node_of(self, meta: RunMeta) -> TreeNode | None:
        """The tree node that a call counts for: the agent that it names, or that of its thread."""
        return self._node_in(meta.run_id, meta.thread_id, meta.node)

    def _node_in(self, run_id: str, thread_id: str, path: str) -> TreeNode | None:
        tree = self._trees.get(run_id)
        named = tree.nodes.get(path) if tree is not None and path else None
        if named is not None and not named.over:
            return named
        nodes = self._below.get((run_id, thread_id))
        return nodes[-1] if nodes else self.node(run_id)

    # -- the end ------------------------------------------------------------------------------------------------------

    async def close(self, run_id: str, outcome: AgentOutcome, *, leave_open: bool = False) -> None:
        """The run is over, and its journal has its terminal entry (R-JRN-5); not with ``leave_open``, when it is to be
        gone on with."""
        tree = self._trees.get(run_id)
        if tree is not None:
            _end_below(tree, None if leave_open else self.journaled.journal(run_id))
            tree.end(tree.root, outcome)
        journal = self.forget(run_id)
        if journal is not None and not leave_open:
            await journal.end(outcome.status, outcome.detail)

    async def never_began(self, run_id: str, outcome: AgentOutcome) -> None:
        """The terminal entry of a run that ended before it was opened, as for want of a model: its only one."""
        journal = EffectJournal(run_id, self._log, redact=self._redact, mask=self._mask)
        await journal.end(outcome.status, outcome.detail)

    def forget(self, run_id: str) -> EffectJournal | None:
        """Nothing of this run stays here. Harmless for one that is closed."""
        for request_id, (owner, held) in list(self._waiting.items()):
            if owner == run_id:
                del self._waiting[request_id]
                held.close()
        tree = self._trees.pop(run_id, None)
        if tree is not None:
            tree.close()
        self._lent.discard(run_id)
        self.histories.forget(run_id)
        for below in [below for below in self._below if below[0] == run_id]:
            del self._below[below]
        journal = self.journaled.close(run_id)
        if journal is not None:
            journal.hurry()
        return journal

    def summarised(self, meta: RunMeta, value: Any) -> None:
        """A summary of older messages of a thread, kept for later runs in the log of this one."""
        node = self.node_of(meta)
        if node is not None:
            self.journaled.summarised(meta.run_id, node.path, meta.thread_id, value)

    def tree(self, run_id: str) -> RunTree:
        """To pause, resume, cancel, and change budgets. Raises NotFound."""
        tree = self._trees.get(run_id)
        if tree is None:
            raise NotFound("This run is over.")
        return tree

    def placed(self, run_id: str, path: str) -> tuple[RunTree, str]:
        """The tree of a place as it was told, and the place in that. Raises NotFound."""
        mark, found, inside = path.partition(BESIDE)
        tree = self._beside.get((run_id, mark + BESIDE)) if found else None
        return (tree, inside) if tree is not None else (self.tree(run_id), path)

    def cancel_in(self, thread_id: str, reason: str) -> bool:
        """End the called agent that works in this thread, with all below it; False when there is none."""
        for (run_id, below), nodes in self._below.items():
            living = [node for node in nodes if not node.over] if below == thread_id else []
            if living and run_id in self._trees:
                self._trees[run_id].cancel(living[0].path, reason)
                return True
        return False

    def facts(self, run_id: str) -> tuple[NodeFacts, ...]:
        """All agents that show with a run, parents first. Raises NotFound."""
        beside = [
            _grafted(facts, mark)
            for (owner, mark), tree in self._beside.items()
            if owner == run_id
            for facts in tree.facts()
            if facts.parent
        ]
        own = self._trees.get(run_id)
        if own is None and not beside:
            raise NotFound("This run is over.")
        return (*(own.facts() if own is not None else ()), *beside)

    def node(self, run_id: str) -> TreeNode | None:
        """The agent of the run itself."""
        tree = self._trees.get(run_id)
        return tree.root if tree is not None else None

    def _stopped(self, run_id: str, reason: str) -> None:
        root = self.node(run_id)
        if root is not None:
            root.token.cancel(reason)

    @asynccontextmanager
    async def calling(self, meta: RunMeta, tool: str) -> AsyncIterator[None]:
        """Around a call, and what it does in a copy before: a paused agent makes none. ``tool`` "": not shown."""
        node = self.node_of(meta)
        if node is None:
            yield
            return
        await node.may_call()
        before = (node.state, node.doing)
        if tool:
            node.does(NodeState.CALLING, tool)
        try:
            yield
        finally:
            if tool and not node.over:
                node.does(*before)

    def hear(self, event: Event) -> None:
        """Questions to a person stand the run's clock, if nobody else works (R-SUP-10)."""
        if isinstance(event, ToolCallWaiting):
            node = self._node_in(event.run_id, event.thread_id, event.request.node)
            key = event.request.request_id
            if node is not None and key not in self._waiting:
                held = ExitStack()
                held.enter_context(node.waits(event.request.tool))
                self._waiting[key] = (event.run_id, held)
        elif isinstance(event, ToolCallAnswered):
            _, waited = self._waiting.pop(event.request_id, ("", None))
            if waited is not None:
                waited.close()


class ModelGate:
    """Chat-level layer: the one choke point before a model request (R-SUP-7, R-SUP-14), which is journaled."""

    name = "supervision"

    def __init__(self, runs: LiveRuns, journal: CallJournal, queue: ModelQueue) -> None:
        self._runs = runs
        self._journal = journal
        self._queue = queue

    async def process(self, context: ChatContext, call_next: CallNext) -> None:
        """Wait for pause, budget and queue, then make the request. Raises BudgetExhausted, CancellationError."""
        said = self._runs.histories.answered(context.meta)
        if said is not None:
            context.response = ModelAnswer(said)
            return
        node = self._runs.node_of(context.meta)
        if node is None:
            await call_next()
            return
        model = str(context.request.model) if context.request is not None else ""
        async with ModelAdmission(node, self._queue, context.meta.cancellation, model) as admission:
            context.rest = admission.rest
            await self._journal.ask(node.path, context, call_next)


class CallGate:
    """Function-level layer behind the gates: a paused run makes no call, and each that is made is journaled."""

    name = "supervision"

    def __init__(self, runs: LiveRuns, journal: CallJournal) -> None:
        self._runs = runs
        self._journal = journal

    async def process(self, context: FunctionContext, call_next: CallNext) -> None:
        """Wait while the agent is paused, then make the call within the journal."""
        if self._runs.node_of(context.meta) is None:
            await call_next()
            return
        spec = context.definition
        hidden = (
            isinstance(spec, ToolSpec) and spec.visibility == "hidden"
        )  # how an agent works inside is no call of it
        async with self._runs.calling(context.meta, "" if hidden else context.tool):
            await self._journal.process(context, call_next)


def _end_below(tree: RunTree, journal: EffectJournal | None) -> None:
    """Agents do not outlive the one that they work for: what still winds up has ended, the last child first."""
    for node in reversed(list(tree.branch(tree.root))):
        if node is not tree.root and not node.over:
            node.token.cancel(LEFT)
            outcome = cut_off(node)
            tree.end(node, outcome)
            if journal is not None:
                journal.end_agent(node.path, outcome)


def _grafted(facts: NodeFacts, mark: str) -> NodeFacts:
    """A node of a run below another, with paths marked so that both trees can be shown as one."""
    parent = facts.parent if facts.parent == ROOT else f"{mark}{facts.parent}"
    return replace(facts, path=f"{mark}{facts.path}", parent=parent)
