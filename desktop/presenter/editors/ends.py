"""How an answer ended, in the protocol's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.messages import StopReason
from desktop.domain.runs.events import EndReason, RunEnded

STOPS: Mapping[EndReason, str] = {
    "response": "end_turn",
    "stop_tool": "end_turn",
    "end_session_tool": "end_turn",
    "max_session_turns": "max_turn_requests",
    "max_steps": "max_turn_requests",
    "global_limit": "max_turn_requests",
    "budget": "max_turn_requests",
    "limit": "max_turn_requests",
    "cancelled": "cancelled",
}
"""The other reasons are failures. None is a ``refusal``: that would take the message out of the conversation, and what
was said here stays."""


def answer_of(end: RunEnded | None, closed: StopReason | None) -> dict[str, Any]:
    """What the editor's prompt comes to. Raises KnownError for a failure."""
    if end is None:
        raise KnownError("The answer did not end in order.", next_step="Open the thread in Assent.", code="editor.end")
    stop = STOPS.get(end.reason)
    if stop is None:
        words = end.detail or "The answer was interrupted."
        raise KnownError(words, next_step=end.next_step, code=end.code or f"run.{end.reason}")
    if stop == "end_turn" and closed == "length":
        stop = "max_tokens"
    return {"stop": stop, "detail": end.detail}
