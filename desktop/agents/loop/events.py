"""What the round loop says while it works, and what it hands over to be stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from desktop.domain.errors import ModelError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import StreamItem
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import Limit


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """Round ``number`` (from 1) is about to ask the model."""

    number: int


@dataclass(frozen=True, slots=True)
class MessageDone:
    """An assistant message is complete, or as complete as it will be."""

    message: ChatMessage


@dataclass(frozen=True, slots=True)
class ResultDone:
    """One tool result is there (R-LOOP-4)."""

    result: ToolResultBlock


@dataclass(frozen=True, slots=True)
class Retrying:
    """A transient failure: attempt ``attempt`` follows in ``delay_s`` seconds (R-LOOP-14)."""

    attempt: int
    delay_s: float
    error: ModelError


@dataclass(frozen=True, slots=True)
class LoopError:
    """The error because of which the loop stops (R-LOOP-8)."""

    text: str


LoopEvent = StreamItem | RoundStarted | MessageDone | ResultDone | Retrying | LoopError
LoopListener = Callable[[LoopEvent], None]

LoopEnd = Literal["response", "limit", "aborted", "error", "budget", "stopped", "terminated"]


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How a loop ended. ``messages`` is a new list: the input and what was added (S-LOOP-2).

    ``limit`` is set for ``limit`` and ``budget``, ``error`` for ``error``, ``budget`` and ``terminated``; ``rounds``
    counts requests answered or tried, without retries (R-LIM-6).
    """

    messages: list[ChatMessage]
    end: LoopEnd
    rounds: int
    usage: Usage
    error: Exception | None = None
    limit: Limit | None = None


class Recorder(Protocol):
    """Stores what happens, in order, before the loop goes on; what it raises ends the loop (disk full)."""

    async def round_started(self, number: int) -> None:
        """Called before a round asks the model."""
        ...

    async def message_finished(self, message: ChatMessage) -> str:
        """Called after the answer of a round, before its calls are made; the message may be empty after a failure or
        an abort. Returns the id under which it is stored, or ""."""
        ...

    async def results_finished(self, results: Sequence[ToolResultBlock], *, executed: bool) -> Sequence[str]:
        """After each executed call, or once for the calls of a message that are not executed. The id under which each
        is stored; none where nothing is."""
        ...

    async def spent(self, usage: Usage) -> None:
        """What was asked of the model beside the rounds, as a summary, used."""
        ...


class ToolRunner(Protocol):
    """Makes the calls; never raises for what a tool does (R-LOOP-3)."""

    async def run(self, call: ToolCallBlock, *, ends: CancellationToken | None = None) -> ToolResultBlock:
        """Make one call through the pipeline; the block for its result. ``ends``: see ``CallRequest``."""
        ...

    def parallel(self, call: ToolCallBlock) -> bool:
        """Whether the tool is category read and declared safe beside others (R-LOOP-12)."""
        ...
