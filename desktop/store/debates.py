"""Debates: their set-up, how they stand, their finished turns, and forks, which are pointers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from desktop.domain.debates import DebateRecord, DebateRow, DebateStatus, TurnRecord
from desktop.domain.errors import NotFound
from desktop.domain.messages import Usage
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.store import forks, threads, tree
from desktop.store.rows import clean, to_json, usage_of, usage_row
from desktop.store.worker import StoreThread

_RECORD = (
    "SELECT d.setup_json, d.status, d.end_reason, d.end_detail, d.verdict_json, d.forked_from, d.forked_at, "
    "(SELECT message_id FROM messages WHERE seq = d.head_seq), "
    "(SELECT message_id FROM messages WHERE seq = d.fork_seq) FROM debates d WHERE d.thread_id = ?"
)
_ROWS = (
    "SELECT t.thread_id, t.title, t.updated_at, d.status, d.forked_from, t.agent, d.forked_at "
    "FROM debates d JOIN threads t ON t.thread_id = d.thread_id WHERE t.deleted_at IS NULL "
    "ORDER BY t.updated_at DESC, t.seq DESC"
)
_TURN = (
    "l.thread_id, s.number, s.side, s.first_message_id, l.message_id, s.outcome, s.ended_by, s.rounds, s.calls, "
    f"s.started_at, s.ended_at, s.model, s.run_id, {usage_of('s')}"
)
_TURNS = (
    "WITH RECURSIVE path (seq, parent_seq) AS ("
    " SELECT m.seq, m.parent_seq FROM debates d JOIN messages m ON m.seq = d.head_seq WHERE d.thread_id = ?"
    " UNION ALL SELECT m.seq, m.parent_seq FROM path JOIN messages m ON m.seq = path.parent_seq) "
    f"SELECT {_TURN} FROM path JOIN side_turns s ON s.last_seq = path.seq JOIN messages l ON l.seq = s.last_seq "
    "ORDER BY s.last_seq"
)
_USED = """
WITH told (run_id, i, o, r, c, usd, w, saved) AS (
 SELECT run_id, input_tokens, output_tokens, reasoning_tokens, cached_tokens, coalesce(cost_usd, 0.0), written_tokens,
 coalesce(saved_usd, 0.0) FROM runs WHERE thread_id = :thread
 UNION ALL SELECT run_id, sum(input_tokens), sum(output_tokens), sum(reasoning_tokens), sum(cached_tokens),
 total(cost_usd), sum(written_tokens), total(saved_usd) FROM messages WHERE thread_id = :thread GROUP BY run_id
 UNION ALL SELECT s.run_id, sum(s.input_tokens), sum(s.output_tokens), sum(s.reasoning_tokens), sum(s.cached_tokens),
 total(s.cost_usd), sum(s.written_tokens), total(s.saved_usd) FROM side_turns s JOIN messages m ON m.seq = s.last_seq
 JOIN messages f ON f.message_id = s.first_message_id WHERE m.thread_id = :thread AND f.run_id IN ('', s.run_id)
 GROUP BY s.run_id),
runs_used AS (SELECT max(i) i, max(o) o, max(r) r, max(c) c, max(usd) usd, max(w) w, max(saved) saved FROM told
 GROUP BY run_id)
SELECT coalesce(sum(i), 0), coalesce(sum(o), 0), coalesce(sum(r), 0), coalesce(sum(c), 0), total(usd),
 coalesce(sum(w), 0), total(saved) FROM runs_used
"""
_LEFT = (
    "WITH RECURSIVE way (seq) AS ("
    " SELECT (SELECT max(m.seq) FROM messages m WHERE m.parent_seq = d.head_seq AND m.thread_id = d.thread_id)"
    " FROM debates d WHERE d.thread_id = ?"
    " UNION ALL SELECT (SELECT max(m.seq) FROM messages m WHERE m.parent_seq = way.seq) FROM way"
    " WHERE way.seq IS NOT NULL) SELECT seq FROM way WHERE seq IS NOT NULL ORDER BY seq"
)
_SINCE = (
    "WITH RECURSIVE path (seq, parent_seq) AS ("
    " SELECT seq, parent_seq FROM messages WHERE seq = ? AND seq <> ?"
    " UNION ALL SELECT m.seq, m.parent_seq FROM path JOIN messages m ON m.seq = path.parent_seq"
    " WHERE path.parent_seq <> ?) SELECT seq FROM path ORDER BY seq"
)


class DebateRepository:
    """Every change is committed when its call returns. Raises NotFound for what is no debate."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def create(self, *, thread: ThreadRecord, setup: Mapping[str, Any], topic: MessageRecord) -> None:
        """A debate that has not begun: thread, set-up and topic together, on the disk when this returns."""

        def work(connection: sqlite3.Connection) -> None:
            threads.insert(connection, thread)
            _insert(connection, thread.thread_id, setup, "ready")
            seq = tree.insert(connection, topic, make_leaf=True)
            connection.execute("UPDATE debates SET head_seq = ? WHERE thread_id = ?", (seq, thread.thread_id))

        await self._thread.write(work, durable=True)

    async def adopt(self, *, setup: Mapping[str, Any], topic: MessageRecord) -> None:
        """An empty thread, the topic's, becomes a debate that has not begun."""

        def work(connection: sqlite3.Connection) -> None:
            _insert(connection, topic.thread_id, setup, "ready")
            _update(connection, topic.thread_id, head_seq=tree.insert(connection, topic, make_leaf=True))

        await self._thread.write(work)

    async def fork(
        self, *, thread: ThreadRecord, setup: Mapping[str, Any], origin: str, turn: int, message_id: str
    ) -> None:
        """A debate that goes on below ``message_id`` of another thread: nothing is copied."""

        def work(connection: sqlite3.Connection) -> None:
            threads.insert(connection, thread)
            seq = tree.sequence(connection, message_id)[0]
            _insert(connection, thread.thread_id, setup, "paused", origin, turn, seq)
            connection.execute("UPDATE threads SET active_leaf = ? WHERE thread_id = ?", (seq, thread.thread_id))

        await self._thread.write(work, durable=True)

    async def get(self, *, thread_id: str) -> DebateRecord:
        """One debate, deleted ones included."""

        def work(connection: sqlite3.Connection) -> DebateRecord:
            row = connection.execute(_RECORD, (thread_id,)).fetchone()
            if row is None:
                raise _missing()
            verdict = json.loads(row[4]) if row[4] else None
            return DebateRecord(
                thread_id, json.loads(row[0]), row[1], row[2], row[3], verdict, row[5], row[6], row[7] or "", row[8]
            )

        return await self._thread.read(work)

    async def rows(self) -> list[DebateRow]:
        """All debates that are not deleted, the latest first."""
        return await self._thread.read(lambda connection: [DebateRow(*row) for row in connection.execute(_ROWS)])

    async def forks(self, *, thread_id: str) -> list[str]:
        """The debates that were forked from one and are not deleted, the oldest first."""
        query = (
            "SELECT d.thread_id FROM debates d JOIN threads t ON t.thread_id = d.thread_id "
            "WHERE d.forked_from = ? AND t.deleted_at IS NULL ORDER BY t.seq"
        )
        return await self._thread.read(lambda connection: [row[0] for row in connection.execute(query, (thread_id,))])

    async def turns(self, *, thread_id: str) -> list[TurnRecord]:
        """The finished turns on its path, across forks, the oldest first."""
        return await self._thread.read(
            lambda connection: [_turn_from(row) for row in connection.execute(_TURNS, (thread_id,))]
        )

    async def used(self, *, thread_id: str) -> Usage:
        """What a debate's own runs have used, also in turns that broke off; of what it was forked from nothing. Of one
        that died what was written down; its cost is a lower bound where a part of it is unknown."""

        def work(connection: sqlite3.Connection) -> Usage:
            return Usage(*connection.execute(_USED, {"thread": thread_id}).fetchone())

        return await self._thread.read(work)

    async def set_status(
        self, *, thread_id: str, status: DebateStatus, end_reason: str = "", end_detail: str = ""
    ) -> None:
        """How it stands, and why it stopped."""
        await self._set(thread_id, status=status, end_reason=end_reason, end_detail=clean(end_detail))

    async def set_setup(self, *, thread_id: str, setup: Mapping[str, Any]) -> None:
        """Replace the set-up, from the debate's next turn on."""
        await self._set(thread_id, setup_json=to_json(setup))

    async def set_verdict(self, *, thread_id: str, verdict: Mapping[str, Any] | None) -> None:
        """A judge's answer, or none any more."""
        await self._set(thread_id, verdict_json=to_json(verdict) if verdict is not None else "")

    async def finish_turn(self, *, thread_id: str, record: TurnRecord) -> None:
        """Store a finished turn; the next one begins below its last message."""

        def work(connection: sqlite3.Connection) -> None:
            seq = tree.sequence(connection, record.last_message_id)[0]
            values = (
                seq,
                record.first_message_id,
                record.number,
                record.side,
                clean(record.outcome),
                record.ended_by,
                record.rounds,
                record.calls,
                record.started_at,
                record.ended_at,
                clean(record.model),
                record.run_id,
                *usage_row(record.usage),
            )
            connection.execute(f"INSERT INTO side_turns VALUES ({','.join('?' * len(values))})", values)
            _update(connection, thread_id, head_seq=seq)

        await self._thread.write(work)

    async def moderate(self, *, record: MessageRecord, queue_id: str) -> None:
        """A waiting message of a moderator joins the path, and the next turn begins below it: out of the queue, into
        the thread, all at once. Raises NotFound when it was taken back meanwhile."""

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("DELETE FROM queue WHERE queue_id = ?", (queue_id,)).rowcount != 1:
                raise NotFound("That waiting message was already sent or removed.")
            seq = tree.insert(connection, record, make_leaf=True)
            _update(connection, record.thread_id, head_seq=seq)

        await self._thread.write(work, durable=True)

    async def rewind(self, *, thread_id: str) -> None:
        """Show the path that ends where the last finished turn ended; what was begun stays as a branch."""
        await self._thread.write(lambda connection: forks.rewind(connection, thread_id))

    async def left(self, *, thread_id: str) -> list[MessageRecord]:
        """What was written last below the turns that count, oldest first: a turn that broke off, or one under way."""

        def work(connection: sqlite3.Connection) -> list[MessageRecord]:
            return tree.load(connection, [row[0] for row in connection.execute(_LEFT, (thread_id,))])

        return await self._thread.read(work)

    async def show(self, *, thread_id: str, message_id: str) -> None:
        """Show the path that ends in a message of a turn that goes on."""

        def work(connection: sqlite3.Connection) -> None:
            seq = tree.sequence(connection, message_id)[0]
            tree.point_at(connection, seq)
            connection.execute("UPDATE threads SET active_leaf = ? WHERE thread_id = ?", (seq, thread_id))

        await self._thread.write(work)

    async def since(self, *, message_id: str, after: str) -> list[MessageRecord]:
        """The path down to ``message_id``, without ``after`` and what is above it ("": all), oldest first."""

        def work(connection: sqlite3.Connection) -> list[MessageRecord]:
            last = tree.sequence(connection, message_id)[0]
            first = tree.sequence(connection, after)[0] if after else -1
            return tree.load(connection, [row[0] for row in connection.execute(_SINCE, (last, first, first))])

        return await self._thread.read(work)

    async def _set(self, thread_id: str, **values: str | int | None) -> None:
        await self._thread.write(lambda connection: _update(connection, thread_id, **values))


def _insert(
    connection: sqlite3.Connection,
    thread_id: str,
    setup: Mapping[str, Any],
    status: DebateStatus,
    origin: str = "",
    turn: int = 0,
    seq: int | None = None,
) -> None:
    values = (thread_id, to_json(setup), status, "", "", "", origin, turn, seq, seq)
    connection.execute(f"INSERT INTO debates VALUES ({','.join('?' * len(values))})", values)


def _update(connection: sqlite3.Connection, thread_id: str, **values: str | int | None) -> None:
    """Column names are ours, never from outside."""
    columns = ", ".join(f"{name} = ?" for name in values)
    done = connection.execute(f"UPDATE debates SET {columns} WHERE thread_id = ?", (*values.values(), thread_id))
    if done.rowcount != 1:
        raise _missing()


def _turn_from(row: tuple[Any, ...]) -> TurnRecord:
    return TurnRecord(
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        row[6],
        row[7],
        row[8],
        Usage(*row[13:20]),
        row[9],
        row[10],
        row[11],
        row[12],
    )


def _missing() -> NotFound:
    return NotFound("That debate no longer exists.", next_step="Choose another one, or set up a new one.")
