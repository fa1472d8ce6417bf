"""Runs, and what a crash left open."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from desktop.domain.errors import NotFound
from desktop.domain.messages import Usage
from desktop.domain.threads import Recovery, RunRecord
from desktop.store import forks, tree
from desktop.store.rows import RUN, USAGE, USAGE_COLUMNS, clean, run_from, run_row, to_json, usage_row
from desktop.store.worker import StoreThread

_FAILED = frozenset({"error"})
_INTERRUPTED = frozenset({"interrupted", "terminated"})


class RunRepository:
    """A run is started once and ended once; the thread's state in the list follows (R-JRN-5)."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def start(self, *, record: RunRecord) -> None:
        """Store a run that begins."""

        def work(connection: sqlite3.Connection) -> None:
            values = run_row(record)
            connection.execute(f"INSERT INTO runs ({RUN}) VALUES ({','.join('?' * len(values))})", values)
            _show(connection, record.thread_id)

        await self._thread.write(work)

    async def end(
        self,
        *,
        run_id: str,
        reason: str,
        at: float,
        detail: str = "",
        usage: Usage | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> bool:
        """A run is over; False when it already was, and then nothing changes: the first end stands (R-JRN-5)."""

        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT thread_id, ended_at FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if row is None:
                raise NotFound(f"There is no run {run_id}.")
            if row[1] is not None:
                return False
            connection.execute(
                "UPDATE runs SET ended_at = ?, end_reason = ?, detail = ?, extra_json = coalesce(?, extra_json) "
                "WHERE run_id = ?",
                (at, reason, clean(detail), None if extra is None else to_json(extra), run_id),
            )
            if usage is not None:
                connection.execute(
                    f"UPDATE runs SET ({USAGE}) = ({','.join('?' * len(USAGE_COLUMNS))}) WHERE run_id = ?",
                    (*usage_row(usage), run_id),
                )
            _show(connection, row[0])
            return True

        return await self._thread.write(work)

    async def get(self, *, run_id: str) -> RunRecord:
        """One run by its id. Raises NotFound."""

        def work(connection: sqlite3.Connection) -> RunRecord:
            row = connection.execute(f"SELECT {RUN} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if row is None:
                raise NotFound(f"There is no run {run_id}.")
            return run_from(row)

        return await self._thread.read(work)

    async def of_thread(self, *, thread_id: str, limit: int = 100) -> list[RunRecord]:
        """The latest runs of a thread, newest first."""
        query = f"SELECT {RUN} FROM runs WHERE thread_id = ? ORDER BY started_at DESC LIMIT ?"

        def work(connection: sqlite3.Connection) -> list[RunRecord]:
            return [run_from(row) for row in connection.execute(query, (thread_id, limit))]

        return await self._thread.read(work)

    async def unfinished(self) -> list[RunRecord]:
        """Runs that have not ended."""
        query = f"SELECT {RUN} FROM runs WHERE ended_at IS NULL ORDER BY started_at"
        return await self._thread.read(lambda connection: [run_from(row) for row in connection.execute(query)])


def _show(connection: sqlite3.Connection, thread_id: str) -> None:
    """Store the thread's state: running while any of its runs is, else how the last one that was started ended."""
    reasons = [
        row[0]
        for row in connection.execute(
            "SELECT CASE WHEN ended_at IS NULL THEN '' ELSE end_reason END FROM runs WHERE thread_id = ? "
            "ORDER BY ended_at IS NULL DESC, started_at DESC LIMIT 1",
            (thread_id,),
        )
    ]
    state = {"": "running"} | dict.fromkeys(_FAILED, "failed") | dict.fromkeys(_INTERRUPTED, "interrupted")
    connection.execute(
        "UPDATE threads SET state = ? WHERE thread_id = ?", (state.get(reasons[0], "") if reasons else "", thread_id)
    )


def recover(connection: sqlite3.Connection, now: float) -> Recovery:
    """Close what the last process left open: runs end as ``interrupted``, messages keep what they have (S-JRN-2)."""
    ended = connection.execute(
        f"UPDATE runs SET ended_at = ?, end_reason = 'interrupted' WHERE ended_at IS NULL RETURNING {RUN}", (now,)
    ).fetchall()
    messages = [row[0] for row in connection.execute("SELECT seq FROM messages WHERE status = 'open'")]
    for seq in messages:
        connection.execute("UPDATE messages SET status = 'interrupted' WHERE seq = ?", (seq,))
        tree.index(connection, seq)
    forks.recover(connection)
    runs = tuple(run_from(row) for row in ended)
    for run in runs:
        _show(connection, run.thread_id)
    return Recovery(runs, len(messages))
