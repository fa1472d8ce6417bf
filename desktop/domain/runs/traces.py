"""What happened in a run, entry by entry: the one form in which traces are shown, kept and exported.

Types are those of R-TRC-1 with ``agent-start``, ``agent-complete``, ``tool-waiting``, ``tool-answered`` and
``middleware``, for the run's own agent (whose context is the run's id) and for every agent in it, so that outside
readers need one vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Usage
from desktop.domain.runs.events import (
    AgentTraced,
    Event,
    MessageClosed,
    MessageOpened,
    MiddlewareRan,
    ReasoningArrived,
    RetryScheduled,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWaiting,
)

TYPES = (
    "agent-start",
    "turn-start",
    "reasoning",
    "message",
    "tool-call",
    "tool-waiting",
    "tool-answered",
    "tool-result",
    "retry",
    "error",
    "turn-end",
    "agent-complete",
    "middleware",
)
KEPT_TEXT = 65_536
"""Characters of one text that an entry keeps; how many more there were stands in ``omitted``."""
KEPT_DATA = 32_768
"""Characters that the arguments or facts of one call keep in all."""
MAX_ENTRIES = 50_000
MAX_CHARACTERS = 16_000_000
"""Of one run; beyond, entries keep no long texts, and beyond ``MAX_ENTRIES`` only ends are noted."""
BRIEF = 200
PACKED = frozenset({"args", "facts", "usage", "notices", "paths", "rule"})
_DEEPEST = 8
_FACTS = (
    "state",
    "code",
    "category",
    "decision",
    "by",
    "reason",
    "waited_ms",
    "bytes",
    "size",
    "created",
    "exit_code",
    "path",
    "raised_because",
    "edited",
    "nested",
)


_NUMBERS = (bool, int, float)
_PARTS = (dict, list)
"""What is made of parts nearly always is one of these, and asking that is quick."""


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same with what is made of parts as JSON text: a run has tens of thousands of entries, and each part would be
    looked at by every collection of garbage on the window's thread."""
    return {
        key: json.dumps(value, ensure_ascii=False, default=str)
        if key in PACKED and (type(value) in _PARTS or isinstance(value, (Mapping, list)))
        else value
        for key, value in data.items()
    }


def _unpacked(name: str, value: Any) -> Any:
    if name not in PACKED or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # a text was given where a list or an object is usual
        return value


@dataclass(slots=True, eq=False)
class TraceEntry:
    """One thing that happened. Of all fields only ``data["text"]`` and ``data["omitted"]`` ever change, while a text
    comes in pieces."""

    at: float
    """Seconds since the epoch."""
    type: str
    """What happened."""
    context: str
    """The agent's context."""
    data: dict[str, Any]
    """What the entry says."""
    agent: str = ""
    """The agent's name."""
    ancestor: str = ""
    """The context of the agent above; "" for the run's own and those called from it."""
    call: str = ""
    """The call that the agent works for."""

    def value(self, name: str) -> Any:
        """A field of ``data``, unpacked."""
        return _unpacked(name, self.data.get(name))

    def plain(self) -> dict[str, Any]:
        """A copy of ``data``, unpacked."""
        copy = dict(self.data)
        return {name: _unpacked(name, value) for name, value in copy.items()}

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form; ``from_plain`` is its inverse."""
        found: dict[str, Any] = {"type": self.type, "at": self.at, "context": self.context}
        for name in ("agent", "ancestor", "call"):
            if getattr(self, name):
                found[name] = getattr(self, name)
        return {**found, "data": self.plain()}

    @classmethod
    def from_plain(cls, plain: Any) -> TraceEntry | None:
        """Read an entry from a file; None for what is no entry."""
        if not isinstance(plain, Mapping) or not isinstance(plain.get("data"), Mapping):
            return None
        at, kind = plain.get("at"), plain.get("type")
        if not isinstance(at, int | float) or kind not in TYPES:
            return None
        names = [str(plain.get(name) or "") for name in ("context", "agent", "ancestor", "call")]
        return cls(float(at), kind, names[0], packed(plain["data"]), *names[1:])


class TraceLog:
    """The entries of one run, in order and bounded; pieces of one text are put together (Q-14)."""

    def __init__(self, maximum: int = MAX_ENTRIES, characters: int = MAX_CHARACTERS) -> None:
        self.entries: list[TraceEntry] = []
        self.dropped = 0
        self._maximum = maximum
        self._room = characters
        self._growing: dict[str, TraceEntry] = {}

    def add(self, entry: TraceEntry) -> TraceEntry | None:
        """The same entry once it is kept; None when it was joined to the one before it, or dropped."""
        last = self._growing.get(entry.context)
        if last is not None and _continues(last, entry):
            self._join(last, str(entry.data.get("text", "")), int(entry.data.get("omitted", 0)))
            return None
        if len(self.entries) >= self._maximum and entry.type != "agent-complete":
            self.dropped += 1
            return None
        self._growing[entry.context] = entry
        self._shorten(entry)
        self.entries.append(entry)
        return entry

    def _join(self, last: TraceEntry, text: str, omitted: int) -> None:
        kept = str(last.data.get("text", ""))
        room = max(0, min(KEPT_TEXT - len(kept), self._room))
        last.data["text"] = kept + text[:room]
        omitted += max(0, len(text) - room)
        if omitted:
            last.data["omitted"] = int(last.data.get("omitted", 0)) + omitted
        self._room -= min(len(text), room)

    def _shorten(self, entry: TraceEntry) -> None:
        maximum = KEPT_TEXT if self._room > 0 else BRIEF
        for name in ("text", "result"):
            text = entry.data.get(name)
            if isinstance(text, str):
                if len(text) > maximum:
                    entry.data[name] = text[:maximum]
                    entry.data["omitted"] = int(entry.data.get("omitted", 0)) + len(text) - maximum
                self._room -= min(len(text), maximum)
        if self._room <= 0 and entry.data.get("args"):
            entry.data |= packed({"args": bounded(entry.value("args"), BRIEF)})


def _continues(last: TraceEntry, entry: TraceEntry) -> bool:
    """Whether a piece of text belongs to the text before it."""
    return (
        entry.type in ("message", "reasoning")
        and last.type == entry.type
        and bool(entry.data.get("delta"))
        and bool(last.data.get("delta"))
        and entry.data.get("messageId") == last.data.get("messageId")
    )


def bounded(value: Any, room: int = KEPT_DATA) -> Any:
    """A copy of JSON-like data that holds at most about ``room`` characters and has no cycles (R-TRC-9)."""
    return _bounded(value, [room], 0)


def _bounded(value: Any, room: list[int], depth: int) -> Any:
    if type(value) is str and len(value) <= room[0]:  # as nearly all: an entry is made for each event of a run
        room[0] -= len(value) + 8
        return value
    if value is None or isinstance(value, _NUMBERS):
        room[0] -= 8
        return value
    if depth < _DEEPEST and (type(value) in _PARTS or isinstance(value, (Mapping, list, tuple))):
        if type(value) is dict or isinstance(value, Mapping):
            return {str(key)[:BRIEF]: _bounded(item, room, depth + 1) for key, item in _while(value.items(), room)}
        return [_bounded(item, room, depth + 1) for item in _while(value, room)]
    text = value if isinstance(value, str) else str(value) if depth < _DEEPEST else "…"
    kept = text[: max(0, room[0])]
    room[0] -= len(kept) + 8
    return kept if len(kept) == len(text) else f"{kept}… ({len(text) - len(kept):,} more characters)"


def _while(items: Any, room: list[int]) -> Any:
    for item in items:
        if room[0] <= 0:
            return
        yield item


# -- from the runtime's events ----------------------------------------------------------------------------------------


def entry_of(event: Event, at: float) -> TraceEntry | None:
    """An event as an entry; None for one that is no part of a trace. ``at``: for events that have no time of theirs."""
    make = _MAKERS.get(type(event))
    return make(event, at) if make is not None else None


def _own(event: Any, at: float, kind: str, data: dict[str, Any], agent: str = "") -> TraceEntry:
    """A trace entry of the run's own agent; empty values are left out."""
    return TraceEntry(at, kind, event.run_id, packed({k: v for k, v in data.items() if v not in ("", None, [])}), agent)


def _traced(event: AgentTraced, _at: float) -> TraceEntry | None:
    if event.type not in TYPES:
        return None
    data = dict(event.data)
    if event.type == "turn-end":  # everything that was said since the last input: it stands in the messages
        data.pop("result", None)
    elif event.type == "tool-result":  # they stand in the call
        data.pop("args", None)
    return TraceEntry(
        event.at, event.type, event.context_id, packed(data), event.agent, event.ancestor_context_id, event.call_id
    )


def _closed(event: MessageClosed, at: float) -> TraceEntry:
    told = [notice.text[:BRIEF] for notice in event.notices]
    data = {
        "messageId": event.message_id,
        "stopReason": event.stop_reason,
        "toolCalls": len(event.tool_calls),
        "elapsedMs": event.elapsed_ms,
        "notices": told,
    }
    return _own(event, at, "turn-end", data | usage_data(event.usage))


def usage_data(usage: Usage | None) -> dict[str, Any]:
    """The data of a ``turn-end`` entry; empty where the usage is unknown."""
    if usage is None:
        return {}
    return {
        "usage": {
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "reasoningTokens": usage.reasoning_tokens,
            "cachedTokens": usage.cached_tokens,
            "writtenTokens": usage.written_tokens,
            "savedUsd": usage.saved_usd,
            "costUsd": usage.cost_usd,
        }
    }


def call_data(tool: str, call_id: str, arguments: Any, category: str = "", parent: str = "") -> dict[str, Any]:
    """The data of a ``tool-call`` entry."""
    return {"tool": tool, "callId": call_id, "args": bounded(arguments), "category": category, "parent": parent}


def result_data(tool: str, call_id: str, text: str, *, is_error: bool, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a ``tool-result`` entry; of the facts only what a reader of traces can use."""
    kept = {name: facts[name] for name in _FACTS if facts.get(name) not in (None, "")}
    return {
        "tool": tool,
        "callId": call_id,
        "isError": is_error,
        "result": text,
        "elapsedMs": facts.get("elapsed_ms"),
        "facts": bounded(kept),
    }


def _called(event: ToolCallStarted, at: float) -> TraceEntry:
    data = call_data(event.tool, event.call_id, event.arguments, event.category, event.parent_call_id)
    return _own(event, at, "tool-call", data)


def _waiting(event: ToolCallWaiting, at: float) -> TraceEntry:
    request = event.request
    return _own(
        event,
        at,
        "tool-waiting",
        {
            "callId": event.call_id,
            "requestId": request.request_id,
            "category": str(request.category),
            "paths": list(request.paths[:20]),
            "raisedBecause": request.raised_because,
        },
    )


def _answered(event: ToolCallAnswered, at: float) -> TraceEntry:
    decision = event.decision
    return _own(
        event,
        at,
        "tool-answered",
        {
            "callId": event.call_id,
            "decision": decision.choice,
            "by": decision.by,
            "reason": decision.reason[:KEPT_DATA],
            "rule": bounded(decision.rule) if decision.rule else None,
        },
    )


def _finished(event: ToolCallFinished, at: float) -> TraceEntry:
    facts = {**event.facts, "state": event.state, "code": event.code, "elapsed_ms": event.elapsed_ms}
    data = result_data(event.tool, event.call_id, event.text, is_error=event.is_error, facts=facts)
    return _own(event, at, "tool-result", data)


def retry_data(event: RetryScheduled) -> dict[str, Any]:
    """The data of a ``retry`` entry."""
    return {
        "attempt": event.attempt,
        "delayMs": int(event.delay_s * 1000),
        "error": event.detail[:KEPT_DATA],
        "code": event.code,
    }


def _stood(event: MiddlewareRan, at: float) -> TraceEntry:
    data = {
        "name": event.name,
        "level": event.level,
        "did": event.did,
        "elapsedMs": event.elapsed_ms,
        "detail": event.detail[:KEPT_DATA],
    }
    return replace(_own(event, at, "middleware", data), call=event.call_id)


def ending_data(status: str, detail: str, limit: str, code: str) -> dict[str, Any]:
    """The data of an ``agent-complete`` entry."""
    return {"status": status, "detail": detail[:KEPT_DATA], "limit": limit, "code": code}


def _text(event: TextArrived | ReasoningArrived, at: float) -> TraceEntry:
    kind = "message" if isinstance(event, TextArrived) else "reasoning"
    return _own(event, at, kind, {"text": event.text, "delta": True, "messageId": event.message_id})


_MAKERS: dict[type, Callable[[Any, float], TraceEntry | None]] = {
    AgentTraced: _traced,
    RunStarted: lambda e, at: _own(e, at, "agent-start", {"model": e.model}, e.agent),
    MessageOpened: lambda e, at: _own(e, at, "turn-start", {"messageId": e.message_id, "turnNumber": e.round_number}),
    TextArrived: _text,
    ReasoningArrived: _text,
    MessageClosed: _closed,
    ToolCallStarted: _called,
    MiddlewareRan: _stood,
    ToolCallWaiting: _waiting,
    ToolCallAnswered: _answered,
    ToolCallFinished: _finished,
    RetryScheduled: lambda e, at: _own(e, at, "retry", retry_data(e)),
    RunEnded: lambda e, at: _own(e, at, "agent-complete", ending_data(e.reason, e.detail, e.limit, e.code)),
}
