"""Nested calls. Their events are quiet, unless a person has to look (a request needs a card to stand on); when they
are over, the card of the call that made them lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.runs.events import (
    AgentListening,
    AgentTraced,
    Event,
    EventSink,
    ToolCallAdvanced,
    ToolCallOutput,
    ToolCallStarted,
    ToolCallWaiting,
)
from desktop.domain.safety import Redactor
from desktop.domain.text.words import arguments_words
from desktop.pipeline.context import CallResult
from desktop.skills.values.serialise import safe_snapshot

BRIEF = 160
"""Characters that the list says of one call's arguments."""
_READ = 4096
"""Bytes of them that are looked at."""


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
        """Pass an event on, marked as one of the parent call. Implements ``EventSink``."""
        if isinstance(event, AgentTraced | AgentListening):
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
        if self._shown and not isinstance(event, ToolCallOutput | ToolCallAdvanced):
            self._sink(event)


def listed(
    tool: str, arguments: Mapping[str, Any] | None, outcome: CallResult, redactor: Redactor | None
) -> dict[str, Any]:
    """A call that is over, for ``facts["nested"]``; its arguments in brief, as they were run and without secrets."""
    edited = outcome.facts.get("edited")
    shown = safe_snapshot({**(arguments or {}), **(edited if isinstance(edited, Mapping) else {})}, 4, _READ)
    if redactor is not None:
        shown = redactor.redact_data(shown)
    words = arguments_words(shown) if isinstance(shown, Mapping) else ""
    brief = words if len(words) <= BRIEF else f"{words[:BRIEF]}…"
    return {"tool": tool[:64], "state": outcome.state, "elapsed_ms": outcome.elapsed_ms, "args": brief}
