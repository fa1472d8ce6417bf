"""What was decided about calls: the activity log."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from typing import Any

from desktop.domain.permission import AuditEntry
from desktop.store.rows import clean, to_json
from desktop.store.worker import StoreThread

_log = logging.getLogger(__name__)

_AUDIT = (
    "at, run_id, thread_id, call_id, chain_json, tool, category, decision, decided_by, digest, summary, paths_json, "
    "outcome, extra_json"
)
_INSERT = f"INSERT INTO audit ({_AUDIT}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_SOUGHT = ("tool", "category", "decision", "decided_by", "summary", "chain_json", "paths_json", "outcome")


class AuditRepository:
    """Append-only: entries are added, and their outcome is filled in once; nothing is changed or removed (R-PRM-13)."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def add(self, *, entry: AuditEntry) -> int:
        """Write a decision down, on the disk when this returns; its number."""
        values = _values(entry)
        return await self._thread.write(lambda at: at.execute(_INSERT, values).lastrowid or 0, durable=True)

    def note(self, *, entry: AuditEntry) -> None:
        """The same without waiting, for what needs no decision; what cannot be written is logged."""
        values = _values(entry)
        self._thread.write(lambda at: at.execute(_INSERT, values)).add_done_callback(_complain)

    def settle(self, *, number: int, outcome: str) -> None:
        """What came of the call, once and without waiting."""
        query = "UPDATE audit SET outcome = ? WHERE seq = ? AND outcome = ''"
        values = (clean(outcome), number)
        self._thread.write(lambda at: at.execute(query, values)).add_done_callback(_complain)

    async def list_entries(
        self, *, thread_id: str = "", run_id: str = "", tool: str = "", decision: str = "", text: str = "",
        before: int | None = None, limit: int = 200,
    ) -> list[tuple[int, AuditEntry]]:  # fmt: skip
        """(number, entry), newest first; empty filters let everything through; ``text`` is sought in what a person can
        read of an entry; ``before`` pages on by number."""
        filters = {"thread_id": thread_id, "run_id": run_id, "tool": tool, "decision": decision}
        used = {name: value for name, value in filters.items() if value}
        conditions = "".join(f" AND {name} = ?" for name in used) + ("" if before is None else " AND seq < ?")
        values: tuple[Any, ...] = (*used.values(), *(() if before is None else (before,)))
        if text:
            conditions += " AND instr(lower(" + " || ' ' || ".join(_SOUGHT) + "), lower(?)) > 0"
            values = (*values, clean(text))
        query = f"SELECT seq, {_AUDIT} FROM audit WHERE 1{conditions} ORDER BY seq DESC LIMIT ?"

        def work(connection: sqlite3.Connection) -> list[tuple[int, AuditEntry]]:
            return [(row[0], _entry(row[1:])) for row in connection.execute(query, (*values, limit))]

        return await self._thread.read(work)


def _values(entry: AuditEntry) -> tuple[Any, ...]:
    return (
        entry.at, entry.run_id, entry.thread_id, entry.call_id, to_json(entry.chain), clean(entry.tool),
        entry.category, entry.decision, entry.by, entry.digest, clean(entry.summary), to_json(entry.paths),
        clean(entry.outcome), to_json(entry.extra),
    )  # fmt: skip


def _complain(done: asyncio.Future[Any]) -> None:
    problem = None if done.cancelled() else done.exception()
    if problem is not None:
        _log.error("the activity log misses a line: %s", problem)


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    return AuditEntry(
        at=row[0], run_id=row[1], thread_id=row[2], call_id=row[3], chain=tuple(json.loads(row[4])), tool=row[5],
        category=row[6], decision=row[7], by=row[8], digest=row[9], summary=row[10], paths=tuple(json.loads(row[11])),
        outcome=row[12], extra=json.loads(row[13]),
    )  # fmt: skip
