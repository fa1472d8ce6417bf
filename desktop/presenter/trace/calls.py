"""The calls of a trace: found again by any of the names that they go by, asked about, answered, finished. Qt-free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from desktop.domain.runs.traces import BRIEF, TraceEntry
from desktop.presenter.trace.node import Kind, NodeState, TraceNode
from desktop.presenter.trace.work import AtWork
from desktop.presenter.transcript.build import canonical, summarise
from desktop.presenter.transcript.items import call_state

NESTED_SHOWN = 100
CODE = "invoke"
"""The call that runs a model's code."""

MakeNode = Callable[[Kind, str, TraceNode, TraceEntry], TraceNode]


class TraceCalls:
    """``root`` is the run's id: the context of its own agent. ``round_of`` gives the round that an entry falls into,
    ``close_below`` ends what is below a node."""

    def __init__(
        self,
        root: str,
        work: AtWork,
        make: MakeNode,
        round_of: Callable[[TraceEntry], TraceNode],
        close_below: Callable[[TraceNode, float, NodeState], None],
    ) -> None:
        self.count = 0
        self._root = root
        self._work = work
        self._make = make
        self._round_of = round_of
        self._close_below = close_below
        self._told: dict[tuple[str, str], TraceNode] = {}
        self._known: dict[str, TraceNode] = {}
        self._running: dict[str, list[TraceNode]] = {}

    def known(self, call_id: str) -> TraceNode | None:
        """The call that goes by this id anywhere in the run."""
        return self._known.get(call_id)

    def running_in(self, context: str) -> list[TraceNode]:
        """What an agent has called and not got back, the first first."""
        return list(self._running.get(context, ()))

    def called(self, entry: TraceEntry) -> TraceNode | None:
        """The node of a new call; None when its agent reported it before."""
        call_id, parent_id = str(entry.data.get("callId") or ""), str(entry.data.get("parent") or "")
        host = self._known.get(parent_id) if parent_id else None
        if host is not None and (same := self._same(entry, host)) is not None:
            self._known[call_id] = same
            same.category = str(entry.data.get("category") or same.category)
            return None
        if host is not None:
            host = self._code_below(host)
        else:
            host = self._round_of(entry)
            if host.state == "writing":  # the model is done, its calls begin
                host.state, host.ended = "done", entry.at
                self._work.rest(host)
        node = self._make("call", canonical(str(entry.data.get("tool") or "call")), host, entry)
        arguments = entry.value("args")
        node.call_id, node.category = call_id or node.call_id, str(entry.data.get("category") or "")
        node.summary = summarise(arguments if isinstance(arguments, Mapping) else {})
        node.entries.append(entry)
        self.count += 1
        self._told[entry.context, node.call_id] = node
        self._known.setdefault(node.call_id, node)
        self._running.setdefault(entry.context, []).append(node)
        self._work.begin(node)
        return node

    def _same(self, entry: TraceEntry, host: TraceNode) -> TraceNode | None:
        """A nested call that waits for a person is told twice: by its agent, under the model's id, and by the pipeline,
        under its own. The agent's call of that tool which runs below the same card is the one."""
        tool = canonical(str(entry.data.get("tool") or ""))
        for context, running in self._running.items():
            if context == self._root:
                continue
            for node in reversed(running):
                if node.title == tool and not node.open_below and host in node.ancestors():
                    return node
        return None

    def _code_below(self, host: TraceNode) -> TraceNode:
        """The pipeline knows only the card that a nested call stands on; if an agent's code runs below it, the call is
        of that code: all other calls of agents are told by them."""
        for context, running in self._running.items():
            if context == self._root:
                continue
            for node in reversed(running):
                if node.title == CODE and host in node.ancestors():
                    return node
        return host

    def _of(self, entry: TraceEntry) -> TraceNode | None:
        call_id = str(entry.data.get("callId") or "")
        return self._told.get((entry.context, call_id)) or self._known.get(call_id)

    def asked(self, entry: TraceEntry) -> None:
        """Note that a person is asked about a call."""
        node = self._of(entry)
        if node is not None and not node.over:
            node.entries.append(entry)
            node.category = str(entry.data.get("category") or node.category)
            self._work.ask(node, entry.at)

    def answered(self, entry: TraceEntry) -> None:
        """Note that the person has answered."""
        node = self._of(entry)
        if node is not None:
            node.entries.append(entry)
            if node.state == "waiting":
                self._work.answered(node, entry.at)
                self._work.work(node)

    def result(self, entry: TraceEntry) -> None:
        """A call is over. Told twice, the first counts: the pipeline's, which knows more."""
        node = self._of(entry)
        if node is None:
            return
        told = entry.value("facts")
        facts: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        node.category = str(facts.get("category") or node.category)
        elapsed = _milliseconds(entry.data.get("elapsedMs"))
        node.elapsed_ms = elapsed if elapsed is not None else node.elapsed_ms
        node.entries.append(entry)
        if node.over and not node.live:
            return
        self._work.answered(node, entry.at)
        self._close_below(node, entry.at, "aborted")
        if node.state != "limit":
            node.state = _state(facts.get("state"), "failed" if entry.data.get("isError") else "done")
        self.end(node, entry.at)
        self._list_nested(node, facts.get("nested"), entry)

    def end(self, node: TraceNode, at: float) -> None:
        """Take a node that has ended out of those that run."""
        self._work.answered(node, at) if node.state == "waiting" else None
        running = self._running.get(node.context, [])
        if node in running:
            running.remove(node)
        self._work.end(node, at)

    def _list_nested(self, node: TraceNode, nested: Any, entry: TraceEntry) -> None:
        """The calls that code made; those that were told of while it ran stand there already."""
        if not isinstance(nested, list) or node.kind == "agent":
            return
        there = Counter(child.title for child in node.children)
        for made in nested[:NESTED_SHOWN]:
            if isinstance(made, Mapping):
                title = canonical(str(made.get("tool")))
                if there[title]:
                    there[title] -= 1
                    continue
                child = self._make("call", title, node, entry)
                child.started = child.ended = entry.at
                child.state = _state(made.get("state"), "failed")
                child.elapsed_ms = _milliseconds(made.get("elapsed_ms"))
                child.summary = str(made.get("args") or "")[:BRIEF]
                self.count += 1


def _milliseconds(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _state(told: object, otherwise: Literal["done", "failed"]) -> NodeState:
    state = call_state(told, otherwise)
    return "aborted" if state not in ("done", "failed", "denied") else state
