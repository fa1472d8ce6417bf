"""Uncertain calls: they may have been done before Assent ended, and nobody has said whether they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class UncertainCalls(Protocol):
    """One for a run and all that works in it: what is asked about once is not asked about by the next."""

    def has(self, tool: str, arguments: Mapping[str, Any] | None) -> bool:
        """Whether there is such a call of this tool, by its own name, with just these arguments."""
        ...

    def answered(self, tool: str, arguments: Mapping[str, Any] | None, *, unknown: bool) -> None:
        """A person was asked about one: it is done now, or nobody knows still."""
        ...
