"""How a run ended, in the machine's words and in a person's (R-SES-18, R-LIM-5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from desktop.domain.debates import TurnEnd
from desktop.domain.errors import KnownError, LimitReached, ModelRateLimited
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import NoticeBlock
from desktop.domain.runs.agent import AgentStatus
from desktop.domain.runs.events import EndReason
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.middleware import MiddlewareTermination
from desktop.domain.runs.supervision import ROUNDS

if TYPE_CHECKING:
    from desktop.agents.loop.events import LoopResult

CLOSING = "the app is closing"
MAX_DETAIL = 600
_CONTINUE = "Continue to let it go on."
_LIMITS: Mapping[str, EndReason] = {"maxSteps": "max_steps"}


@dataclass(frozen=True, slots=True)
class Ending:
    """``notice`` is what the thread keeps of it; None where there is nothing to say."""

    reason: EndReason
    detail: str = ""
    code: str = ""
    next_step: str = ""
    limit: str = ""
    retry_after: float | None = None

    @property
    def notice(self) -> NoticeBlock | None:
        """The failure or limit as a block of the thread."""
        if not self.detail or self.reason in ("response", "cancelled", "interrupted"):
            return None
        severity = "error" if self.reason == "error" else "warning"
        return NoticeBlock(self.detail, self.code, self.next_step, severity)  # type: ignore[arg-type]

    @property
    def status(self) -> AgentStatus:
        """The journal's terminal status."""
        if self.reason in ("response", "stop_tool", "end_session_tool"):
            return "completed"
        if self.reason in ("cancelled", "interrupted"):
            return "cancelled"
        return "failed" if self.reason in ("error", "terminated") else "limit"


def ending_of(result: LoopResult, cancelled_because: str | None, by: TurnEnd | None = None) -> Ending:
    """The ending of a run whose loop returned; ``by`` is what stopped the side."""
    if by in ("stop_tool", "end_session_tool", "max_steps"):
        return Ending(by)
    if result.end == "aborted":
        return aborted(cancelled_because)
    if result.end == "limit" and result.limit is not None:
        return _at_limit(result.limit)
    if result.error is None:
        return Ending("response")
    ending = failed(result.error)
    if result.end == "budget":
        return Ending(reason_of(result.limit), ending.detail, ending.code, ending.next_step, ending.limit)
    if result.end in ("terminated", "limit"):
        return Ending(result.end, ending.detail, ending.code, ending.next_step, ending.limit)
    return ending


def reason_of(limit: Limit | None) -> EndReason:
    """The reason for the end of a run whose budget is used up: the rounds of all its agents, or anything else
    (R-SES-18)."""
    return "global_limit" if limit is not None and limit.name == ROUNDS else "budget"


def aborted(because: str | None) -> Ending:
    """Stopped by the person, or by closing the app; then it can be gone on with at the next start."""
    return Ending("interrupted" if because == CLOSING else "cancelled", because or "")


def _at_limit(limit: Limit) -> Ending:
    detail = f"Stopped after {limit.value:g} rounds: {limit}."
    reason = reason_of(limit) if limit.kind == "budget" else _LIMITS.get(limit.name, "limit")
    return Ending(reason, detail, "limit.rounds", _CONTINUE, str(limit))


def failed(error: Exception) -> Ending:
    """An exception as an ending; one that is not ours says so and shows no internals."""
    if isinstance(error, MiddlewareTermination):
        return Ending("terminated", str(error)[:MAX_DETAIL], "terminated")
    if not isinstance(error, KnownError):
        return Ending("error", "Something went wrong inside Assent; the log has the details.", "bug", "Try again.")
    return Ending(
        "error",
        str(error)[:MAX_DETAIL],
        error.code,
        error.next_step,
        error.limit if isinstance(error, LimitReached) else "",
        error.retry_after if isinstance(error, ModelRateLimited) else None,
    )


EMPTY = NoticeBlock("The model answered with nothing.", "model.empty", "Try again, or choose another model.", "warning")
CUT_SHORT = NoticeBlock(
    "The answer reached the model's output limit and was cut.", "model.stream_cut", _CONTINUE, "warning"
)
