"""The agents of the open thread's run, live, and what a person does with them: the Run panel.

While nobody watches, events only go into bounded trees; nothing is told. All that a person does is done at once, on
the loop that the runs are on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.errors import KnownError
from desktop.domain.runs.events import Event, RunEnded, RunTreeChanged
from desktop.domain.runs.tree import NodeFacts, NodeState, RunTreePort
from desktop.presenter.run_panel.budget import read_budget
from desktop.presenter.run_panel.nodes import AgentLine, AgentTree
from desktop.presenter.transcript.build import canonical

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge

TELL_AFTER = 100
"""Milliseconds in which what comes is told once."""
LOOK_AFTER = 1000
"""Milliseconds after which figures that nobody tells of are read again: time, and the sums of branches."""
KEPT = 16
"""Runs that are over whose agents stay in memory."""

Requests = Callable[[], Sequence[PermissionRequest]]


class RunTreeViewModel(QObject):
    """The view-model of the Run panel.

    ``shown``: another run, or none; ``moved``: the same run has news; ``said`` a sentence for the person;
    ``request_wanted`` and ``thread_wanted`` lead elsewhere. With a ``bridge`` a thread whose runs were all before this
    start shows the last of them as it is kept.
    """

    shown = Signal()
    moved = Signal()
    said = Signal(str)
    request_wanted = Signal(object)
    thread_wanted = Signal(str)

    def __init__(
        self, service: RunTreePort, requests: Requests, titles: Mapping[str, str], bridge: Bridge | None = None
    ) -> None:
        super().__init__()
        self._service, self._requests, self._titles, self._bridge = service, requests, titles, bridge
        self._trees: OrderedDict[str, AgentTree] = OrderedDict()
        self._run_of: dict[str, str] = {}
        self._watching = False
        self._told = 0
        self.thread_id = ""
        self.tree: AgentTree | None = None
        self._later = QTimer(self, singleShot=True, interval=TELL_AFTER)
        self._later.timeout.connect(self._tell)
        self._again = QTimer(self, interval=LOOK_AFTER)
        self._again.timeout.connect(self._look_again)

    # -- events of the runtime ----------------------------------------------------------------------------------------

    def take(self, events: Sequence[Event]) -> None:
        """Take in a batch of events from the bridge."""
        for event in events:
            if isinstance(event, RunTreeChanged) and event.thread_id:
                self._changed(event)
            elif isinstance(event, RunEnded) and (tree := self._trees.get(event.run_id)) is not None:
                tree.end()
                self._forget_oldest()
        if self._watching and self._has_news and not self._later.isActive():
            self._later.start()

    def _changed(self, event: RunTreeChanged) -> None:
        tree = self._trees.get(event.run_id)
        fresh = tree is None
        if tree is None:
            tree = self._trees[event.run_id] = AgentTree(event.run_id, event.thread_id)
        come = {node.thread_id for node in event.nodes if tree.get(node.path) is None}
        tree.apply(self._titled(event.nodes))
        for thread_id in {event.thread_id, *come} if fresh else come:
            self._run_of[thread_id] = event.run_id
        if self._run_of.get(self.thread_id) == event.run_id and self.tree is not tree:
            self._show(tree)
            self._recall()

    def _titled(self, nodes: Sequence[NodeFacts]) -> Sequence[NodeFacts]:
        """Agents under the names that a person gave them, also where another waits for them."""
        titles, found = self._titles, []
        for facts in nodes:
            joined = facts.doing.partition("/")[0] if facts.state is NodeState.JOINING else ""
            if facts.agent in titles or joined in titles:
                agent = titles.get(facts.agent, facts.agent)
                facts = replace(facts, agent=agent, doing=titles.get(joined, facts.doing))
            found.append(facts)
        return found

    def _forget_oldest(self) -> None:
        over = [run_id for run_id, tree in self._trees.items() if tree.over and tree is not self.tree]
        for run_id in over[: max(0, len(over) - KEPT)]:
            del self._trees[run_id]
            self._run_of = {thread: run for thread, run in self._run_of.items() if run != run_id}

    @property
    def _has_news(self) -> bool:
        return self.tree is not None and self.tree.changes != self._told

    def _tell(self) -> None:
        if self._watching and self.tree is not None:
            self._told = self.tree.changes
            self._keep_looking()
            self.moved.emit()

    # -- which run ----------------------------------------------------------------------------------------------------

    @property
    def run_id(self) -> str:
        """The run that shows, or ""."""
        return self.tree.run_id if self.tree is not None else ""

    @property
    def live(self) -> bool:
        """Whether the run is under way."""
        return self.tree is not None and not self.tree.over

    @property
    def own_path(self) -> str:
        """The agent whose thread is open, where that is one below the run's own; or ""."""
        return self.tree.path_in(self.thread_id) if self.tree is not None else ""

    def lines(self) -> Sequence[AgentLine]:
        """The agents that show, from the top."""
        return self.tree.lines() if self.tree is not None else ()

    def line(self, path: str) -> AgentLine | None:
        """The line of one agent."""
        return self.tree.line(path) if self.tree is not None else None

    def open_thread(self, thread_id: str) -> None:
        """Show the latest run that the thread, or an agent in it, had."""
        if thread_id != self.thread_id:
            self._service.watch(thread_id, self.thread_id)
            self.thread_id = thread_id
            self._show(self._trees.get(self._run_of.get(thread_id, "")))
            self._recall()

    def _show(self, tree: AgentTree | None) -> None:
        self.tree = tree
        self._told = tree.changes if tree is not None else 0
        self._keep_looking()
        self.shown.emit()

    def _recall(self) -> None:
        """Read what is kept of a run that was not told of since the start of the app, once somebody looks."""
        known = self.tree is not None and self.tree.root is not None
        if self._bridge is not None and self._watching and self.thread_id and not known:
            self._bridge.spawn(self._recalled(self.thread_id), name="read the agents of a run")

    async def _recalled(self, thread_id: str) -> None:
        kept = await self._service.last(thread_id)
        if kept is None or not kept.nodes or self._run_of.get(thread_id, kept.run_id) != kept.run_id:
            return
        own = next((facts.thread_id for facts in kept.nodes if not facts.parent), thread_id)
        tree = self._trees.setdefault(kept.run_id, AgentTree(kept.run_id, own))
        tree.fill(self._titled(kept.nodes))
        for known in {thread_id, *tree.threads()}:
            self._run_of.setdefault(known, kept.run_id)
        self._forget_oldest()
        if thread_id == self.thread_id:
            self._show(tree)

    def watch(self, watching: bool) -> None:
        """Tell whether the panel is on the screen."""
        self._watching = watching
        if watching:
            self.look()
            self._recall()
        else:
            self._later.stop()
        self._keep_looking()

    def _keep_looking(self) -> None:
        wanted = self._watching and self.live
        if wanted and not self._again.isActive():
            self._again.start()
        elif not wanted:
            self._again.stop()

    def look(self) -> None:
        """Read how all agents of the run stand now."""
        self._read()
        self._tell()

    def _look_again(self) -> None:
        self._read()
        if self._has_news and not self._later.isActive():
            self._later.start()

    def _read(self) -> None:
        """A run that is over by now told its end, or will."""
        if self.live and self.tree is not None:
            with suppress(KnownError):
                self.tree.apply(self._titled(self._service.facts(self.tree.run_id)))

    def fold(self, path: str, folded: bool) -> None:
        """Open or fold a branch."""
        if self.tree is not None:
            self.tree.fold(path, folded)
            self.moved.emit()

    # -- what a person does -------------------------------------------------------------------------------------------

    def toggle_pause(self, path: str) -> None:
        """Pause a branch, or let it go on."""
        line = self.line(path)
        if line is None or line.facts.state.over or line.facts.stopping:
            return
        paused = line.facts.pause_asked
        self._do(lambda: (self._service.resume if paused else self._service.pause)(self.run_id, path))

    def cancel(self, path: str) -> None:
        """End a branch now."""
        self._do(lambda: self._service.cancel(self.run_id, path))

    def living_below(self, path: str) -> int:
        """How many agents below it would end if it was stopped."""
        under = self.tree.under(path) if self.tree is not None else ()
        return sum(not facts.state.over and not facts.stopping for facts in under)

    def change_budget(self, path: str, texts: Mapping[str, str]) -> dict[str, str]:
        """Take over what was typed; what is wrong with each limit, or nothing where it counts from now on."""
        self.look()
        line = self.line(path)
        if line is None or line.facts.state.over:
            return {"": "This agent has ended."}
        budget, wrong = read_budget(line.facts, texts)
        if budget is None:
            return wrong
        try:
            self._service.change_budget(self.run_id, path, budget)
        except KnownError as error:
            return {"": error.advice}
        self.look()
        self.said.emit(f"The budget of {line.facts.agent[:60]} is changed.")
        return {}

    def request_of(self, path: str) -> PermissionRequest | None:
        """The request with which an agent waits for the person, or None."""
        facts = self.tree.get(path) if self.tree is not None else None
        if facts is None or facts.state is not NodeState.WAITING:
            return None
        asked = [request for request in self._requests() if request.run_id == self.run_id]
        return max(
            asked,
            default=None,
            key=lambda r: (
                r.node == path,
                not r.node,
                r.thread_id == facts.thread_id,
                canonical(r.tool) == canonical(facts.doing),
                any(facts.agent == self._titles.get(name, name) for name in r.chain),
                -r.asked_at,
            ),
        )

    def thread_of(self, path: str) -> str:
        """Where an agent writes, if that is not the open thread."""
        facts = self.tree.get(path) if self.tree is not None else None
        return facts.thread_id if facts is not None and facts.thread_id != self.thread_id else ""

    def go(self, path: str) -> None:
        """Go where an agent's row leads: to the request that it waits with, or else to its thread."""
        request = self.request_of(path)
        if request is not None:
            self.request_wanted.emit(request)
        elif thread_id := self.thread_of(path):
            self.thread_wanted.emit(thread_id)

    def open_thread_of(self, path: str) -> None:
        """Open the thread in which an agent writes."""
        if thread_id := self.thread_of(path):
            self.thread_wanted.emit(thread_id)

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        except KnownError as error:
            self.said.emit(error.advice)
        self.look()
