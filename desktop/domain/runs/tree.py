"""What a person sees of the agents of a run: one record an agent, for the Run panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.supervision import ExecutionBudget, Priority

BESIDE = ":"
"""In the path of an agent of another run that shows with this one, after the mark of its run (``7f3a91c2:0.1``)."""
BY_HAND = "you, in the Run panel"
"""Who has set a limit that a person changed while the agent worked."""
KEPT_TEXT = 600
"""Characters of a text that are kept."""


class NodeState(StrEnum):
    """What an agent is doing. ``preempted``: another of higher priority has its place, until one is free.
    ``interrupted``: the app ended before it did; its run may be gone on with."""

    WORKING = "working"
    QUEUED = "queued"
    THINKING = "thinking"
    CALLING = "calling"
    SLEEPING = "sleeping"
    JOINING = "joining"
    WAITING = "waiting"
    PAUSED = "paused"
    PREEMPTED = "preempted"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self in _OVER


_OVER = frozenset({NodeState.COMPLETED, NodeState.FAILED, NodeState.CANCELLED, NodeState.LIMIT, NodeState.INTERRUPTED})


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """An agent as of now. Tokens, cost, rounds and calls are those of its branch."""

    path: str
    """Its place in the tree (``0``, ``0.3``)."""
    parent: str
    """The path of the agent above; "" for the root."""
    agent: str
    """Its name."""
    state: NodeState
    """What it is doing."""
    priority: Priority
    """How important it is."""
    depth: int
    """How far below the root."""
    budget: ExecutionBudget
    """What its branch may use."""
    budget_from: str
    """Who set that."""
    side: str = ""
    """The side of a debate, or ""."""
    model: str = ""
    """The model it asks."""
    doing: str = ""
    """The tool it calls or the agent it waits for."""
    thread_id: str = ""
    """The thread that it writes in, or ""."""
    rounds: int = 0
    """Model requests."""
    tool_calls: int = 0
    """Tool calls."""
    input_tokens: int = 0
    """Tokens read."""
    output_tokens: int = 0
    """Tokens written."""
    cost_usd: float = 0.0
    """USD; a lower bound unless ``cost_known``."""
    cost_known: bool = True
    """Whether every request told its cost."""
    tokens_estimated: bool = False
    """Whether some tokens are estimated."""
    started_at: float = 0.0
    """Seconds since the epoch."""
    ended_at: float | None = None
    """Seconds since the epoch; None: it works."""
    elapsed_s: float = 0.0
    """Seconds at work up to ``ended_at``, without ``waited_s``."""
    waited_s: float = 0.0
    """Seconds in which a person was waited for, up to ``ended_at`` (R-SUP-10)."""
    pause_asked: bool = False
    """Whether it pauses before its next call."""
    detail: str = ""
    """Why it ended."""
    budget_changed: tuple[tuple[str, str], ...] = ()
    """(limit, who set it) of limits that ``budget_from`` has not set."""
    stopping: bool = False
    """Whether it was cancelled and winds up."""
    own_rounds: int = 0
    """Rounds that it may make for one answer; 0: not known."""
    own_rounds_from: str = ""
    """Who set ``own_rounds``."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The agents of a run as they were last told, parents first. ``over``: it has ended, for ``reason``. An agent whose
    thread is gone has no ``thread_id``."""

    run_id: str
    nodes: tuple[NodeFacts, ...]
    over: bool = True
    reason: str = ""


def facts_to_plain(facts: NodeFacts) -> dict[str, Any]:
    """JSON-ready form of a node's facts, without path, thread and start, which are stored beside it."""
    plain = {name: value for name, value in asdict(facts).items() if name not in ("path", "thread_id", "started_at")}
    short = {name: value[:KEPT_TEXT] for name, value in plain.items() if isinstance(value, str)}
    return {**plain, **short, "state": facts.state.value, "priority": int(facts.priority)}


def facts_from_plain(path: str, thread_id: str, started_at: float, plain: Mapping[str, Any]) -> NodeFacts:
    """Read the facts back from ``facts_to_plain``; fields that a later release has added are left out. Raises
    ConfigurationError for what is no agent at all."""
    known = {field.name for field in fields(NodeFacts)}
    own = {name: value for name, value in plain.items() if name in known}
    try:
        own["state"], own["priority"] = NodeState(own["state"]), Priority(own["priority"])
        own["budget"] = ExecutionBudget.from_plain(own["budget"])
        own["budget_changed"] = tuple((str(name), str(who)) for name, who in own.get("budget_changed", ()))
        return NodeFacts(path=path, thread_id=thread_id, started_at=started_at, **own)
    except (KeyError, ValueError, TypeError) as error:
        raise ConfigurationError(f"This is no agent of a run: {error!r}.") from error


class RunTreePort(Protocol):
    """What a person does with the agents of a run that is under way; at once, on the loop. All raise NotFound once the
    run, or the agent, is over."""

    async def last(self, thread_id: str) -> StoredRun | None:
        """What is kept of the latest run in which an agent wrote into this thread."""
        ...

    def watch(self, thread_id: str, before: str = "") -> None:
        """A person looks at this thread now, and no longer at the one ``before``: its run's requests come first."""
        ...

    def facts(self, run_id: str) -> Sequence[NodeFacts]:
        """All agents, parents first."""
        ...

    def pause(self, run_id: str, path: str) -> None:
        """The branch makes no further call (R-SUP-6)."""
        ...

    def resume(self, run_id: str, path: str) -> None:
        """Resume a paused agent."""
        ...

    def cancel(self, run_id: str, path: str) -> None:
        """End the branch now (R-CAN-10)."""
        ...

    def change_budget(self, run_id: str, path: str, budget: ExecutionBudget) -> None:
        """Replace an agent's budget. Raises ConfigurationError for less than is used already."""
        ...
