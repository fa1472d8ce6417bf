"""Entries of the activity log as lines of its chain, and back.

What goes into a line is named here and nowhere else. ``register`` gives migration 0003 the same functions in SQL; so
what they make of an old entry must never change.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping
from typing import Any

from desktop.domain.approval.audit import AuditKind, AuditRow, plain
from desktop.domain.approval.audit_chain import FIRST, ChainEnd, Damage, Finding, canonical, digest, link
from desktop.domain.approval.permission import AuditEntry
from desktop.store.rows import clean, to_json

KINDS: tuple[AuditKind, ...] = ("call", "adopted", "start", "break")
_TEXTS = ("run", "thread", "call", "tool", "category", "decision", "by", "digest", "summary", "outcome")
_WHY: dict[Damage, str] = {
    "cut": "When Assent opened the log, its end was not the one that was last written down. Lines are missing. "
    "After a power cut they can be those of the last moments; otherwise somebody took them out.",
    "unanchored": "When Assent opened the log, the file that keeps its end was missing or could not be read. "
    "Lines that were cut off before would not show.",
    "unguarded": "When Assent opened the log, the database no longer refused changes to it. The guards are back.",
}


def call_line(entry: AuditEntry, kind: AuditKind = "call") -> str:
    """A decision, or a call that nobody had to be asked about."""
    return canonical({"kind": kind, **_storable(plain(entry))})


def outcome_line(number: int, outcome: str, at: float) -> str:
    """What came of the call of an earlier line."""
    return canonical({"kind": "outcome", "of": number, "outcome": clean(outcome), "at": at})


def start_line(at: float, adopted: int) -> str:
    """The first line of a chain; ``adopted`` entries before it were taken over from a log without one."""
    return canonical({"kind": "start", "at": at, "adopted": adopted})


def break_line(why: str, at: float, expected: ChainEnd, found: ChainEnd) -> str:
    """The end of the log was not where it had been, and it goes on from where it is."""
    return canonical(
        {
            "kind": "break",
            "why": why,
            "at": at,
            "expected": expected.number,
            "expected_link": expected.link,
            "found": found.number,
            "found_link": found.link,
        }
    )


def _storable(value: Any) -> Any:
    """JSON that every reader understands: no halves of characters, no numbers that are none, text for the rest."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return _storable(json.loads(to_json(value)))


def row_from(number: int, line: str, outcome_line_text: str | None = None) -> AuditRow:
    """A line, with the line of its outcome if there is one. A line that somebody wrote by hand is read as far as it
    goes: the chain tells what it is worth."""
    content = content_of(line)
    found = str(content.get("kind", ""))
    kind: AuditKind = next((known for known in KINDS if known == found), "other")
    later = content_of(outcome_line_text) if outcome_line_text else {}
    outcome = later.get("outcome") or content.get("outcome", "")
    return AuditRow(
        number, kind, entry_from({**content, "outcome": outcome}), _number(later.get("at")), _note(kind, content)
    )


def entry_from(content: Mapping[str, Any]) -> AuditEntry:
    """The inverse of ``plain``, for content that nobody vouches for."""
    run, thread, call, tool, category, decision, by, made, summary, outcome = (
        str(content.get(name, "")) for name in _TEXTS
    )
    extra = content.get("extra")
    return AuditEntry(
        at=_number(content.get("at")) or 0.0,
        run_id=run,
        thread_id=thread,
        call_id=call,
        chain=_texts(content.get("chain")),
        tool=tool,
        category=category,
        decision=decision,
        by=by,
        digest=made,
        summary=summary,
        paths=_texts(content.get("paths")),
        outcome=outcome,
        extra=extra if isinstance(extra, dict) else {},
    )


def _note(kind: AuditKind, content: Mapping[str, Any]) -> str:
    if kind == "start":
        adopted = content.get("adopted")
        taken = f" The {adopted:,} before this one were written without it and taken over." if adopted else ""
        return f"From here on each line is chained to all before it.{taken}" if isinstance(adopted, int) else ""
    if kind == "break":
        return _WHY[_why(content)]
    return "" if kind in ("call", "adopted") else "A line of another version of Assent."


def content_of(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _number(value: Any) -> float | None:
    finite = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if finite else None


def break_from(line: str, before: float | None) -> Finding:
    """What a ``break`` line tells; ``before`` is the time of the line before it."""
    content = content_of(line)
    why = _why(content)
    expected, found = (_whole(content.get(name)) for name in ("expected", "found"))
    first, last = (found + 1, expected) if expected > found else (expected or found, found)
    return Finding(why, first, last, before, _number(content.get("at")))


def _why(content: Mapping[str, Any]) -> Damage:
    return next((known for known in _WHY if known == content.get("why")), "cut")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def register(connection: sqlite3.Connection) -> None:
    """The functions of migration 0003: ``audit_adopted`` (an old row as a line), ``audit_start`` and ``audit_link``."""
    connection.create_function("audit_adopted", 14, _adopted, deterministic=True)
    connection.create_function("audit_start", 2, start_line, deterministic=True)
    connection.create_function("audit_link", 2, _link, deterministic=True)


def _link(previous: str | None, line: str) -> str:
    return link(previous or FIRST, digest(line))


def _adopted(
    at: float,
    run_id: str,
    thread_id: str,
    call_id: str,
    chain: str,
    tool: str,
    category: str,
    decision: str,
    by: str,
    made: str,
    summary: str,
    paths: str,
    outcome: str,
    extra: str,
) -> str:
    """Columns of the table as it was before format 3."""
    return call_line(
        AuditEntry(
            at,
            run_id,
            thread_id,
            call_id,
            tuple(json.loads(chain)),
            tool,
            category,
            decision,
            by,
            made,
            summary,
            tuple(json.loads(paths)),
            outcome,
            json.loads(extra),
        ),
        "adopted",
    )
