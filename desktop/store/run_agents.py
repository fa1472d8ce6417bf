"""The agents of runs as they were last told (domain/runs/tree.py): what the Run panel shows after a restart."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence

from desktop.domain.runs.tree import NodeFacts, StoredRun, facts_from_plain, facts_to_plain
from desktop.store.rows import to_json
from desktop.store.worker import StoreThread

MAXIMUM = 1000
"""Agents of a run that are read."""
_PUT = "INSERT OR REPLACE INTO run_agents SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE run_id = ?)"
_OLDER = (
    "DELETE FROM run_agents WHERE run_id IN (SELECT run_id FROM runs WHERE thread_id = ? AND run_id <> ?) "
    "AND EXISTS (SELECT 1 FROM runs WHERE run_id = ?)"
)
_LAST = (
    "SELECT a.run_id, r.ended_at, r.end_reason FROM run_agents a JOIN runs r USING (run_id) WHERE a.thread_id = ? "
    "ORDER BY r.started_at DESC LIMIT 1"
)
_AGENTS = (
    "SELECT a.path, coalesce(t.thread_id, ''), a.started_at, a.facts_json FROM run_agents a LEFT JOIN threads t "
    "ON t.thread_id = a.thread_id WHERE a.run_id = ? ORDER BY a.started_at, length(a.path), a.path LIMIT ?"
)


class RunAgentRepository:
    """A row an agent. Runs that have no record, as a skill that a person tries, have none here either."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    def keep(self, *, run_id: str, nodes: Sequence[NodeFacts], gone: Sequence[str] = ()) -> asyncio.Future[None]:
        """These as they are now, and those ``gone`` no more. With the first agent of a run those of the thread's
        earlier runs go. Raises StoreFull and the like, through the future."""
        rows = [
            (run_id, facts.path, facts.thread_id, facts.started_at, to_json(facts_to_plain(facts)), run_id)
            for facts in nodes
        ]
        first = next((facts.thread_id for facts in nodes if not facts.parent), "")

        def work(connection: sqlite3.Connection) -> None:
            if first:
                connection.execute(_OLDER, (first, run_id, run_id))
            connection.executemany(_PUT, rows)
            connection.executemany(
                "DELETE FROM run_agents WHERE run_id = ? AND path = ?", [(run_id, path) for path in gone]
            )

        return self._thread.write(work)

    async def last(self, *, thread_id: str) -> StoredRun | None:
        """The latest run in which an agent wrote into this thread, its agents in the order in which they began. Those
        whose thread is gone have none."""

        def work(connection: sqlite3.Connection) -> StoredRun | None:
            run = connection.execute(_LAST, (thread_id,)).fetchone()
            if run is None:
                return None
            found = connection.execute(_AGENTS, (run[0], MAXIMUM)).fetchall()
            nodes = tuple(facts_from_plain(row[0], row[1], row[2], json.loads(row[3])) for row in found)
            return StoredRun(run[0], nodes, over=run[1] is not None, reason=run[2])

        return await self._thread.read(work)
