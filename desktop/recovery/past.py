"""What an earlier process did with a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from desktop.domain.tools import ToolResult, ToolSpec

VALUE_UNKNOWN = "value.unknown"
"""The code of a result of which it is known that the call was done, and not what it gave."""


@dataclass(frozen=True, slots=True)
class RecalledCall:
    """What is known of a call from before. ``result``: it is done, this came of it. ``again``: it had begun, nobody
    knows whether it was done, and a person is asked this. ``goes_on``: it had begun, with the tool as it is now, and
    all it does are calls of which each is known or asked about by itself. ``arguments`` are those a person had made of
    its own; ``masked``: without a secret that was among them."""

    result: ToolResult | None = None
    again: str = ""
    goes_on: bool = False
    arguments: Mapping[str, Any] | None = None
    masked: bool = False


class Memory(Protocol):
    """What a run knows of the calls that earlier runs left open."""

    def knows(self, run_id: str) -> bool:
        """Whether this run goes on with anything."""
        ...

    def recall(self, run_id: str, key: str, spec: ToolSpec) -> RecalledCall | None:
        """Once for each call; None: it is to be made as any other."""
        ...

    def question(self, run_id: str, key: str, spec: ToolSpec) -> str | None:
        """What a person is asked before this call, made inside no other, is made again: "" where it may be, unasked;
        None: nothing is known of it."""
        ...

    def same_tool(self, run_id: str, key: str, spec: ToolSpec) -> bool:
        """Whether such a call was allowed with the tool as it is now: only then it may go on unasked."""
        ...

    def left(self, run_id: str, key: str) -> tuple[str, ...]:
        """What was done inside this call before, or may have been, and was not asked for again; a line each."""
        ...

    def refused(self, run_id: str, key: str) -> tuple[str, ...]:
        """The same of a call that is not made again."""
        ...

    def other_way(self, run_id: str, key: str) -> str:
        """What a person is asked before this call is made, because what was made in its place before has not been asked
        for again; "" for most."""
        ...

    def stop(self, run_id: str) -> None:
        """A person ends the run instead of saying what became of a call."""
        ...
