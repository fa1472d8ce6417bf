"""The activity log as the gate and the pipeline write it: no line of it holds a secret (R-SEC-4, R-PRM-13)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from desktop.domain.permission import AuditEntry
from desktop.domain.safety import Redactor


class Log(Protocol):
    """The store's side of it."""

    def add(self, *, entry: AuditEntry) -> Awaitable[int | None]:
        """Write a line; its number."""
        ...

    def note(self, *, entry: AuditEntry) -> None:
        """The same without waiting."""
        ...

    def settle(self, *, number: int, outcome: str) -> None:
        """What came of a line's call."""
        ...


class RedactedLog:
    """A ``Log`` around another one. ``digest`` stays: it is what an approval is bound to, and says nothing."""

    def __init__(self, log: Log, redactor: Redactor) -> None:
        self._log = log
        self._redactor = redactor

    async def add(self, entry: AuditEntry) -> int | None:
        """As an ``AuditSink``."""
        return await self._log.add(entry=self._clean(entry))

    def note(self, *, entry: AuditEntry) -> None:
        """One line more."""
        self._log.note(entry=self._clean(entry))

    def settle(self, *, number: int, outcome: str) -> None:
        """What came of a line's call."""
        self._log.settle(number=number, outcome=self._redactor.redact_text(outcome))

    def _clean(self, entry: AuditEntry) -> AuditEntry:
        text = self._redactor.redact_text
        extra: Mapping[str, Any] = self._redactor.redact_data(entry.extra)
        return replace(
            entry,
            call_id=text(entry.call_id),
            chain=tuple(map(text, entry.chain)),
            tool=text(entry.tool),
            summary=self._redactor.mask_known(entry.summary),  # cleaned as data where it was made
            paths=tuple(map(text, entry.paths)),
            outcome=text(entry.outcome),
            extra=extra,
        )
