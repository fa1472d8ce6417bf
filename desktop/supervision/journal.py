"""The run's journal: what was done, in order, with exactly one terminal entry (R-JRN-2, R-JRN-5, R-JRN-6)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from desktop.domain.errors import BugError

EntryKind = Literal["llm", "tool", "spawn", "join", "emit", "sleep_until", "summary", "end"]
EntryStatus = Literal["completed", "failed", "cancelled", "limit"]
MAX_TEXT = 400


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One journaled call. ``started`` and ``ended`` are seconds since the epoch; digests are sha256 hex, short;
    ``value`` is what a later run goes on with, as a summary, without secrets."""

    run_id: str
    sequence: int
    kind: EntryKind
    name: str
    arguments_digest: str
    status: EntryStatus
    result_digest: str
    started: float
    ended: float
    summary: str = ""
    value: Any = None

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


class Journal:
    """Append-only log of one run; ``sink`` stores an entry and must not wait; ``redact`` cleans every text."""

    def __init__(
        self, run_id: str, sink: Callable[[JournalEntry], None], redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self.run_id = run_id
        self._sink = sink
        self._redact = redact
        self._sequence = 0
        self._ended = False

    def append(
        self,
        kind: EntryKind,
        name: str,
        *,
        arguments: Any = None,
        result: Any = None,
        status: EntryStatus = "completed",
        started: float | None = None,
        summary: str = "",
        value: Any = None,
    ) -> JournalEntry:
        """One entry more. BugError after the terminal entry."""
        if self._ended:
            raise BugError(f"run {self.run_id} is over, its journal is closed")
        self._sequence += 1
        now = time.time()
        entry = JournalEntry(
            self.run_id,
            self._sequence,
            kind,
            name,
            digest(arguments),
            status,
            digest(result),
            started if started is not None else now,
            now,
            self._redact(summary)[:MAX_TEXT],
            value,
        )
        self._ended = kind == "end"
        self._sink(entry)
        return entry

    def end(self, status: EntryStatus, summary: str = "") -> JournalEntry:
        """The terminal entry, once."""
        return self.append("end", "run", status=status, summary=summary)


def digest(value: Any) -> str:
    """Short sha256 of a plain value; empty for None."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(_plain(value), sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
