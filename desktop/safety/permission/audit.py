"""The activity log as the gate and the pipeline write it: no line of it holds a secret (R-SEC-4, R-PRM-13)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.safety import Redactor

MAX_TEXT = 4000
"""Characters of one text of a line: lines are kept for good, and most of what is in them comes from a model."""
MAX_LISTED = 200
"""Paths of a line, links of a chain, values of its details."""


class ActivityStore(Protocol):
    """What this room needs of the store for the activity log."""

    def add(self, *, entry: AuditEntry) -> Awaitable[int | None]:
        """Write a line; returns its number."""
        ...

    def note(self, *, entry: AuditEntry) -> None:
        """Write a line without waiting for it."""
        ...

    def settle(self, *, number: int, outcome: str) -> None:
        """What came of a line's call."""
        ...


class RedactedLog:
    """An ``ActivityStore`` around another one. ``digest`` stays: an approval is bound to it, and it says nothing."""

    def __init__(self, log: ActivityStore, redactor: Redactor) -> None:
        self._log = log
        self._redactor = redactor

    async def add(self, entry: AuditEntry) -> int | None:
        """Add a redacted line and return its number. Implements ``AuditSink``."""
        return await self._log.add(entry=self._clean(entry))

    def note(self, *, entry: AuditEntry) -> None:
        """Add a redacted line."""
        self._log.note(entry=self._clean(entry))

    def settle(self, *, number: int, outcome: str) -> None:
        """What came of a line's call."""
        self._log.settle(number=number, outcome=self._redactor.redact_text(outcome))

    def _clean(self, entry: AuditEntry) -> AuditEntry:
        extra: Mapping[str, Any] = _capped(self._redactor.redact_data(entry.extra), 0)

        def text(whole: str) -> str:
            return _cut(self._redactor.redact_text(whole[: 2 * MAX_TEXT]))

        return replace(
            entry,
            call_id=text(entry.call_id),
            chain=tuple(map(text, entry.chain[:MAX_LISTED])),
            tool=text(entry.tool),
            summary=self._redactor.mask_known(entry.summary),  # cleaned as data where it was made
            paths=_listed(tuple(map(text, entry.paths[:MAX_LISTED])), len(entry.paths)),
            outcome=text(entry.outcome),
            extra=extra,
        )


def _listed(paths: tuple[str, ...], count: int) -> tuple[str, ...]:
    return paths if count <= MAX_LISTED else (*paths, f"and {count - MAX_LISTED:,} more")


def _cut(text: str) -> str:
    """What is cut off was redacted before, so that no half of a secret is left."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _capped(value: Any, depth: int) -> Any:
    """Data of a bounded size."""
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, Mapping):
        kept = list(value.items())[:MAX_LISTED] if depth < 4 else []
        return {_capped(key, depth): _capped(item, depth + 1) for key, item in kept}
    if isinstance(value, list | tuple):
        return [_capped(item, depth + 1) for item in value[:MAX_LISTED]] if depth < 4 else []
    return value
