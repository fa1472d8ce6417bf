"""Grants with an end: each use is counted in one statement that looks at every bound, so that none is overrun."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from desktop.domain.approval.bounded_grants import BoundedGrant, GrantBounds, GrantEnd
from desktop.store.rows import clean
from desktop.store.worker import StoreThread

KEPT_S = 30 * 24 * 3600.0
"""So long an ended grant is kept."""
_GRANT = (
    "grant_id, thread_id, seen_in, project, tool, how, created_at, pattern, calls, until, most_bytes, used_calls, "
    "used_bytes, latest_at, ended, ended_at"
)
_USE = (
    "UPDATE grants SET used_calls = used_calls + 1, used_bytes = used_bytes + :size, latest_at = max(latest_at, :at) "
    "WHERE grant_id = :grant AND ended = '' AND used_calls < calls AND :at < until AND :at >= latest_at - 5 "
    "AND (most_bytes IS NULL OR used_bytes + :size <= most_bytes)"
)


class GrantRepository:
    """What a person granted. Every change is on the disk when its call returns."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def add(self, *, grant: BoundedGrant) -> None:
        """Keep one, and forget those that ended long ago."""
        values, old = _values(grant), grant.created_at - KEPT_S

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM grants WHERE ended <> '' AND ended_at < ?", (old,))
            connection.execute(f"INSERT INTO grants ({_GRANT}) VALUES ({','.join('?' * len(values))})", values)

        await self._thread.write(work, durable=True)

    async def held(self) -> list[BoundedGrant]:
        """All that hold, the oldest first."""
        query = f"SELECT {_GRANT} FROM grants WHERE ended = '' ORDER BY created_at, grant_id"
        return await self._thread.read(lambda connection: [_grant(row) for row in connection.execute(query)])

    async def use(self, *, grant_id: str, size: int, at: float) -> BoundedGrant | None:
        """Count a call that writes ``size`` bytes, if every bound leaves room for it; the grant as it is then. None:
        nothing was counted."""

        def work(connection: sqlite3.Connection) -> BoundedGrant | None:
            if connection.execute(_USE, {"grant": grant_id, "size": size, "at": at}).rowcount != 1:
                return None
            return _grant(connection.execute(f"SELECT {_GRANT} FROM grants WHERE grant_id = ?", (grant_id,)).fetchone())

        return await self._thread.write(work, durable=True)

    async def end(self, *, grant_id: str, ended: GrantEnd, at: float) -> None:
        """It holds no more; of one that had ended already the first reason stays."""
        change = "UPDATE grants SET ended = ?, ended_at = ? WHERE grant_id = ? AND ended = ''"
        await self._thread.write(lambda connection: connection.execute(change, (ended, at, grant_id)), durable=True)

    async def latest(self) -> float:
        """The latest time that is written down of grants and threads: a clock before it was set back. 0: nothing is."""
        query = "SELECT (SELECT max(latest_at) FROM grants), (SELECT max(updated_at) FROM threads)"
        row = await self._thread.read(lambda connection: connection.execute(query).fetchone())
        return max(float(at or 0.0) for at in row)


def _values(grant: BoundedGrant) -> tuple[Any, ...]:
    bounds = grant.bounds
    return (
        grant.grant_id,
        clean(grant.thread_id),
        clean(grant.seen_in),
        clean(grant.project),
        clean(grant.tool),
        grant.how,
        grant.created_at,
        clean(bounds.pattern),
        bounds.calls,
        bounds.until,
        bounds.most_bytes,
        grant.used_calls,
        grant.used_bytes,
        grant.latest_at,
        grant.ended,
        grant.ended_at,
    )


def _grant(row: Sequence[Any]) -> BoundedGrant:
    made = iter(row)
    who = [next(made) for _ in range(7)]
    bounds = GrantBounds(next(made), next(made), next(made), next(made))
    return BoundedGrant(who[0], who[1], who[2], who[3], who[4], who[5], who[6], bounds, *made)
