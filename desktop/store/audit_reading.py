"""Reading the activity log: pages of what fits a filter, what there is to filter by, and the walk along its chain.

Runs in threads of the caller's, each time with a read-only connection of its own: a search through 100,000 entries
holds up no decision, because decisions are written on the store's thread.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from desktop.domain.approval.audit import AuditChoices, AuditFilter, AuditPage, CallPlace, Progress, Stop
from desktop.domain.approval.audit_chain import ChainEnd, ChainReport, ChainWalker, Finding, digest
from desktop.domain.approval.permission import AuditEntry
from desktop.store.audit_log import HeadFile, unguarded
from desktop.store.audit_rows import break_from, content_of, row_from
from desktop.store.database import BUSY_MS
from desktop.store.rows import clean

T = TypeVar("T")
SLICE = 200
"""Lines between two looks at whether to stop."""
PAUSE = 0.0005
"""Seconds of rest after a slice, so that the window always gets its turn at the interpreter."""
_ROW = "SELECT a.seq, a.line, o.line FROM audit a LEFT JOIN audit o ON o.of = a.seq WHERE a.kind <> 'outcome'"
_SOUGHT = (
    *(f"coalesce(a.{name}, '')" for name in ("tool", "category", "decision", "decided_by")),
    *(f"coalesce(json_extract(a.line, '$.{name}'), '')" for name in ("summary", "chain", "paths", "outcome", "extra")),
    "coalesce(json_extract(o.line, '$.outcome'), '')",
)
_TEXT = " AND instr(lower(" + " || ' ' || ".join(_SOUGHT) + "), lower(?)) > 0"
_DECISIONS = {
    "allowed": " AND a.decision LIKE 'allow%' AND a.decision <> 'allow_edited'",
    "edited": " AND a.decision = 'allow_edited'",
    "denied": " AND a.decision LIKE 'deny%' AND a.decided_by NOT IN ('cancelled', 'closed')",
    "unanswered": " AND (a.decision = 'unanswered'"
    " OR (a.decision LIKE 'deny%' AND a.decided_by IN ('cancelled', 'closed')))",  # of earlier versions
    "refused": " AND a.decision = 'refused'",
}
_COLUMNS = ("kind", "of", "thread", "tool", "category", "decision", "by")
_WALK = "SELECT seq, line, hash, at, kind, of, thread_id, tool, category, decision, decided_by FROM audit ORDER BY seq"


@contextlib.contextmanager
def opened(path: Path, stop: Stop) -> Iterator[sqlite3.Connection]:
    """A read-only connection whose queries end, as interrupted, once ``stop`` says so."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000, isolation_level=None)) as connection:
        connection.set_progress_handler(stop, 20_000)
        yield connection


def conditions(wanted: AuditFilter, before: int | None = None, after: int | None = None) -> tuple[str, list[Any]]:
    """A filter as SQL over ``_ROW``, and its values."""
    columns = {"category": wanted.category, "tool": wanted.tool, "thread_id": wanted.thread_id, "decided_by": wanted.by}
    sql = _DECISIONS.get(wanted.decision, "")
    values: list[Any] = []
    for column, value in columns.items():
        if value:
            sql, values = f"{sql} AND a.{column} = ?", [*values, clean(value)]
    for bound, limit in (("at >= ?", wanted.since), ("at < ?", wanted.until), ("seq < ?", before), ("seq > ?", after)):
        if limit is not None:
            sql, values = f"{sql} AND a.{bound}", [*values, limit]
    if wanted.text:
        sql, values = sql + _TEXT, [*values, clean(wanted.text)]
    return sql, values


def page(
    connection: sqlite3.Connection, wanted: AuditFilter, before: int | None, after: int | None, limit: int
) -> AuditPage:
    """The newest that fit, or those next to a number on one of its sides."""
    sql, values = conditions(wanted, before, after)
    query = f"{_ROW}{sql} ORDER BY a.seq {'DESC' if after is None else 'ASC'} LIMIT ?"
    rows = [row_from(*row) for row in connection.execute(query, (*values, limit + 1))]
    kept = rows[:limit]
    return AuditPage(tuple(kept if after is None else reversed(kept)), len(rows) > limit)


def count(connection: sqlite3.Connection, wanted: AuditFilter) -> int:
    """The number of entries that fit."""
    sql, values = conditions(wanted)
    query = f"SELECT count(*) FROM audit a LEFT JOIN audit o ON o.of = a.seq WHERE a.kind <> 'outcome'{sql}"
    return int(connection.execute(query, values).fetchone()[0])


def numbers(connection: sqlite3.Connection, wanted: AuditFilter) -> set[int]:
    """The numbers of all entries that fit."""
    sql, values = conditions(wanted)
    query = f"SELECT a.seq FROM audit a LEFT JOIN audit o ON o.of = a.seq WHERE a.kind <> 'outcome'{sql}"
    return {row[0] for row in connection.execute(query, values)}


def choices(connection: sqlite3.Connection) -> AuditChoices:
    """The distinct values of the columns that can be filtered by; of threads the latest 50."""

    def distinct(column: str) -> tuple[str, ...]:
        query = f"SELECT DISTINCT {column} FROM audit WHERE {column} <> '' ORDER BY {column} LIMIT 200"
        return tuple(row[0] for row in connection.execute(query))

    latest = "SELECT thread_id FROM audit WHERE thread_id <> '' GROUP BY thread_id ORDER BY max(seq) DESC LIMIT 50"
    threads = tuple(row[0] for row in connection.execute(latest))
    return AuditChoices(distinct("tool"), distinct("category"), distinct("decided_by"), threads)


def place(connection: sqlite3.Connection, entry: AuditEntry) -> CallPlace | None:
    """Where a call stands. Its card is the call's own; of a call that a skill made, the one that was running then."""
    alive = "SELECT 1 FROM threads WHERE thread_id = ? AND deleted_at IS NULL"
    if not entry.thread_id or connection.execute(alive, (entry.thread_id,)).fetchone() is None:
        return None
    calls = (
        "SELECT json_extract(b.fields_json, '$.call_id') FROM messages m JOIN blocks b ON b.message_seq = m.seq "
        "WHERE m.thread_id = ? AND b.kind = 'tool_call'"
    )
    own = f"{calls} AND json_extract(b.fields_json, '$.call_id') = ?"
    near = f"{calls} AND m.run_id = ? AND m.created_at <= ? ORDER BY m.seq DESC, b.position"
    found = connection.execute(own, (entry.thread_id, entry.call_id)).fetchone()
    found = found or connection.execute(near, (entry.thread_id, entry.run_id, entry.at)).fetchone()
    return CallPlace(entry.thread_id, str(found[0] or "") if found else "")


# -- the chain ------------------------------------------------------------------------------------------------------


def check(path: Path, kept: HeadFile, progress: Progress, stop: Stop) -> ChainReport:
    """Follow the whole chain. The end that was kept is read first: the table can only have grown since."""
    head, unreadable = kept.read(), kept.exists
    with opened(path, lambda: False) as connection:
        connection.execute("BEGIN")
        walk = _ChainWalk(head)
        for rows in slices(connection, _WALK, progress, stop):
            walk.take(rows)
        if stop():
            return walk.report(cancelled=True)
        if unguarded(connection):
            walk.walker.report(Finding("unguarded", 0, 0))
    walk.compare(unreadable)
    return walk.report()


def slices(
    connection: sqlite3.Connection, query: str, progress: Progress, stop: Stop, size: int = SLICE
) -> Iterator[Sequence[tuple[Any, ...]]]:
    """The rows of a query over all lines, a few at a time, with a rest after each few, until ``stop``."""
    total = connection.execute("SELECT count(*) FROM audit").fetchone()[0]
    cursor, done = connection.execute(query), 0
    progress(0, total)
    while not stop() and (rows := cursor.fetchmany(size)):
        yield rows
        done += len(rows)
        progress(done, total)
        time.sleep(PAUSE)


class _ChainWalk:
    """One walk along the chain of a database."""

    def __init__(self, head: ChainEnd | None) -> None:
        self.walker = ChainWalker()
        self._head = head
        self._link_there = ""
        self._adopted = 0

    def take(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Check the next lines. Columns beside a line must say what it says, because filters go by them."""
        for number, line, claimed, at, *columns in rows:
            before, damaged = self.walker.at, self.walker.damaged
            self.walker.step(number, digest(line), claimed, at)
            content = content_of(line)
            said = [content.get(name) for name in _COLUMNS]
            if self.walker.damaged == damaged and (said != columns or content.get("at") != at):
                self.walker.report(Finding("altered", number, number, before, at))
            if columns[0] == "break":
                self.walker.report(break_from(line, before))
            elif columns[0] == "adopted":
                self._adopted += 1
            if self._head is not None and number == self._head.number:
                self._link_there = claimed

    def compare(self, unreadable: bool) -> None:
        """Compare the walk with the chain's end that was kept outside the database."""
        at, end = self.walker.at, self.walker.head.number
        if self._head is None:
            if unreadable or end > 1:
                self.walker.report(Finding("unanchored", end, end, None, None))
        elif self._head.number > end:
            self.walker.report(Finding("cut", end + 1, self._head.number, at, None))
        elif self._link_there != self._head.link:
            self.walker.report(Finding("cut", self._head.number, self._head.number, None, at))
        if end == 0 and not self.walker.damaged:
            self.walker.report(Finding("cut", 1, 1))

    def report(self, *, cancelled: bool = False) -> ChainReport:
        """The report on what was checked so far."""
        walker = self.walker
        return ChainReport(walker.lines, walker.head, walker.findings, walker.damaged, self._adopted, cancelled)


def reading(path: Path, work: Callable[[sqlite3.Connection], T], stop: Stop) -> T:
    """Run ``work`` on a connection of its own."""
    with opened(path, stop) as connection:
        return work(connection)
