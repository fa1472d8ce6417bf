"""The agents of one run as they were last told, in the order in which a person sees them. Qt-free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.tree import BESIDE, NodeFacts, NodeState

MAX_ENDED = 200
"""Of agents that have ended the last ones stay, as in the tree itself."""
LEFT = "its run is over"


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent in its place. ``below``: how many agents are under it; ``paused_by``: who above it is paused."""

    facts: NodeFacts
    level: int
    below: int
    is_open: bool
    paused_by: str = ""

    @property
    def path(self) -> str:
        """The agent's path in the tree."""
        return self.facts.path


class AgentTree:
    """Fed with what changed (``apply``) or with all of it (``replace``). Agents keep the place in which they were
    first seen: what happens to one never moves another. ``changes`` counts what was taken."""

    def __init__(self, run_id: str, thread_id: str) -> None:
        self.run_id, self.thread_id = run_id, thread_id
        self.over = False
        self.changes = 0
        self._nodes: dict[str, NodeFacts] = {}
        self._below: dict[str, dict[str, None]] = {}
        self._folded: set[str] = set()

    def apply(self, nodes: Iterable[NodeFacts]) -> None:
        """Take changed nodes. A run with news is a run that goes on."""
        for facts in nodes:
            if facts.path not in self._nodes:
                self._below.setdefault(facts.parent, {})[facts.path] = None
            self._nodes[facts.path] = facts
        self._told()
        self._forget_oldest()

    def fill(self, nodes: Iterable[NodeFacts]) -> None:
        """What is known of it from elsewhere; what was told here counts more."""
        self.apply([facts for facts in nodes if facts.path not in self._nodes])

    def end(self) -> None:
        """The run is over: nobody of it is at work any more. Agents that only show with it may be."""
        for path, facts in self._nodes.items():
            if not facts.state.over and BESIDE not in path:
                self._nodes[path] = replace(
                    facts, state=NodeState.CANCELLED, detail=facts.detail or LEFT, doing="", stopping=False
                )
        self._told()

    def _told(self) -> None:
        root = self.root
        self.over = (root is None or root.state.over) and not self.at_work
        self.changes += 1

    def _forget_oldest(self) -> None:
        if len(self._nodes) <= MAX_ENDED:
            return
        ended = [f for f in self._nodes.values() if f.state.over and f.parent and not self._below.get(f.path)]
        ended.sort(key=lambda facts: facts.ended_at or 0.0)
        for facts in ended[: max(0, len(ended) - MAX_ENDED)]:
            del self._nodes[facts.path]
            self._below[facts.parent].pop(facts.path, None)

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def root(self) -> NodeFacts | None:
        """The run's own agent."""
        return next((self._nodes[path] for path in self._below.get("", ())), None)

    def get(self, path: str) -> NodeFacts | None:
        """An agent, if it is still known."""
        return self._nodes.get(path)

    def threads(self) -> set[str]:
        """The threads in which agents of the run write."""
        return {facts.thread_id for facts in self._nodes.values() if facts.thread_id}

    def path_in(self, thread_id: str) -> str:
        """The first agent that writes there, if that is not the run's own thread; or ""."""
        if thread_id == self.thread_id:
            return ""
        return next((path for path, facts in self._nodes.items() if facts.thread_id == thread_id), "")

    def under(self, path: str) -> Iterator[NodeFacts]:
        """Everything below an agent."""
        for child in self._below.get(path, ()):
            yield self._nodes[child]
            yield from self.under(child)

    def above(self, path: str) -> Iterator[NodeFacts]:
        """The agents above an agent: its parent, the parent's parent, and so on."""
        facts = self._nodes.get(path)
        while facts is not None and facts.parent:
            facts = self._nodes.get(facts.parent)
            if facts is not None:
                yield facts

    @property
    def at_work(self) -> int:
        """How many agents have not ended."""
        return sum(not facts.state.over for facts in self._nodes.values())

    # -- lines --------------------------------------------------------------------------------------------------------

    def fold(self, path: str, folded: bool) -> None:
        """Fold or open a branch, as a person asked."""
        (self._folded.add if folded else self._folded.discard)(path)

    def line(self, path: str) -> AgentLine | None:
        """The line of one agent, at its level."""
        facts = self._nodes.get(path)
        if facts is None:
            return None
        level = sum(1 for _ in self.above(path))
        paused = next((above.agent for above in self.above(path) if above.pause_asked and not above.state.over), "")
        return self._line(facts, level, paused)

    def lines(self) -> Sequence[AgentLine]:
        """All lines that are not folded away, from the top."""
        found: list[AgentLine] = []
        waiting = [(path, 0, "") for path in reversed(self._tops())]
        while waiting:
            path, level, paused = waiting.pop()
            facts = self._nodes[path]
            line = self._line(facts, level, paused)
            found.append(line)
            if line.is_open:
                by = paused or (facts.agent if facts.pause_asked and not facts.state.over else "")
                waiting.extend((child, level + 1, by) for child in reversed(self._below[path]))
        return found

    def _tops(self) -> list[str]:
        """The root, and agents whose parent was forgotten."""
        return [path for parent, paths in self._below.items() if parent not in self._nodes for path in paths]

    def _line(self, facts: NodeFacts, level: int, paused_by: str) -> AgentLine:
        below = sum(1 for _ in self.under(facts.path))
        return AgentLine(facts, level, below, below > 0 and facts.path not in self._folded, paused_by)
