"""How an agent ended, and what its context is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal, Protocol

from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, Usage

AgentStatus = Literal["completed", "failed", "cancelled", "limit"]


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """How an agent ended (R-SUP-11)."""

    status: AgentStatus
    """Completed, failed, cancelled or stopped by a limit."""
    value: Any = None
    """Its result as plain data."""
    code: str = ""
    """The error's kind; "" when it completed."""
    detail: str = ""
    """The error's sentence; "" when it completed."""
    limit: str = ""
    """The budget of a ``limit`` and where that was set."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost of its whole branch."""
    rounds: int = 0
    """Model requests of its whole branch."""


class HistoryProvider(Protocol):
    """Knows what was said before (R-CTX-4)."""

    async def read(self, agent_id: AgentId, session_id: str) -> Sequence[ChatMessage]:
        """What ``agent_id`` reads of the thread ``session_id``, in order. Raises KnownError."""
        ...


SHRINK_RESULTS = "shrink-results"
"""The strategy that is built in, by the name that a prompt gives it."""


class CompactionStrategy(Protocol):
    """Condenses a history to a view; the stored transcript stays as it is (R-CTX-3, R-CTX-5)."""

    @property
    def name(self) -> str:
        """For the person who asks why something is missing."""
        ...

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        """``messages`` in at most about ``budget_tokens`` (None: no such limit), calls never without their results."""
        ...
