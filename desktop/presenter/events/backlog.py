"""Runtime events on their way to the widgets: in causal order, deltas merged, handed out in small batches.

Qt-free and safe from any thread. Text is never lost; live output of a tool, which is for display only, keeps its end.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace
from io import StringIO

from desktop.domain.runs.events import (
    AgentTraced,
    Event,
    ReasoningArrived,
    TextArrived,
    ToolCallAdvanced,
    ToolCallOutput,
    ToolCallWriting,
)

BATCH_EVENTS = 64
BATCH_CHARACTERS = 16_384
"""A batch is this small so that whoever draws it stays within a frame."""

OUTPUT_LIMIT = 262_144
"""Characters of a running tool's undrawn output that are kept; older ones make way."""

MANY_ENTRIES = 2_000
"""With more waiting than this, thinking and text of one message merge even where they alternate."""

Delta = TextArrived | ReasoningArrived | ToolCallOutput
_Key = tuple[type, str, str]
_DELTAS = (TextArrived, ReasoningArrived, ToolCallOutput)


class _Growing:
    """Deltas of one part, merged. ``place`` is how far its text was handed out."""

    def __init__(self, first: Delta) -> None:
        self.first = first
        self.place = 0
        self._text = StringIO()
        self.add(first.text)

    def add(self, text: str) -> None:
        self._text.write(text)
        if isinstance(self.first, ToolCallOutput) and self._text.tell() > 2 * OUTPUT_LIMIT:
            kept = self._text.getvalue()[-OUTPUT_LIMIT:]
            self._text = StringIO()
            self._text.write(kept)

    def cut(self, room: int) -> tuple[Delta, bool]:
        """The next ``room`` characters as an event, and whether that was all."""
        self._text.seek(self.place)
        text = self._text.read(room)
        self.place += len(text)
        self._text.seek(0, 2)
        return replace(self.first, text=text), self.place >= self._text.tell()


class EventBacklog:
    """Events that wait to be shown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: deque[Event | _Growing] = deque()
        self._open: dict[_Key, _Growing] = {}
        self._latest: dict[str, _Key] = {}
        self._writing: dict[tuple[str, int | str], ToolCallWriting | ToolCallAdvanced] = {}
        self._urgent = False

    def __len__(self) -> int:
        return len(self._entries) + len(self._writing)

    @property
    def urgent(self) -> bool:
        """True while something waits that is not a mere delta."""
        return self._urgent

    def put(self, event: Event) -> bool:
        """Keep an event; True when it should be shown at once."""
        with self._lock:
            if isinstance(event, _DELTAS):
                self._grow(event)
            elif isinstance(event, ToolCallWriting):
                self._writing[event.message_id, event.index] = event
            elif isinstance(event, ToolCallAdvanced):
                self._writing[event.message_id, event.call_id] = event  # only the newest counts
            elif isinstance(event, AgentTraced) and event.data.get("delta"):
                self._put_piece(event)
            else:
                self._close_open()
                self._entries.append(event)
                self._urgent = True
            return self._urgent

    def _put_piece(self, event: AgentTraced) -> None:
        """A piece of what an agent in the run says: no hurry, and one piece with the one right before it."""
        last = self._entries[-1] if self._entries else None
        if isinstance(last, AgentTraced) and last.data.get("delta") and _same_text(last, event):
            text = f"{last.data.get('text', '')}{event.data.get('text', '')}"
            if len(text) <= BATCH_CHARACTERS:
                self._entries[-1] = replace(last, data={**last.data, "text": text})
                return
        self._entries.append(event)

    def _grow(self, event: Delta) -> None:
        key = (type(event), event.message_id, event.call_id if isinstance(event, ToolCallOutput) else "")
        growing = self._open.get(key)
        in_order = isinstance(event, ToolCallOutput) or self._latest.get(event.message_id) == key
        if growing is not None and (in_order or len(self._entries) > MANY_ENTRIES):
            growing.add(event.text)
            return
        growing = self._open[key] = _Growing(event)
        self._entries.append(growing)
        if not isinstance(event, ToolCallOutput):
            self._latest[event.message_id] = key

    def _close_open(self) -> None:
        """Nothing that comes later may be merged into what came before a structural event."""
        self._open.clear()
        self._latest.clear()
        self._entries.extend(self._writing.values())
        self._writing.clear()

    def take(self) -> tuple[Event, ...]:
        """The next batch in order; empty when nothing waits."""
        with self._lock:
            if not self._entries:
                self._close_open()
            batch: list[Event] = []
            room = BATCH_CHARACTERS
            while self._entries and len(batch) < BATCH_EVENTS and room > 0:
                entry = self._entries[0]
                if isinstance(entry, _Growing):
                    event, done = entry.cut(room)
                    room -= len(event.text)
                    batch.append(event)
                    if not done:
                        break
                    self._forget(entry)
                else:
                    batch.append(entry)
                self._entries.popleft()
            self._urgent = self._urgent and bool(self._entries)
            return tuple(batch)

    def _forget(self, growing: _Growing) -> None:
        for key in [key for key, value in self._open.items() if value is growing]:
            del self._open[key]


def _same_text(one: AgentTraced, other: AgentTraced) -> bool:
    return (one.run_id, one.context_id, one.type) == (other.run_id, other.context_id, other.type)
