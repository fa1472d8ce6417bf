"""The journals of runs on disk (R-JRN-2): the ``EffectLog`` of the supervision room."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from desktop.domain.runs.effects import EffectRecord, digested, is_digest
from desktop.store.rows import clean
from desktop.store.worker import StoreThread

_COLUMNS = "run_id, sequence, agent, step, kind, name, digest, phase, at, value_json, summary"
_INSERT = f"INSERT INTO effects ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
_END_EMPTY = (
    f"INSERT INTO effects ({_COLUMNS}) SELECT run_id, 1, '', 0, 'end', '', '', 'cancelled', ended_at, '', "
    "'Assent ended before it came to anything' FROM runs r WHERE end_reason = 'interrupted' "
    "AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id) "
    "AND NOT EXISTS (SELECT 1 FROM called_runs c WHERE c.run_id = r.run_id)"
)


class EffectRepository:
    """One append-only log a run. What ``append`` has answered survives kill -9.

    It need not survive a power cut: a commit that waits for the disk takes 2.8 ms here, as long as fdatasync does, one
    that does not 0.04 ms (medians of 200). So a write that began in the last moments before the power went may count as
    not begun when its run is gone on with. The activity log has it: its line is on the disk before the call begins.
    """

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    def append(self, records: Sequence[EffectRecord]) -> asyncio.Future[None]:
        """Write all or none, in the order of the calls. Raises StoreFull and the like, through the future."""
        rows = [_storable(record) for record in records]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(_INSERT, rows)

        return self._thread.write(work)

    async def load(self, run_id: str) -> list[EffectRecord]:
        """The whole journal of a run, in order."""
        query = f"SELECT {_COLUMNS} FROM effects WHERE run_id = ? ORDER BY sequence"

        def work(connection: sqlite3.Connection) -> list[EffectRecord]:
            return [EffectRecord._make(row) for row in connection.execute(query, (run_id,))]

        return await self._thread.read(work)

    async def unfinished(self, thread_id: str = "") -> list[str]:
        """Runs, of one thread or all, with a journal that has no terminal entry, the latest first: those that can be
        gone on with."""
        query = (
            "SELECT e.run_id FROM effects e JOIN runs r USING (run_id) WHERE e.sequence = 1 AND NOT EXISTS "
            "(SELECT 1 FROM effects t WHERE t.run_id = e.run_id AND t.kind = 'end') AND ? IN ('', r.thread_id) "
            "ORDER BY r.started_at DESC"
        )
        return await self._thread.read(lambda connection: [row[0] for row in connection.execute(query, (thread_id,))])

    async def end_empty(self) -> int:
        """Logs of runs that were cut off before anything stood in them get their end, which is all there is to say
        (R-JRN-5); how many. Those of agents that were called are a part of their caller's."""
        return await self._thread.write(lambda connection: connection.execute(_END_EMPTY).rowcount)

    async def summaries(self, thread_id: str) -> list[dict[str, Any]]:
        """The latest summaries of a thread's older messages, newest first, from whatever runs."""
        query = (
            "SELECT value_json FROM effects WHERE kind = 'summary' AND name = ? AND value_json <> '' "
            "ORDER BY at DESC, rowid DESC LIMIT 20"
        )

        def work(connection: sqlite3.Connection) -> list[dict[str, Any]]:
            return [json.loads(row[0]) for row in connection.execute(query, (thread_id,))]

        return await self._thread.read(work)

    async def forget(self, run_id: str) -> None:
        """Replace what effects of a run gave by digests, because nobody goes on with the run (R-JRN-2, R-SUP-13). The
        inboxes of agents that worked in it go."""
        query = "SELECT rowid, value_json FROM effects WHERE run_id = ? AND value_json <> '' AND kind <> 'summary'"

        def work(connection: sqlite3.Connection) -> None:
            kept = [(digested(text), row) for row, text in connection.execute(query, (run_id,)) if not is_digest(text)]
            connection.executemany("UPDATE effects SET value_json = ? WHERE rowid = ?", kept)
            connection.execute("DELETE FROM queue WHERE run_id = ? AND run_id <> ''", (run_id,))

        await self._thread.write(work)


def _storable(record: EffectRecord) -> EffectRecord:
    """Values are ASCII already; names and summaries are texts of models and may hold half a surrogate pair."""
    if record.name.isascii() and record.summary.isascii():
        return record
    return record._replace(name=clean(record.name), summary=clean(record.summary))
