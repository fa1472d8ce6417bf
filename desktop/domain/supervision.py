"""Where an agent stands in its run tree, and what it may use (semantics.md 18). Immutable; children are derived."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, IntEnum

from desktop.domain.ids import AgentId, new_id


class HistoryRetention(Enum):
    """How long history lives: not at all, until the run ends, until the person deletes it (R-SUP-13)."""

    NONE = "none"
    RUN = "run"
    PERMANENT = "permanent"


class Priority(IntEnum):
    """Order in the shared queue of model requests; the value is the weight (R-SUP-14)."""

    BACKGROUND = 0
    LOW = 1
    NORMAL = 2
    HIGH = 4
    CRITICAL = 8


@dataclass(frozen=True, slots=True)
class SpawnBudget:
    """How many agents may live at once in one tree, the root included (R-SUP-5)."""

    max_agents: int = 50
    allow_preempt: bool = True


@dataclass(frozen=True, slots=True)
class ExecutionBudget:
    """Limits for a run tree; None is unlimited (R-SUP-7). ``deadline_s`` counts from the run's start."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_rounds: int | None = None
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class Supervision:
    """A node of the run tree; ``session_id`` is the thread's id under its S1 wire name (semantics.md 0.2)."""

    run_id: str
    session_id: str
    root_id: AgentId
    parent_id: AgentId | None
    depth: int
    spawn_budget: SpawnBudget
    execution_budget: ExecutionBudget
    retention: HistoryRetention
    priority: Priority

    @classmethod
    def root(
        cls,
        root_id: AgentId,
        *,
        session_id: str | None = None,
        spawn_budget: SpawnBudget | None = None,
        execution_budget: ExecutionBudget | None = None,
        retention: HistoryRetention = HistoryRetention.PERMANENT,
        priority: Priority = Priority.NORMAL,
    ) -> Supervision:
        """Mint a fresh run: depth 0, no parent, a new thread id if none is given (R-SUP-2)."""
        return cls(
            run_id=new_id(),
            session_id=session_id or new_id(),
            root_id=root_id,
            parent_id=None,
            depth=0,
            spawn_budget=spawn_budget or SpawnBudget(),
            execution_budget=execution_budget or ExecutionBudget(),
            retention=retention,
            priority=priority,
        )

    def spawn_child(
        self,
        parent_id: AgentId,
        *,
        execution_budget: ExecutionBudget | None = None,
        retention: HistoryRetention = HistoryRetention.RUN,
        priority: Priority = Priority.NORMAL,
    ) -> Supervision:
        """Derive a child: same run, thread, root and the same spawn budget object (R-SUP-3)."""
        return replace(
            self,
            parent_id=parent_id,
            depth=self.depth + 1,
            execution_budget=execution_budget or self.execution_budget,
            retention=retention,
            priority=priority,
        )
