"""Puts a model's tool calls together from the pieces it streams, however carelessly they are numbered."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from desktop.workers.model_host.limits import ALL_ARGUMENTS_MAX, ARGUMENTS_MAX, CALLS_MAX, ID_MAX, NAME_MAX, VALUES_MAX
from desktop.workers.model_host.wire.thinking import call_id

_TEXTS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


@dataclass
class Collected:
    """One call being written."""

    index: int
    """Its number in the answer."""
    call_id: str = ""
    """The provider's id of it."""
    signature: str = ""
    """Gemini's of the thinking that led to it."""
    name: str = ""
    """Of the tool."""
    pieces: list[str] = field(default_factory=list)
    """Its arguments as JSON, as they came."""
    characters: int = 0
    """How many of them have come."""
    problem: str = ""
    """What is wrong with it, for the model; empty where nothing is."""


class Collector:
    """Collects tool calls from the deltas of a stream: ``add`` each delta. ``full``: the model wants more than we take,
    and the stream should be ended."""

    def __init__(self) -> None:
        self._calls: list[Collected] = []
        self._by_index: dict[int, Collected] = {}
        self._characters = 0
        self.full = False

    def add(self, deltas: Iterable[Any]) -> list[Collected]:
        """Take the ``tool_calls`` of one chunk; returns the calls that grew."""
        grown: list[Collected] = []
        for delta in deltas:
            function = getattr(delta, "function", None)
            name = str(getattr(function, "name", None) or "")[:NAME_MAX]
            arguments = getattr(function, "arguments", None) or ""
            own, signature = call_id(str(getattr(delta, "id", None) or ""))
            call = self._find(getattr(delta, "index", None), own[:ID_MAX], name)
            if call is None:
                return grown
            call.signature = call.signature or signature
            call.name = call.name or name
            self._grow(call, arguments if isinstance(arguments, str) else str(arguments))
            grown.append(call)
        return grown

    def _find(self, index: Any, call_id: str, name: str) -> Collected | None:
        """The call a piece belongs to. The same number with another id and a name is another call: some servers
        number every call 0. A piece without number and id continues the last call."""
        if not isinstance(index, int):
            index = None
        if index is None and not (call_id or name) and self._calls:
            return self._calls[-1]
        known = self._by_index.get(index) if index is not None else self._by_id(call_id)
        if known is not None and not (call_id and name and known.call_id and known.call_id != call_id):
            known.call_id = known.call_id or call_id
            return known
        return self._open(index, call_id)

    def _by_id(self, call_id: str) -> Collected | None:
        return next((c for c in reversed(self._calls) if call_id and c.call_id == call_id), None)

    def _open(self, index: int | None, call_id: str) -> Collected | None:
        if len(self._calls) >= CALLS_MAX:
            self._overflow(f"More than {CALLS_MAX} calls in one message; this and later ones were not run.")
            return None
        call = Collected(len(self._calls), call_id)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call

    def _grow(self, call: Collected, arguments: str) -> None:
        room = min(ARGUMENTS_MAX - call.characters, ALL_ARGUMENTS_MAX - self._characters)
        if len(arguments) > room:
            self._overflow("")
            call.problem = f"Arguments are longer than {ARGUMENTS_MAX:,} characters."
            return
        call.pieces.append(arguments)
        call.characters += len(arguments)
        self._characters += len(arguments)

    def _overflow(self, problem: str) -> None:
        if self._calls and problem:
            self._calls[-1].problem = problem
        self.full = True

    def finish(self) -> list[Collected]:
        """All calls, each with an id that no other has."""
        seen: set[str] = set()
        for call in self._calls:
            if not call.call_id or call.call_id in seen:
                call.call_id = "call_" + uuid.uuid4().hex[:16]
            seen.add(call.call_id)
            if not call.name and not call.problem:
                call.problem = "The call names no tool."
            if not call.problem and crowded("".join(call.pieces)):
                call.problem = f"The arguments hold more than {VALUES_MAX:,} values."
        return self._calls


def crowded(raw: str) -> bool:
    """Whether JSON text holds more values than the app could read without holding its loop. Texts do not count."""
    return _separators(raw) > VALUES_MAX and _separators(_TEXTS.sub('""', raw)) > VALUES_MAX


def _separators(raw: str) -> int:
    return raw.count(",") + raw.count("[") + raw.count("{")
