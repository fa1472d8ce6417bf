"""The activity log as the Activity page reads it: filtered, paged, checked, exported (R-PRM-13).

Contract between ``store`` (which keeps it) and the presenter. Times are seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from desktop.domain.approval.audit_chain import ChainReport
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.loading.lazy_dataclass import dataclass

AuditKind = Literal["call", "adopted", "start", "break", "other"]
"""``adopted`` calls were written before there was a chain. ``start`` begins it. ``break``: Assent found at a start
that lines were missing, and went on from there. ``other`` is of a later version."""

AnyDecision = Literal["", "allowed", "edited", "denied", "unanswered", "refused"]
AuditFormat = Literal["jsonl", "csv"]
Progress = Callable[[int, int], None]
"""(done, of how many); called in another thread."""
Stop = Callable[[], bool]
"""Whether the person has had enough; asked in another thread."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries to show; an empty field lets everything through."""

    text: str = ""
    """Searched in what a person can read of an entry."""
    decision: AnyDecision = ""
    """The decision of the entry."""
    category: str = ""
    """The category of the call."""
    tool: str = ""
    """The tool that was called."""
    thread_id: str = ""
    """The thread of the call."""
    by: str = ""
    """Who or what decided."""
    since: float | None = None
    """The earliest time, in seconds since the epoch."""
    until: float | None = None
    """The latest time, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A line of the log with its number. ``outcome_at``: when the outcome was written down, if that was later.
    ``note``: what a line says that is no call."""

    number: int
    kind: AuditKind
    entry: AuditEntry
    outcome_at: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of rows, the newest first. ``more``: there are more rows in the direction that was asked for."""

    rows: tuple[AuditRow, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class AuditChoices:
    """What there is to filter by, each in order; threads newest first."""

    tools: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where a call stands: ``call_id`` is the one whose card shows it (for a call that a skill made, the one nearest
    to it in time), "" where only the thread is left."""

    thread_id: str
    call_id: str = ""


class ActivityLog(Protocol):
    """Reads never wait for, nor hold up, what is being decided. All raise StoreError."""

    def page(
        self, wanted: AuditFilter, *, before: int | None = None, after: int | None = None, limit: int = 200
    ) -> Awaitable[AuditPage]:
        """A page of rows that fit, the newest first: the newest ones, or those older than row ``before`` or newer than
        row ``after``."""
        ...

    def count(self, wanted: AuditFilter) -> Awaitable[int]:
        """How many rows there are."""
        ...

    def choices(self) -> Awaitable[AuditChoices]:
        """The values that occur in the log, for the page's filters."""
        ...

    def check(self, progress: Progress, stop: Stop) -> Awaitable[ChainReport]:
        """Check that no line was changed, added or removed."""
        ...

    def export(
        self, target: str, fmt: AuditFormat, wanted: AuditFilter, progress: Progress, stop: Stop
    ) -> Awaitable[int | None]:
        """Write what fits the filter to a file, whole or not at all; how many rows, or None when it was stopped.
        Raises KnownError when the place refuses."""
        ...

    def place(self, entry: AuditEntry) -> Awaitable[CallPlace | None]:
        """Where the call stands; None when its thread is gone."""
        ...


def plain(entry: AuditEntry) -> dict[str, Any]:
    """An entry as data, under the names that exports use."""
    return {
        "at": entry.at,
        "run": entry.run_id,
        "thread": entry.thread_id,
        "call": entry.call_id,
        "chain": list(entry.chain),
        "tool": entry.tool,
        "category": entry.category,
        "decision": entry.decision,
        "by": entry.by,
        "digest": entry.digest,
        "summary": entry.summary,
        "paths": list(entry.paths),
        "outcome": entry.outcome,
        "extra": dict(entry.extra),
    }
