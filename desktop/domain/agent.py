"""What an agent is, what it is given to work with, and what its context is made of.

Everything here is a contract. ``desktop/supervision`` keeps ``RunContext``; any object with ``id`` and ``run`` can be
an agent (R-SUP-15).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, Usage
from desktop.domain.models import ModelRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.supervision import ExecutionBudget, HistoryRetention, Priority
from desktop.domain.tools import ToolResult

AgentStatus = Literal["completed", "failed", "cancelled", "limit"]
Inbox = Sequence[ChatMessage]
"""What waits for an agent when it is woken, oldest first."""


@dataclass(frozen=True, slots=True)
class ChildHandle:
    """A child that was started (R-JRN-3). ``path`` is its place in the run tree and stays the same after a restart."""

    path: str
    agent_id: AgentId


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """How an agent ended. ``value`` is plain data; ``code`` the error's kind and ``detail`` its sentence, both empty
    when it completed; ``limit`` names the budget of a ``limit`` and where that was set (R-SUP-11). ``usage`` and
    ``rounds`` are those of its whole branch."""

    status: AgentStatus
    value: Any = None
    code: str = ""
    detail: str = ""
    limit: str = ""
    usage: Usage = field(default_factory=Usage)
    rounds: int = 0


class RunContext(Protocol):
    """What an agent reaches the world with: every call is journaled, and done at most once over restarts (R-JRN-1).

    Calls are told apart by their order: an agent asks for the same things in the same order when it is run again, so
    it takes time, ids and chance from here too. That holds in each of the tasks that it makes, however they overtake
    one another. All raise CancellationError once the agent is cancelled.
    """

    @property
    def meta(self) -> RunMeta:
        """The run, its token, and this agent's place."""
        ...

    @property
    def agent_id(self) -> AgentId:
        """Whose context this is."""
        ...

    async def llm(self, request: ModelRequest) -> ChatMessage:
        """One model request, behind pause, budget and the shared queue. Raises ModelError, BudgetExhausted."""
        ...

    async def tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """One tool call through every gate; a tool's failure is a result."""
        ...

    async def spawn(
        self,
        agent: str,
        inbox: Inbox,
        *,
        budget: ExecutionBudget | None = None,
        priority: Priority = Priority.NORMAL,
        retention: HistoryRetention = HistoryRetention.RUN,
    ) -> ChildHandle:
        """Start a child of a registered kind, without waiting (R-JRN-3). Raises BudgetExhausted, NotFound."""
        ...

    async def join(self, child: ChildHandle) -> AgentOutcome:
        """Wait for a child's end (R-JRN-3)."""
        ...

    async def emit(self, topic: str, event: Any) -> None:
        """Publish plain data (R-JRN-4)."""
        ...

    async def sleep_until(self, when: datetime | float) -> None:
        """Wait for a moment: an aware datetime, or seconds since the epoch (R-JRN-4). ValueError for a naive one."""
        ...

    async def now(self) -> datetime:
        """The time, in UTC, the same after a restart (S-JRN-1)."""
        ...

    async def uuid(self) -> str:
        """A new id, the same after a restart."""
        ...

    async def random(self) -> float:
        """A number from 0 to below 1, the same after a restart."""
        ...


class Agent(Protocol):
    """The whole contract of an agent (R-SUP-15)."""

    @property
    def id(self) -> AgentId:
        """Its unique address."""
        ...

    async def run(self, ctx: RunContext, inbox: Inbox) -> Any:
        """Work on what waits in ``inbox``; what it returns is plain data, the result of whoever joins it."""
        ...


class AgentContextProtocol(Protocol):
    """All that the loop asks of context (R-CTX-1)."""

    @property
    def agent_id(self) -> AgentId:
        """The agent it belongs to."""
        ...

    def get_prompt_window(self, session_id: str) -> Awaitable[list[ChatMessage]]:
        """The conversation, cut to what a model is to see: a read of the history, then compaction (R-CTX-2)."""
        ...


class HistoryProvider(Protocol):
    """Keeps messages by (agent, thread), each tagged with its run (R-CTX-4). ``session_id`` is the thread's id."""

    async def append(self, agent_id: AgentId, session_id: str, message: ChatMessage, run_id: str) -> None:
        """One message more."""
        ...

    async def append_many(
        self, agent_id: AgentId, session_id: str, messages: Sequence[ChatMessage], run_id: str
    ) -> None:
        """Several, all or none."""
        ...

    async def read(
        self, agent_id: AgentId, session_id: str, *, limit: int | None = None, offset: int = 0
    ) -> list[ChatMessage]:
        """Messages in order, from ``offset``, at most ``limit``."""
        ...

    async def clear(self, agent_id: AgentId, session_id: str) -> None:
        """Forget a thread."""
        ...

    async def clear_run(self, agent_id: AgentId, session_id: str, run_id: str) -> None:
        """Forget what one run wrote."""
        ...

    async def count(self, agent_id: AgentId, session_id: str) -> int:
        """How many messages there are."""
        ...


class CompactionStrategy(Protocol):
    """Condenses a history to a view; the stored transcript stays as it is (R-CTX-3, R-CTX-5)."""

    @property
    def name(self) -> str:
        """For the person who asks why something is missing."""
        ...

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        """``messages`` in at most about ``budget_tokens`` (None: no such limit), calls never without their results."""
        ...
