"""The runs of agents that were called as tools: whose log has their effects, and which call each of them answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from desktop.domain.runs.call_keys import is_inside
from desktop.domain.threads import RunRecord
from desktop.store.rows import RUN, run_from
from desktop.store.worker import StoreThread

_OF_CALL = (
    "SELECT {columns} FROM called_runs c JOIN runs r USING (run_id) WHERE c.call_key = ? "
    "ORDER BY r.started_at DESC, r.rowid DESC LIMIT 1"
)


class CalledRunRepository:
    """A row a run, which goes with it. ``tree_run_id`` is the run at whose root the person's own agent stands."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def add(self, *, run_id: str, tree_run_id: str, call_key: str) -> None:
        """A run that has begun works for the call ``call_key`` (runs/call_keys.py) of the run ``tree_run_id``."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO called_runs VALUES (?,?,?)", (run_id, tree_run_id, call_key))

        await self._thread.write(work)

    async def latest(self, *, call_key: str) -> RunRecord | None:
        """The last run, of whatever caller, that was to answer this call; its thread has the agent's messages. None:
        the call has not come so far, or the thread is gone."""
        query = _OF_CALL.format(columns=", ".join(f"r.{name.strip()}" for name in RUN.split(",")))

        def work(connection: sqlite3.Connection) -> RunRecord | None:
            row = connection.execute(query, (call_key,)).fetchone()
            return run_from(row) if row is not None else None

        return await self._thread.read(work)

    async def of_thread(self, *, thread_id: str) -> str:
        """The call that the agent of this thread was to answer; "" where nobody called one."""
        query = "SELECT call_key FROM runs JOIN called_runs USING (run_id) WHERE thread_id = ? ORDER BY started_at"

        def work(connection: sqlite3.Connection) -> str:
            row = connection.execute(query, (thread_id,)).fetchone()
            return row[0] if row is not None else ""

        return await self._thread.read(work)

    async def known(self, call_keys: Iterable[str]) -> frozenset[str]:
        """The calls among these that an agent's run was begun for and whose thread still exists."""
        asked = tuple(call_keys)
        query = "SELECT DISTINCT call_key FROM called_runs WHERE call_key = ?"

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            return frozenset(key for key in asked if connection.execute(query, (key,)).fetchone() is not None)

        return await self._thread.read(work) if asked else frozenset()

    async def trees(self, run_ids: Iterable[str]) -> Mapping[str, str]:
        """In whose log the effects of these runs stand, where it is not their own."""
        return await self._first("SELECT tree_run_id FROM called_runs WHERE run_id = ?", run_ids)

    async def callers(self, call_keys: Iterable[str]) -> Mapping[str, str]:
        """By message: the call on whose behalf an agent made these calls in a thread of its own."""
        asked = {key.partition(":")[0] for key in call_keys if not is_inside(key)}
        query = "SELECT c.call_key FROM messages m JOIN called_runs c USING (run_id) WHERE m.message_id = ?"
        return await self._first(query, asked)

    async def _first(self, query: str, keys: Iterable[str]) -> Mapping[str, str]:
        """What a query finds first for each of these keys; those for which there is nothing are left out."""
        asked = tuple(keys)

        def work(connection: sqlite3.Connection) -> dict[str, str]:
            rows = ((key, connection.execute(query, (key,)).fetchone()) for key in asked)
            return {key: row[0] for key, row in rows if row is not None}

        return await self._thread.read(work) if asked else {}

    async def threads(self, tree_run_ids: Iterable[str]) -> frozenset[str]:
        """Where the agents wrote that worked in these runs."""
        asked = tuple(tree_run_ids)
        query = "SELECT r.thread_id FROM called_runs c JOIN runs r USING (run_id) WHERE c.tree_run_id = ?"

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            return frozenset(row[0] for one in asked for row in connection.execute(query, (one,)))

        return await self._thread.read(work) if asked else frozenset()
