"""The events of nested calls: quiet, unless a person has to look (a request needs a card to stand on)."""

from __future__ import annotations

from dataclasses import replace

from desktop.domain.events import AgentTraced, Event, EventSink, ToolCallOutput, ToolCallStarted, ToolCallWaiting


class NestedSink:
    """Passes on a nested call's events once it waits for a person; before that it keeps the first back.

    ``parent_call_id`` is the call it is nested in; of several around each other the outermost counts: it has a card.
    """

    def __init__(self, sink: EventSink, parent_call_id: str) -> None:
        self._sink = sink
        self._parent = parent_call_id
        self._held: ToolCallStarted | None = None
        self._shown = False

    def __call__(self, event: Event) -> None:
        """An EventSink."""
        if isinstance(event, AgentTraced):
            self._sink(event)
            return
        if isinstance(event, ToolCallStarted):
            event = replace(event, parent_call_id=self._parent)
            if not self._shown:
                self._held = event
                return
        if isinstance(event, ToolCallWaiting):
            if self._held is not None:
                self._sink(self._held)
                self._held = None
            self._shown = True
        if self._shown and not isinstance(event, ToolCallOutput):
            self._sink(event)
