"""How a side's turn went, and what others read of it: events, and the middleware of its prompt."""

from __future__ import annotations

from typing import Any

from desktop.agents.loop.events import LoopResult
from desktop.domain.debates import TurnEnd
from desktop.domain.errors import CancellationError, KnownError, ToolFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.middleware import MiddlewareTermination
from desktop.domain.tools import ToolResult
from desktop.pipeline.results import result_of


@dataclass(frozen=True, slots=True)
class SideResult:
    """How a turn went."""

    loop: LoopResult
    """What the loop gave."""
    limit: Limit
    """The limit on rounds that held."""
    by: TurnEnd | None = None
    """What ended it, where that was no reply and no failure."""
    value: Any = None
    """The stop tool's property, or what the prompt declares that it returns."""
    missing: bool = False
    """Whether that property was not there."""
    unmet: str = ""
    """Why there is no declared value, or ""."""
    handed: bool = False
    """Whether another agent goes on."""


def last_text(loop: LoopResult) -> str:
    """The last text of the agent; a sentence of ours is none."""
    said = (m.text for m in reversed(loop.messages) if m.role == "assistant" and m.text and m.stop_reason != "limit")
    return next(said, "")


def content_of(result: SideResult) -> ToolResult:
    """What the middleware of the prompt reads of the turn, as of a call of that skill. Raises what ended it, where that
    was a failure or a stop."""
    error = result.loop.error
    if isinstance(error, KnownError | CancellationError):
        raise error
    if error is not None:
        raise ToolFailure(str(error), code="terminated" if isinstance(error, MiddlewareTermination) else "bug")
    if result.unmet:
        raise ToolFailure(result.unmet, code="agent.no_result")
    return result_of(result.value if result.by == "stop_tool" else last_text(result.loop))


def end_event(result: SideResult) -> dict[str, Any]:
    """For ``agent-complete``: status, rounds, and the limit that ended it with its place (R-LIM-5)."""
    loop = result.loop
    status = {"aborted": "aborted", "limit": "limit", "budget": "budget"}.get(
        loop.end, "failed" if loop.error else "done"
    )
    found: dict[str, Any] = {"status": status, "rounds": loop.rounds}
    if loop.limit is not None:
        found["limit"] = str(loop.limit)
    if loop.error is not None:
        found["error"] = str(loop.error)[:2000]
    return found
