"""What the agent of a thread does, told on topics as a called skill's agent is told (R-TRC-3, R-TRC-4).

Its rounds, texts and calls come from the loop that works for it. Nothing is made of them while nobody listens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from desktop.agents.loop.events import LoopError, LoopEvent, Retrying, RoundStarted
from desktop.agents.skill.trace import TRACED, TopicEvents, add_entry, cleaned
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.domain.models import ReasoningDelta, TextDelta

DELTAS_S = 0.1
"""Seconds for which pieces of a text are put together before they are told."""


class TurnEvents:
    """Of one turn. Pieces of one text are told together, with what comes next at the latest. ``kept`` has them all
    where the middleware of its prompt may read them (R-TRC-2)."""

    def __init__(self, told: TopicEvents, redact: Callable[[str], str]) -> None:
        self.kept: list[dict[str, Any]] | None = None
        self._told = told
        self._redact = redact
        self._pieces: list[str] = []
        self._since = 0.0
        self._text = ""

    def begin(self, skill: str, provider: str) -> None:
        """Tell that the agent starts."""
        self._tell("agent-start", {"skill": skill, "provider": provider})

    def over(self, status: str, rounds: int, calls: int, **more: Any) -> None:
        """Tell that the agent has ended, however it ended."""
        self._tell("agent-complete", {"status": status, "rounds": rounds, "toolCalls": calls, **more})

    def listen(self, event: LoopEvent) -> None:
        """Tell what an event of the loop means for the agent's trace and topics."""
        if isinstance(event, TextDelta):
            now = time.monotonic()
            self._since = now if not self._pieces else self._since
            self._pieces.append(event.text)
            if now - self._since >= DELTAS_S:
                self._flush()
        elif isinstance(event, RoundStarted):
            self._tell("turn-start", {"turnNumber": event.number})
        elif isinstance(event, LoopError):
            self._tell("error", {"error": event.text})
        elif isinstance(event, ReasoningDelta):
            self._tell("reasoning", {"text": event.text, "delta": True})
        elif isinstance(event, Retrying):
            self._tell("retry", {"attempt": event.attempt, "delayMs": int(event.delay_s * 1000)})

    def called(self, call: ToolCallBlock) -> None:
        """Tell that a call is made now."""
        self._tell("tool-call", _of(call))

    def answered(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        """Tell that a call has its result."""
        self._tell("tool-result", {**_of(call), "result": result.text, "isError": result.is_error})

    def round_over(self, message: ChatMessage, number: int) -> None:
        """Tell that a round and its calls are over."""
        self._text = joined_texts(self._text, message.text)
        made = {"stopReason": message.stop_reason, "toolCalls": len(message.tool_calls)}
        self._tell("turn-end", {"result": self._text, "turnNumber": number, **made})

    def goes_on(self) -> None:
        """The agent was told something: the texts so far have been read."""
        self._text = ""

    def _flush(self) -> None:
        if self._pieces:
            text, self._pieces = "".join(self._pieces), []
            self._publish("message", {"text": text, "delta": True})

    def _tell(self, kind: str, fields: Mapping[str, Any]) -> None:
        self._flush()
        self._publish(kind, fields)

    def _publish(self, kind: str, fields: Mapping[str, Any]) -> None:
        number, at, kept = self._told.next_number(), time.time(), self.kept
        if kept is None and not self._told.is_heard:
            return
        data = cleaned(fields, self._redact)
        if kept is not None and kind in TRACED:
            add_entry(kept, {"type": kind, "timestamp": at, **data})
        if self._told.is_heard:
            self._told.publish(kind, data, number, at)


def joined_texts(before: str, text: str) -> str:
    """The texts of two rounds: each a paragraph of its own."""
    return f"{before.rstrip()}\n\n{text.lstrip()}" if before.strip() and text.strip() else before + text


def _of(call: ToolCallBlock) -> dict[str, Any]:
    return {"tool": call.tool, "args": dict(call.arguments or {}), "callId": call.call_id}
