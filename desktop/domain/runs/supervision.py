"""Where an agent stands in its run tree, and what it may use. Immutable; children are derived."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from enum import Enum, IntEnum
from typing import Any

from desktop.domain.errors import ConfigurationError
from desktop.domain.ids import AgentId, new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.limits import positive_int


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

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> SpawnBudget:
        """Read the form that ``to_plain`` writes. Raises ConfigurationError."""
        return cls(positive_int(plain.get("max_agents", 50), "max_agents"), plain.get("allow_preempt", True) is True)


RUN_ROUNDS = 250
"""Rounds of all agents of a run where nobody chose a number: no run is without one."""
ROUNDS = "max_rounds"


@dataclass(frozen=True, slots=True)
class ExecutionBudget:
    """Limits for a run tree; None is unlimited (R-SUP-7). ``deadline_s`` counts from the run's start."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_rounds: int | None = None
    deadline_s: float | None = None

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ExecutionBudget:
        """Read the form that ``to_plain`` writes, or what a person typed. Raises ConfigurationError for what is no
        limit (R-LIM-7)."""
        return cls(
            _optional(plain, "max_tokens"),
            _amount(plain, "max_cost_usd"),
            _optional(plain, "max_rounds"),
            _amount(plain, "deadline_s"),
        )


@dataclass(frozen=True, slots=True)
class Supervision:
    """A node of the run tree."""

    run_id: str
    """The run."""
    session_id: str
    """The thread's id, as agents name it."""
    root_id: AgentId
    """The agent at the root."""
    parent_id: AgentId | None
    """The agent above; None for the root."""
    depth: int
    """How far below the root."""
    spawn_budget: SpawnBudget
    """How many agents the tree may have; one object for the whole tree."""
    execution_budget: ExecutionBudget
    """What this branch may use."""
    retention: HistoryRetention
    """How long the agent's thread is kept."""
    priority: Priority
    """How important the agent is."""

    @classmethod
    def root(
        cls,
        root_id: AgentId,
        *,
        run_id: str = "",
        session_id: str | None = None,
        spawn_budget: SpawnBudget | None = None,
        execution_budget: ExecutionBudget | None = None,
        retention: HistoryRetention = HistoryRetention.PERMANENT,
        priority: Priority = Priority.NORMAL,
    ) -> Supervision:
        """The root of a run: depth 0, no parent; a new run id and a new thread id if none is given (R-SUP-2)."""
        return cls(
            run_id=run_id or new_id(),
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

    def priority_for_child(self, asked: Priority | None) -> Priority:
        """What a child gets that its parent asks this for: never more than the parent has, and as much where nothing
        is asked (R-SUP-3)."""
        return self.priority if asked is None else min(asked, self.priority)

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form (R-SUP-17)."""
        return {
            "run_id": self.run_id,
            "session_id": self.session_id,
            "root_id": asdict(self.root_id),
            "parent_id": None if self.parent_id is None else asdict(self.parent_id),
            "depth": self.depth,
            "spawn_budget": self.spawn_budget.to_plain(),
            "execution_budget": self.execution_budget.to_plain(),
            "retention": self.retention.value,
            "priority": self.priority.name.lower(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Supervision:
        """Read the form that ``to_plain`` writes (R-SUP-17). Raises ConfigurationError for anything else."""
        try:
            parent, depth = plain["parent_id"], plain["depth"]
            made = cls(
                run_id=str(plain["run_id"]),
                session_id=str(plain["session_id"]),
                root_id=_agent_id(plain["root_id"]),
                parent_id=None if parent is None else _agent_id(parent),
                depth=depth if depth == 0 else positive_int(depth, "depth"),
                spawn_budget=SpawnBudget.from_plain(plain["spawn_budget"]),
                execution_budget=ExecutionBudget.from_plain(plain["execution_budget"]),
                retention=HistoryRetention(plain["retention"]),
                priority=Priority[str(plain["priority"]).upper()],
            )
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ConfigurationError(f"This is no place in a run: {error!r}.") from error
        return made


def _agent_id(plain: Mapping[str, Any]) -> AgentId:
    return AgentId(str(plain["type"]), str(plain["key"]))


def _optional(plain: Mapping[str, Any], name: str) -> int | None:
    value = plain.get(name)
    return None if value is None else positive_int(value, name)


def _amount(plain: Mapping[str, Any], name: str) -> float | None:
    value = plain.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise ConfigurationError(
            f"{name} must be a number above 0, not {value!r}.", next_step=f"Correct {name} and try again."
        )
    return float(value)
