"""One line of a trace's tree, and the common time axis on which all of them are drawn. Qt-free."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Usage
from desktop.domain.runs.traces import TraceEntry
from desktop.tools.builtin.catalogue import COMMAND_TOOLS

Kind = Literal["agent", "round", "call"]
NodeState = Literal["writing", "running", "waiting", "done", "failed", "denied", "aborted", "limit"]
OVER = frozenset({"done", "failed", "denied", "aborted", "limit"})
STILL_SHARE = 0.1
"""Of the axis, at most, for one time in which everything waited for the person."""
STILLS_SHARE = 0.35
"""Of the axis, at most, for all of them."""

Span = list[float | None]
"""[start, end]; an end of None: not over yet."""


@dataclass(slots=True, eq=False)
class TraceNode:
    """A node of a trace's tree. Times are seconds since the epoch. A call that an agent works for becomes that agent's
    node: it is then of kind ``agent`` and has both."""

    kind: Kind
    """What it is: run, agent, round or call."""
    title: str
    """What the line says."""
    parent: TraceNode | None
    """The node above."""
    started: float
    """When it began."""
    context: str = ""
    """The agent's context."""
    level: int = 0
    """How far the line is indented."""
    depth: int = 0
    """How many agents are above."""
    ended: float | None = None
    """When it ended; None: it goes on."""
    state: NodeState = "running"
    """How it stands."""
    number: int = 0
    """Its number among those of its kind."""
    summary: str = ""
    """What stands behind the title."""
    category: str = ""
    """The call's category."""
    call_id: str = ""
    """The call."""
    elapsed_ms: int | None = None
    """How long it took, as it was told."""
    model: str = ""
    """The model that answered."""
    usage: Usage | None = None
    """Tokens and cost."""
    retries: int = 0
    """Requests that were repeated."""
    rounds: int = 0
    """Model requests below."""
    calls: int = 0
    """Calls below."""
    waits: Sequence[Span] = ()
    """The spans in which a person was asked about this very call."""
    children: Sequence[TraceNode] = ()
    """The nodes below."""
    entries: list[TraceEntry] = field(default_factory=list)
    """The entries that told of it."""
    live: bool = False
    """Whether it has not ended."""
    busy: bool = False
    """Whether it does something itself."""
    open_below: int = 0
    """How many nodes below have not ended."""

    def add(self, child: TraceNode) -> None:
        """One more below it. Of 10,000 calls nearly all have none: lists are made where they are needed, for each of
        them costs the collector of the window's thread."""
        if isinstance(self.children, list):
            self.children.append(child)
        else:
            self.children = [child]

    @property
    def over(self) -> bool:
        """Whether the node has ended."""
        return self.state in OVER

    @property
    def is_call(self) -> bool:
        """Whether a tool was called, also where an agent works for the call."""
        return bool(self.call_id)

    @property
    def runs_commands(self) -> bool:
        """Whether the tool that was called is a shell."""
        return self.title in COMMAND_TOOLS

    def entry(self, kind: str) -> TraceEntry | None:
        """The last entry of that type."""
        return next((entry for entry in reversed(self.entries) if entry.type == kind), None)

    def value(self, kind: str, name: str) -> Any:
        """A field of the last entry of that type."""
        entry = self.entry(kind)
        return entry.value(name) if entry is not None else None

    def text(self, kind: str) -> tuple[str, int]:
        """All texts of a type, and how many characters are not kept."""
        found = [entry for entry in self.entries if entry.type == kind]
        omitted = sum(_whole(entry.data.get("omitted")) for entry in found)
        return "".join(str(entry.data.get("text", "")) for entry in found), omitted

    def waited(self, now: float) -> float:
        """Seconds in which a person was asked about this call."""
        return sum(max(0.0, (now if end is None else end) - (start or now)) for start, end in self.waits)

    def walk(self) -> Iterator[TraceNode]:
        """This node and all below it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def ancestors(self) -> Iterator[TraceNode]:
        """The nodes above it, the parent first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Axis:
    """From the start of a run to its end or to now. ``stills``: when everything stood still for the person; such a
    time is drawn short and counts for nothing."""

    def __init__(self, start: float, end: float, stills: Sequence[Span]) -> None:
        spans = [(s or start, min(end if e is None else e, end)) for s, e in stills]
        self._stills = [(s, max(s, e)) for s, e in spans if s < end]
        self._starts = [s for s, _ in self._stills]
        stood = sum(e - s for s, e in self._stills)
        self.counted = max(0.001, end - start - stood)
        widths = [min(e - s, STILL_SHARE * self.counted) for s, e in self._stills]
        maximum = STILLS_SHARE * self.counted
        scale = min(1.0, maximum / sum(widths)) if sum(widths) > 0 else 1.0
        self._saved, self._stood = [0.0], [0.0]
        for (s, e), width in zip(self._stills, widths, strict=True):
            self._saved.append(self._saved[-1] + (e - s) - width * scale)
            self._stood.append(self._stood[-1] + (e - s))
        self._start, self._end = start, end
        self._length = max(0.001, end - start - self._saved[-1])

    def place(self, at: float) -> float:
        """The place of a time on the axis, from 0 to 1."""
        at = min(max(at, self._start), self._end)
        return min(1.0, max(0.0, (at - self._start - self._until(at, self._saved)) / self._length))

    def stood(self, start: float, end: float) -> float:
        """Seconds between two times in which everything stood still."""
        return max(0.0, self._until(end, self._stood) - self._until(start, self._stood))

    def _until(self, at: float, sums: list[float]) -> float:
        """The sum of what lies before a time; of a still time that it falls into, its share."""
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return 0.0
        start, end = self._stills[place]
        whole = sums[place + 1] - sums[place]
        share = 1.0 if at >= end else (at - start) / (end - start) if end > start else 1.0
        return sums[place] + whole * share


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
