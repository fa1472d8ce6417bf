"""What a person sees of the agents of a run: one record an agent (issue 7, the Run panel)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from desktop.domain.supervision import ExecutionBudget, Priority


class NodeState(StrEnum):
    """What an agent is doing. ``preempted``: another of higher priority has its place, until one is free."""

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

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self in (NodeState.COMPLETED, NodeState.FAILED, NodeState.CANCELLED, NodeState.LIMIT)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """An agent as of now. ``path``: its place (``0``, ``0.3``); ``parent`` "" for the root. ``doing``: the tool it
    calls or whom it waits for. Tokens, cost, rounds are of its whole branch; ``cost_usd`` is a lower bound unless
    ``cost_known``. ``elapsed_s`` is without ``waited_s``, the time a person was waited for (R-SUP-10); both count up to
    ``ended_at``. ``pause_asked``: it pauses before its next call. ``detail`` says why it ended. ``budget_changed`` are
    (limit, who set it) of those that ``budget_from`` has not set."""

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
    started_at: float = 0.0
    ended_at: float | None = None
    elapsed_s: float = 0.0
    waited_s: float = 0.0
    pause_asked: bool = False
    detail: str = ""
    budget_changed: tuple[tuple[str, str], ...] = ()


class RunTreeDesk(Protocol):
    """What a person does with the agents of a run that is under way; at once, on the loop. All raise NotFound once the
    run, or the agent, is over."""

    def facts(self, run_id: str) -> Sequence[NodeFacts]:
        """All agents, parents first."""
        ...

    def pause(self, run_id: str, path: str) -> None:
        """The branch makes no further call (R-SUP-6)."""
        ...

    def resume(self, run_id: str, path: str) -> None:
        """It goes on."""
        ...

    def cancel(self, run_id: str, path: str) -> None:
        """End the branch now (R-CAN-10)."""
        ...

    def change_budget(self, run_id: str, path: str, budget: ExecutionBudget) -> None:
        """Another budget from now on. Raises ConfigurationError for less than is used already."""
        ...
