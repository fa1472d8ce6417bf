"""The calls that a skill made by itself, as the card of the skill's own call tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.runs.events import ToolCallFinished
from desktop.presenter.transcript.items import NestedCall, Part, ToolPart, call_state

MAXIMUM = 100
"""Nested calls that a card lists."""
BRIEF = 161
"""Characters of a call's arguments in that list."""


def nested_calls(facts: Mapping[str, Any]) -> tuple[NestedCall, ...]:
    """What ``facts["nested"]`` of a result says, as far as it can be read: it may come from a file."""
    listed = facts.get("nested")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return ()
    return tuple(_read(entry) for entry in listed[:MAXIMUM] if isinstance(entry, Mapping))


def _read(entry: Mapping[str, Any]) -> NestedCall:
    elapsed = entry.get("elapsed_ms")
    known = isinstance(elapsed, int | float) and not isinstance(elapsed, bool)
    state = call_state(entry.get("state"))
    milliseconds = int(elapsed) if known and elapsed is not None else None
    return NestedCall(str(entry.get("tool"))[:64], state, milliseconds, str(entry.get("args") or "")[:BRIEF])


def with_one(known: tuple[NestedCall, ...], part: ToolPart, event: ToolCallFinished) -> tuple[NestedCall, ...]:
    """One more that is over, while the call that made it is not."""
    if len(known) >= MAXIMUM:
        return known
    state = call_state(event.state)
    return (*known, NestedCall(part.tool[:64], state, event.elapsed_ms, part.summary[:BRIEF]))


def put_below(parts: dict[str, Part], nested: ToolPart) -> dict[str, Part]:
    """The parts with a nested call's card below its parent's and that one's other nested cards; at the end without."""
    listed = list(parts.values())
    family = [i for i, part in enumerate(listed) if isinstance(part, ToolPart) and nested.parent in _names(part)]
    listed.insert(family[-1] + 1 if family else len(listed), nested)
    return {part.part_id: part for part in listed}


def _names(part: ToolPart) -> tuple[str, str]:
    return part.call_id, part.parent
