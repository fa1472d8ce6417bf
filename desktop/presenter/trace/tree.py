"""The tree of one run, grown entry by entry: agents, their rounds, the rounds' calls, and agents below those. Qt-free.

Entries come from the run under way or from the store; they may be incomplete, out of place or wrong (providers are
anybody's), so nothing here trusts an id to be known or an end to come.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.messages import Usage
from desktop.domain.runs.events import EndKind, end_kind
from desktop.domain.runs.traces import TraceEntry, TraceLog
from desktop.presenter.trace.calls import TraceCalls
from desktop.presenter.trace.node import Axis, Kind, NodeState, TraceNode
from desktop.presenter.trace.work import AtWork
from desktop.presenter.transcript.build import canonical

MAX_NODES = 20_000
DEEPEST = 24
"""Levels that are drawn further in; what is below hangs on the last."""
LONGEST = 120
_ENDS: Mapping[EndKind, NodeState] = {
    "done": "done",
    "stopped": "aborted",
    "interrupted": "aborted",
    "limit": "limit",
    "failed": "failed",
}
_CALLED: Mapping[str, NodeState] = {"done": "done", "aborted": "aborted"}
"""Statuses of agents that are called, beside the reasons for which a run ends."""
_STOPS: Mapping[str, NodeState] = {"error": "failed", "cut": "failed", "aborted": "aborted", "limit": "limit"}


class TraceTree:
    """``add`` takes entries in order. ``changes`` grows with everything that is to be drawn, ``shape`` with nodes.
    ``unmeasured`` rounds ended without a word of what they used. ``titles`` are what a person calls the agents."""

    def __init__(self, run_id: str, titles: Mapping[str, str] | None = None) -> None:
        self.run_id = run_id
        self.log = TraceLog()
        self.root: TraceNode | None = None
        self.changes = self.shape = self.nodes = self.left_out = 0
        self.rounds = self.own_rounds = self.unmeasured = 0
        self.usage = Usage(cost_usd=0.0)
        self._titles = titles or {}
        self._agents: dict[str, TraceNode] = {}
        self._rounds: dict[str, TraceNode] = {}
        self._work = AtWork()
        self._calls = TraceCalls(run_id, self._work, self._node, self._round_of, self._close_below)
        self._handlers = {
            "agent-start": self._agent_started,
            "turn-start": self._round_started,
            "message": self._said,
            "reasoning": self._said,
            "tool-call": self._called,
            "tool-waiting": self._calls.asked,
            "tool-answered": self._calls.answered,
            "tool-result": self._calls.result,
            "retry": self._retried,
            "error": self._erred,
            "turn-end": self._round_ended,
            "agent-complete": self._agent_over,
            "middleware": self._stood_around,
        }

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.root is not None and self.root.over

    @property
    def calls(self) -> int:
        """All calls of the run, also those of its agents."""
        return self._calls.count

    def axis(self, now: float) -> Axis:
        """The time axis of all bars."""
        root = self.root
        if root is None:
            return Axis(now, now, ())
        last = self.log.entries[-1].at if self.log.entries else now
        return Axis(root.started, root.ended if root.ended is not None else max(now, last), self._work.stills)

    def add(self, entry: TraceEntry) -> None:
        """Add one entry."""
        self.changes += 1
        kept = self.log.add(entry)
        if kept is None:
            return
        if self.root is None and kept.type != "agent-start":
            self._found_root(kept)
        self._handlers[kept.type](kept)
        self._work.look(kept.at)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _found_root(self, entry: TraceEntry) -> TraceNode:
        title = self._titles.get(entry.agent, entry.agent) or "agent"
        self.root = TraceNode("agent", title[:LONGEST], None, entry.at, self.run_id)
        self._agents[self.run_id] = self.root
        self.nodes += 1
        self.shape += 1
        return self.root

    def _node(self, kind: Kind, title: str, parent: TraceNode, entry: TraceEntry) -> TraceNode:
        node = TraceNode(kind, title[:LONGEST], parent, entry.at, entry.context)
        node.level, node.depth = min(parent.level + 1, DEEPEST), parent.depth + (kind == "agent")
        self.nodes += 1
        if kind == "call":
            node.call_id = f"#{self.nodes}"
        if self.nodes <= MAX_NODES:
            parent.add(node)
        else:
            self.left_out += 1
        self.shape += 1
        return node

    def _close_below(self, node: TraceNode, at: float, state: NodeState) -> None:
        """What has no end of its own ends with what is around it."""
        for child in node.children:
            if child.open_below:  # a round is over before its calls are
                self._close_below(child, at, state)
            if child.live:
                self._work.answered(child, at)
                child.state = child.state if child.over else state
                self._calls.end(child, at)

    # -- agents -------------------------------------------------------------------------------------------------------

    def _agent_of(self, entry: TraceEntry) -> TraceNode:
        """The agent that an entry is of; one that never started is made up."""
        if entry.context not in self._agents:
            self._agent_started(entry)
        return self._agents[entry.context]

    def _agent_started(self, entry: TraceEntry) -> None:
        root = self.root or self._found_root(entry)
        if entry.context == self.run_id:
            root.model = str(entry.data.get("model") or "")
            root.entries.append(entry)
            return
        if entry.context in self._agents:
            return
        host, name = self._host_of(entry, root), canonical(entry.agent or "agent")
        if host.kind == "call" and host.title in (canonical(str(entry.data.get("skill") or "")), name):
            node = host
            node.kind, node.depth = "agent", host.depth + 1
            self.shape += 1
        else:
            node = self._node("agent", name, host, entry)
            self._work.begin(node, busy=False)
        node.entries.append(entry)
        self._agents[entry.context] = node

    def _host_of(self, entry: TraceEntry, root: TraceNode) -> TraceNode:
        """Where an agent hangs: the call that it works for; where that is not known, the call of its name that runs in
        the agent above it, else the last one that runs there."""
        known = self._calls.known(entry.call)
        if known is not None:
            return known
        context = entry.ancestor if entry.ancestor in self._agents else self.run_id
        names = (canonical(str(entry.data.get("skill") or "")), canonical(entry.agent))
        running = self._calls.running_in(context)
        named = [node for node in running if node.title in names and node.kind == "call"]
        return (named or running or [self._rounds.get(context) or self._agents.get(context, root)])[-1]

    def _agent_over(self, entry: TraceEntry) -> None:
        node = self._agent_of(entry)
        node.entries.append(entry)
        state = _end_state(str(entry.data.get("status")))
        self._close_below(node, entry.at, "done" if state == "done" else "aborted")
        if not node.is_call:
            node.state = state
            self._work.end(node, entry.at)
        elif state == "limit":
            node.state = state  # what came of the call itself follows

    # -- rounds -------------------------------------------------------------------------------------------------------

    def _round_of(self, entry: TraceEntry) -> TraceNode:
        node = self._rounds.get(entry.context)
        return node if node is not None else self._round_started(entry)

    def _round_started(self, entry: TraceEntry) -> TraceNode:
        agent = self._agent_of(entry)
        before = self._rounds.get(entry.context)
        if before is not None and before.live:
            before.state = before.state if before.over else "done"
            self._work.end(before, entry.at)
        agent.rounds += 1
        self.rounds += 1
        self.own_rounds += agent is self.root
        given = entry.data.get("turnNumber")
        number = given if isinstance(given, int) and not isinstance(given, bool) else agent.rounds
        node = self._node("round", f"round {number}", agent, entry)
        node.number, node.state, node.model = number, "writing", agent.model
        node.entries.append(entry)
        self._rounds[entry.context] = node
        self._work.begin(node)
        return node

    def _said(self, entry: TraceEntry) -> None:
        node = self._round_of(entry)
        if node.entries[-1] is not entry:
            node.entries.append(entry)

    def _stood_around(self, entry: TraceEntry) -> None:
        """Middleware around an agent, or around the request of a round."""
        agent = self._calls.known(entry.call) or self._agent_of(entry)
        around = self._rounds.get(agent.context) if entry.data.get("level") == "chat" else None
        (around or agent).entries.append(entry)

    def _retried(self, entry: TraceEntry) -> None:
        node = self._round_of(entry)
        node.retries += 1
        self._said(entry)

    def _erred(self, entry: TraceEntry) -> None:
        node = self._round_of(entry)
        self._said(entry)
        node.state = "failed"
        self._work.end(node, entry.at)

    def _called(self, entry: TraceEntry) -> None:
        if self._calls.called(entry) is not None and entry.context in self._agents:
            self._agents[entry.context].calls += 1

    def _round_ended(self, entry: TraceEntry) -> None:
        node = self._round_of(entry)
        self._said(entry)
        elapsed = entry.data.get("elapsedMs")
        if isinstance(elapsed, int | float) and not isinstance(elapsed, bool) and elapsed > 0:
            node.ended = min(entry.at, node.started + elapsed / 1000)
        node.model = str(entry.data.get("model") or node.model)
        node.usage = usage_of(entry.value("usage"))
        if node.usage is not None:
            self.usage = self.usage.plus(node.usage)
        else:
            self.unmeasured += 1
        node.state = _STOPS.get(str(entry.data.get("stopReason")), "done")
        self._work.end(node, entry.at)


def usage_of(told: Any) -> Usage | None:
    """The usage in an entry; a value that is no number counts as none."""
    if not isinstance(told, Mapping):
        return None
    names = ("inputTokens", "outputTokens", "reasoningTokens", "cachedTokens", "writtenTokens")
    return Usage.reported(*map(told.get, names), cost=told.get("costUsd"), saved=told.get("savedUsd", 0.0))


def _end_state(status: str) -> NodeState:
    return _CALLED.get(status) or _ENDS[end_kind(status)]
