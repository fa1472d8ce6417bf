"""Lines of the logs of a conversation that tell of calls which may have been done: begun in a run that was cut off."""

from __future__ import annotations

import json
import sqlite3
from typing import NamedTuple

from desktop.store.worker import StoreThread

_ROOTS = (
    "SELECT DISTINCT t.thread_id FROM runs r JOIN called_runs c USING (run_id) JOIN runs t ON t.run_id = c.tree_run_id "
    "WHERE r.thread_id = ?"
)
_CUT = "SELECT run_id FROM runs WHERE end_reason = 'interrupted' AND thread_id IN (SELECT value FROM json_each(?))"
_BELOW = (
    "SELECT DISTINCT r.thread_id FROM called_runs c JOIN runs r USING (run_id) "
    "WHERE c.tree_run_id IN (SELECT value FROM json_each(?))"
)
_OPEN = (
    "SELECT e.agent, e.digest FROM effects e WHERE e.run_id IN (SELECT value FROM json_each(?)) AND e.kind = 'tool' "
    "AND e.phase = 'begun' AND e.summary <> '' AND NOT EXISTS (SELECT 1 FROM effects o WHERE o.run_id = e.run_id "
    "AND o.kind = 'tool' AND o.agent = e.agent AND o.phase IN ('completed', 'failed'))"
)
_LINES = (
    "SELECT e.run_id, e.agent, e.digest, e.phase, e.summary, coalesce(r.end_reason, '') = 'interrupted' "
    "FROM effects e JOIN runs r USING (run_id) WHERE r.thread_id IN (SELECT value FROM json_each(?)) "
    "AND e.kind = 'tool' AND (e.agent IN (SELECT value FROM json_each(?)) OR e.digest IN "
    "(SELECT value FROM json_each(?))) ORDER BY r.started_at, r.rowid, e.sequence"
)


class CallLine(NamedTuple):
    """A line about the call ``key``; ``cut_off``: the run was that the log belongs to."""

    run_id: str
    key: str
    digest: str
    phase: str
    summary: str
    cut_off: bool


class UncertainCallRepository:
    """Reads the stored calls whose outcome is unknown."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def lines(self, thread_id: str) -> list[CallLine]:
        """All lines about such calls, and about those just like them, in the order in which they came; of the thread,
        of the one that its agent was called from, and of the agents that were called from there. Mostly none."""

        def work(connection: sqlite3.Connection) -> list[CallLine]:
            def column(query: str, *values: str) -> list[str]:
                return [row[0] for row in connection.execute(query, values)]

            threads = [thread_id, *column(_ROOTS, thread_id)]
            cut = column(_CUT, json.dumps(threads))
            if not cut:
                return []
            threads += column(_BELOW, json.dumps(cut))
            runs = json.dumps(column(_CUT, json.dumps(threads)))
            found = list(connection.execute(_OPEN, (runs,)))
            if not found:
                return []
            keys, digests = json.dumps([row[0] for row in found]), json.dumps([row[1] for row in found])
            rows = connection.execute(_LINES, (json.dumps(threads), keys, digests))
            return [CallLine._make((*row[:5], bool(row[5]))) for row in rows]

        return await self._thread.read(work)
