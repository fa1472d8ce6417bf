"""The rules that a person wrote or asked to be remembered, how often each counted, and calls to try new ones on."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.approval.permission import RecordedCall, RuleRecord
from desktop.domain.errors import NotFound
from desktop.store.rows import clean, to_json
from desktop.store.worker import StoreThread

_log = logging.getLogger(__name__)

MAX_CALLS = 20_000
"""Different calls that are kept; the oldest go first."""
SPARE = 500
"""So many more there may be until they are forgotten."""
_RULE = (
    "rule_id, tool, constraints_json, decision, origin, created_at, last_used_at, uses, revoked_at, pattern, thread_id"
)
_MARKS = "?,?,?,?,?,?,?,?,?,?,?"


class RuleRepository:
    """Remembered decisions. A revoked rule stays on record and applies no more."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread
        self._recorded = 0

    async def add(self, *, rule: RuleRecord, replaces: str = "") -> None:
        """Store a rule; the rule that it ``replaces`` is revoked in the same transaction."""
        values, at = _values(rule), rule.created_at

        def work(connection: sqlite3.Connection) -> None:
            if replaces:
                _change(connection, "SET revoked_at = ? WHERE rule_id = ? AND revoked_at IS NULL", at, replaces)
            connection.execute(f"INSERT INTO rules ({_RULE}) VALUES ({_MARKS})", values)

        await self._thread.write(work, durable=True)

    async def list_rules(self, *, revoked: bool = False) -> list[RuleRecord]:
        """The rules in force, oldest first; with ``revoked`` all that ever were."""
        condition = "" if revoked else "WHERE revoked_at IS NULL "
        query = f"SELECT {_RULE} FROM rules {condition}ORDER BY created_at, rule_id"

        def work(connection: sqlite3.Connection) -> list[RuleRecord]:
            return [RuleRecord(row[0], row[1], json.loads(row[2]), *row[3:]) for row in connection.execute(query)]

        return await self._thread.read(work)

    async def get(self, *, rule_id: str) -> RuleRecord:
        """One rule, revoked or not. Raises NotFound."""
        query = f"SELECT {_RULE} FROM rules WHERE rule_id = ?"

        def work(connection: sqlite3.Connection) -> RuleRecord:
            row = connection.execute(query, (rule_id,)).fetchone()
            if row is None:
                raise NotFound("That rule no longer exists.")
            return RuleRecord(row[0], row[1], json.loads(row[2]), *row[3:])

        return await self._thread.read(work)

    async def used(self, *, rule_id: str, at: float) -> None:
        """Count one use of a rule."""
        await self._one("SET uses = uses + 1, last_used_at = ? WHERE rule_id = ?", at, rule_id)

    def count(self, *, uses: Mapping[str, tuple[int, float]]) -> asyncio.Future[None]:
        """Add uses to rules: by rule, how many and when the last one was. Rules without a row here (built in, or in a
        file) are skipped."""
        counted = [(number, at, rule_id) for rule_id, (number, at) in uses.items()]

        def work(connection: sqlite3.Connection) -> None:
            for number, at, rule_id in counted:
                change = "UPDATE rules SET uses = uses + ?, last_used_at = ? WHERE rule_id = ?"
                if connection.execute(change, (number, at, rule_id)).rowcount == 0:
                    connection.execute(
                        "INSERT INTO rule_uses VALUES (?, ?, ?) ON CONFLICT (rule_id) DO UPDATE SET "
                        "uses = uses + excluded.uses, last_used_at = excluded.last_used_at",
                        (clean(rule_id), number, at),
                    )

        return self._thread.write(work)

    async def built_in_uses(self) -> dict[str, tuple[int, float]]:
        """The uses counted of rules that have no row of their own."""

        def work(connection: sqlite3.Connection) -> dict[str, tuple[int, float]]:
            rows = connection.execute("SELECT rule_id, uses, last_used_at FROM rule_uses")
            return {row[0]: (row[1], row[2]) for row in rows}

        return await self._thread.read(work)

    async def revoke(self, *, rule_id: str, at: float) -> None:
        """From now on it applies to nothing. Raises NotFound when it is not in force."""
        await self._one("SET revoked_at = ? WHERE rule_id = ? AND revoked_at IS NULL", at, rule_id)

    async def restore(self, *, rule_id: str) -> None:
        """Make a revoked rule apply again. Raises NotFound when there is no such revoked rule."""
        await self._one("SET revoked_at = ? WHERE rule_id = ? AND revoked_at IS NOT NULL", None, rule_id)

    async def _one(self, change: str, value: float | None, rule_id: str) -> None:
        await self._thread.write(lambda connection: _change(connection, change, value, rule_id), durable=True)

    # -- calls to try rules on ----------------------------------------------------------------------------------------

    def record(self, *, make: Callable[[], RecordedCall]) -> None:
        """Keep the call that ``make`` gives, in the store's thread and without waiting; one that is known is only
        counted. What cannot be written is logged."""

        tidy = self._recorded % SPARE == 0
        self._recorded += 1

        def work(connection: sqlite3.Connection) -> None:
            call = make()
            values = (call.digest, clean(call.tool), call.facts, call.times, call.thread_id, call.at)
            connection.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET "
                "times = times + excluded.times, thread_id = excluded.thread_id, at = excluded.at",
                values,
            )
            if tidy:
                _forget_the_oldest(connection)

        self._thread.write(work).add_done_callback(_complain)

    async def recorded(self, *, limit: int = MAX_CALLS) -> list[RecordedCall]:
        """The calls that are kept, newest first."""
        query = "SELECT digest, tool, facts_json, thread_id, at, times FROM calls ORDER BY at DESC, digest LIMIT ?"

        def work(connection: sqlite3.Connection) -> list[RecordedCall]:
            return [RecordedCall(*row) for row in connection.execute(query, (limit,))]

        return await self._thread.read(work)


def _forget_the_oldest(connection: sqlite3.Connection) -> None:
    """Only now and then: counting looks at all of them."""
    kept = "SELECT digest FROM calls ORDER BY at DESC, digest LIMIT ?"
    if connection.execute("SELECT count(*) FROM calls").fetchone()[0] > MAX_CALLS:
        connection.execute(f"DELETE FROM calls WHERE digest NOT IN ({kept})", (MAX_CALLS,))


def _values(rule: RuleRecord) -> tuple[Any, ...]:
    return (
        rule.rule_id,
        clean(rule.tool),
        to_json(rule.constraints),
        rule.decision,
        clean(rule.origin),
        rule.created_at,
        rule.last_used_at,
        rule.uses,
        rule.revoked_at,
        clean(rule.pattern),
        rule.thread_id,
    )


def _change(connection: sqlite3.Connection, change: str, value: float | None, rule_id: str) -> None:
    if connection.execute(f"UPDATE rules {change}", (value, rule_id)).rowcount != 1:
        raise NotFound("That rule no longer exists.")


def _complain(done: asyncio.Future[Any]) -> None:
    problem = None if done.cancelled() else done.exception()
    if problem is not None:
        _log.error("a call could not be kept for trying rules on: %s", problem)
