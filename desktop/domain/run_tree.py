"""What a person sees of the agents of a run: one record an agent, for the Run panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.domain.supervision import ExecutionBudget, Priority

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
    """An agent as of now. ``path``: its place (``0``, ``0.3``); ``parent`` "" for the root. ``doing``: the tool it
    calls or whom it waits for. Tokens, cost, rounds, calls are of its branch; ``cost_usd`` is a lower bound unless
    ``cost_known``, and some tokens are estimated if ``tokens_estimated``. ``elapsed_s`` is without ``waited_s``, the
    time a person was waited for (R-SUP-10); both count up to ``ended_at``. ``pause_asked``: it pauses before its next
    call. ``detail`` says why it ended. ``budget_changed`` are (limit, who set it) of those that ``budget_from`` has not
    set. ``own_rounds`` is what it may make for one answer (0: not known), as ``own_rounds_from`` set it.
    ``stopping``: it was cancelled and winds up."""

    path: str
    parent: str
    agent: str
    state: NodeState
    priority: Priority
    depth: int
    budget: ExecutionBudget
    budget_from: str
    side: str = ""
    model: str = ""
    doing: str = ""
    thread_id: str = ""
    rounds: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True
    tokens_estimated: bool = False
    started_at: float = 0.0
    ended_at: float | None = None
    elapsed_s: float = 0.0
    waited_s: float = 0.0
    pause_asked: bool = False
    detail: str = ""
    budget_changed: tuple[tuple[str, str], ...] = ()
    stopping: bool = False
    own_rounds: int = 0
    own_rounds_from: str = ""


@dataclass(frozen=True, slots=True)
class KeptRun:
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

    async def last(self, thread_id: str) -> KeptRun | None:
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
