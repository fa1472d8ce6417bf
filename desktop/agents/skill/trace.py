"""What an agent did, event by event: its trace, what topics are told, what the window shows.

Nothing here waits for anybody. Entries are safe snapshots without secrets (R-TRC-9); skills that subscribed are called
beside the run, in order, by a task that outlives it for a moment (R-TRC-7).
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from desktop.agents.skill.persistence import inbox_of, thread_context
from desktop.domain.errors import KnownError
from desktop.domain.ids import short_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import AgentTraced, EventSink
from desktop.skills.values.serialise import safe_snapshot
from desktop.supervision.topics import TopicListener, Topics

TRACED = frozenset({"turn-start", "message", "reasoning", "tool-call", "tool-result", "turn-end", "error", "retry"})
MAX_ENTRIES = 5_000
MAX_BYTES = 32_768
MAX_WAITING = 1_000
LISTENER_S = 60.0
_PUBLISHED = {"message": "agent-message", "error": "agent-error"}
_QUIET = frozenset({"reasoning", "retry"})

_log = logging.getLogger(__name__)

CallListener = Callable[[TopicListener, Mapping[str, Any]], Awaitable[Any]]
"""Calls the skill of a subscription, in the name of who subscribed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """The agent that a trace belongs to; see ``AgentTraced``."""

    thread_id: str
    """The thread of the run."""
    run_id: str
    """The run."""
    call_id: str
    """The call that the agent works for."""
    context_id: str
    """The agent's context."""
    ancestor: str
    """The context of the agent above it."""
    agent: str
    """The agent's name."""
    root: str = ""
    """The context id of the run's root."""
    topic: str = ""
    """The topic that was asked for, or "": the run's own topic is always told (R-TRC-8)."""

    @property
    def in_thread(self) -> str:
        """The agent above it among those that work for calls of the thread; "" below the thread's own agent."""
        own = {thread_context(self.thread_id, side) for side in ("a", "b")}
        return "" if self.ancestor in own else self.ancestor

    @property
    def scope(self) -> dict[str, str]:
        """What the agent's calls find as ``nonlocals.agent`` (R-AG-6)."""
        return {
            "events": self.topic,
            "contextId": self.context_id,
            "ancestorContextId": self.ancestor,
            "inbox": inbox_of(self.context_id),
        }


class Trace:
    """The trace of one agent. ``entries`` is what ``locals.agent.trace`` holds (R-TRC-1)."""

    def __init__(self, told: TopicEvents, sink: EventSink, redact: Callable[[str], str]) -> None:
        self.entries: list[dict[str, Any]] = []
        self.whose = told.whose
        self._told = told
        self._sink = sink
        self._redact = redact

    @property
    def context_id(self) -> str:
        """The context id of the agent."""
        return self.whose.context_id

    def record(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Add one hook event to the trace and publish it (R-TRC-3, R-TRC-4)."""
        data = cleaned(fields, self._redact)
        add_entry(self.entries, {"type": kind, "timestamp": time.time(), **data})
        self._tell(kind, data)

    def mark(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Publish ``agent-start`` or ``agent-complete``, which are no part of the trace."""
        self._tell(kind, cleaned(fields, self._redact))

    def _tell(self, kind: str, data: Mapping[str, Any]) -> None:
        whose, at, number = self.whose, time.time(), self._told.next_number()
        self._sink(
            AgentTraced(
                thread_id=whose.thread_id,
                run_id=whose.run_id,
                context_id=whose.context_id,
                ancestor_context_id=whose.in_thread,
                call_id=whose.call_id,
                agent=whose.agent,
                sequence=number,
                type=kind,
                at=at,
                data=data,
            )
        )
        self._told.publish(kind, data, number, at)


class TopicEvents:
    """Tells the topics of one agent what it does: that of its run, and the one that was asked for (R-TRC-3, R-TRC-8).
    ``deliver`` calls the skills that subscribed."""

    def __init__(self, whose: Whose, topics: Topics | None, deliver: Delivery | None = None) -> None:
        self.whose = whose
        self._topics = topics
        self._deliver = deliver
        self._numbers = itertools.count(1)
        self._names = tuple(filter(None, (f"run.{whose.run_id}", whose.topic)))

    @property
    def is_heard(self) -> bool:
        """Whether anybody listens now."""
        topics = self._topics
        return topics is not None and any(topics.is_heard(name) for name in self._names)

    def next_number(self) -> int:
        """Of the next event; each event has one, told or not (R-TRC-5)."""
        return next(self._numbers)

    def publish(self, kind: str, data: Mapping[str, Any], number: int, at: float) -> None:
        """One event by the table of names (R-TRC-4). ``data`` is clean."""
        if self._topics is None or kind in _QUIET:
            return
        failed = kind == "tool-result" and bool(data.get("isError"))
        published, whose = "tool-error" if failed else _PUBLISHED.get(kind, kind), self.whose
        identity = {
            "runId": whose.run_id,
            "contextId": whose.context_id,
            "ancestorContextId": whose.ancestor,
            "agent": whose.agent,
            "sequence": number,
        }
        for topic in self._names:
            envelope = {
                "id": short_id(),
                "topic": topic,
                "type": published,
                "source": whose.agent,
                "data": {**data, **identity},
                "timestamp": at,
                "rootContextId": whose.root or whose.run_id,
            }
            self._publish(self._topics, topic, envelope)

    def _publish(self, topics: Topics, topic: str, envelope: Mapping[str, Any]) -> None:
        try:
            event = topics.emit(topic, envelope, self.whose.run_id)
        except KnownError as error:
            _log.warning("a topic could not be told: %s", error)
            return
        if self._deliver is not None:
            for one in topics.listeners(topic, self.whose.run_id):
                self._deliver.put(one, event.to_plain())


def cleaned(fields: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    """A safe snapshot of an event's fields without secrets (R-TRC-9)."""
    snapshot = safe_snapshot(dict(fields), 8, MAX_BYTES)
    found: dict[str, Any] = _redacted(snapshot, redact) if isinstance(snapshot, Mapping) else {}
    for taken in ("type", "timestamp"):
        found.pop(taken, None)
    return found


class Delivery:
    """Calls subscribed skills one after another, beside the run. Deltas are dropped when they pile up, oldest first,
    and nothing else (R-TRC-7). ``spawn`` starts an owned task."""

    def __init__(
        self, call: CallListener, spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
    ) -> None:
        self._call = call
        self._spawn = spawn
        self._waiting: deque[tuple[TopicListener, Mapping[str, Any]]] = deque()
        self._task: asyncio.Task[None] | None = None

    def put(self, one: TopicListener, event: Mapping[str, Any]) -> None:
        """Queue an event for a listener; never waits."""
        self._waiting.append((one, event))
        if len(self._waiting) > MAX_WAITING:
            self._drop_a_delta()
        if self._task is None or self._task.done():
            self._task = self._spawn(self._work(), "tell subscribed skills")

    def _drop_a_delta(self) -> None:
        for at, (_, event) in enumerate(self._waiting):
            if _is_delta(event):
                del self._waiting[at]
                return

    async def _work(self) -> None:
        while self._waiting:
            one, event = self._waiting.popleft()
            try:
                async with asyncio.timeout(LISTENER_S):
                    await self._call(one, event)
            except (KnownError, TimeoutError) as error:
                _log.info("the subscribed skill %s failed: %s", one.ref, error)


def add_entry(entries: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """One entry more of a trace; of very many the oldest go."""
    entries.append(entry)
    if len(entries) > MAX_ENTRIES:
        entries[:] = joined(entries)[-MAX_ENTRIES:]


def joined(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with pieces of one text put together, as a kept trace has them (Q-14)."""
    found: list[dict[str, Any]] = []
    for entry in entries:
        last = found[-1] if found else None
        same = last is not None and last["type"] == entry["type"] and last.get("delta") and entry.get("delta")
        if same and last is not None:
            last["text"] = str(last.get("text", "")) + str(entry.get("text", ""))
        else:
            found.append(dict(entry))
    return found


def _is_delta(event: Mapping[str, Any]) -> bool:
    inner = event.get("data")
    data = inner.get("data") if isinstance(inner, Mapping) else None
    return isinstance(data, Mapping) and bool(data.get("delta"))


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(item, redact) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redacted(item, redact) for item in value]
    return value
