"""The message tree in SQL: insert, walk up to the root, walk down to a leaf. Runs on the store's thread."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from desktop.domain.errors import BugError, NotFound
from desktop.domain.messages import Block
from desktop.domain.threads import MessageRecord
from desktop.store.rows import (
    BLOCK,
    MESSAGE,
    USAGE,
    USAGE_COLUMNS,
    block_from,
    block_row,
    clean,
    message_from,
    usage_row,
)
from desktop.store.search_text import searchable

_INSERT = (
    "INSERT INTO messages (message_id, thread_id, parent_seq, role, created_at, status, side, author, model, run_id, "
    f"round_number, stop_reason, elapsed_ms, {USAGE}) VALUES ({','.join('?' * (13 + len(USAGE_COLUMNS)))})"
)
_UP = (
    "WITH RECURSIVE path (seq, parent_seq) AS ("
    " SELECT seq, parent_seq FROM messages WHERE seq = ?"
    " UNION ALL SELECT m.seq, m.parent_seq FROM path JOIN messages m ON m.seq = path.parent_seq LIMIT ?) "
)
_DOWN = (
    "WITH RECURSIVE way (seq, depth) AS ("
    " SELECT ?, 0 UNION ALL"
    " SELECT coalesce(m.active_child, (SELECT max(c.seq) FROM messages c"
    "  WHERE c.parent_seq = m.seq AND c.thread_id = m.thread_id)), depth + 1"
    " FROM way JOIN messages m ON m.seq = way.seq) "
    "SELECT seq FROM way WHERE seq IS NOT NULL ORDER BY depth DESC LIMIT 1"
)


def sequence(connection: sqlite3.Connection, message_id: str) -> tuple[int, str, int | None]:
    """seq, thread id and parent's seq of a message. Raises NotFound."""
    row = connection.execute(
        "SELECT seq, thread_id, parent_seq FROM messages WHERE message_id = ?", (message_id,)
    ).fetchone()
    if row is None:
        raise NotFound("That message no longer exists.", next_step="Reload the conversation.")
    return row[0], row[1], row[2]


def insert(connection: sqlite3.Connection, record: MessageRecord, *, make_leaf: bool) -> int:
    """Add a message below its parent; its place in the database."""
    row = connection.execute("SELECT active_leaf FROM threads WHERE thread_id = ?", (record.thread_id,)).fetchone()
    if row is None:
        raise NotFound("That conversation no longer exists.", next_step="Start a new chat.")
    parent = None
    if record.parent_id is not None:
        parent, thread_id, _ = sequence(connection, record.parent_id)
        if thread_id != record.thread_id and not _is_fork_point(connection, record.thread_id, parent):
            raise BugError(f"message {record.message_id} would hang below one of another thread")
    values = (
        record.message_id,
        record.thread_id,
        parent,
        record.role,
        record.created_at,
        record.status,
        record.side,
        clean(record.author),
        clean(record.model),
        record.run_id,
        record.round_number,
        record.stop_reason,
        record.elapsed_ms,
        *usage_row(record.usage),
    )
    seq = connection.execute(_INSERT, values).lastrowid
    if seq is None:
        raise BugError("an inserted message has no place")
    insert_blocks(connection, seq, 0, record.blocks)
    if record.status != "open":
        index(connection, seq)
    if make_leaf and parent == row[0]:
        mine = "UPDATE messages SET active_child = ? WHERE seq = ? AND thread_id = ?"  # not that of a fork's origin
        connection.execute(mine, (seq, parent, record.thread_id))
    elif make_leaf:
        point_at(connection, seq)
    connection.execute(
        "UPDATE threads SET updated_at = max(updated_at, ?), active_leaf = ? WHERE thread_id = ?",
        (record.created_at, seq if make_leaf else row[0], record.thread_id),
    )
    return seq


def _is_fork_point(connection: sqlite3.Connection, thread_id: str, parent: int) -> bool:
    """Whether a thread is a fork that goes on right below this message of another one."""
    query = "SELECT 1 FROM debates WHERE thread_id = ? AND fork_seq = ?"
    return connection.execute(query, (thread_id, parent)).fetchone() is not None


def insert_blocks(connection: sqlite3.Connection, seq: int, position: int, blocks: Sequence[Block]) -> None:
    """Blocks from ``position`` on."""
    rows = [(seq, position + place, *block_row(block)) for place, block in enumerate(blocks)]
    connection.executemany(
        "INSERT INTO blocks (message_seq, position, kind, text, fields_json) VALUES (?,?,?,?,?)", rows
    )


def index(connection: sqlite3.Connection, seq: int) -> None:
    """Make a finished message findable by what people and models wrote in it."""
    texts = connection.execute(
        "SELECT text FROM blocks WHERE message_seq = ? AND kind = 'text' ORDER BY position", (seq,)
    ).fetchall()
    body = "\n".join(searchable(text) for (text,) in texts)
    if body.strip():
        connection.execute("INSERT INTO message_search (rowid, body) VALUES (?, ?)", (seq, body))


def path_seqs(connection: sqlite3.Connection, start: int | None, limit: int | None) -> list[int]:
    """From ``start`` up to the root, at most ``limit``, oldest first. A parent is always older than its child."""
    if start is None:
        return []
    rows = connection.execute(_UP + "SELECT seq FROM path", (start, -1 if limit is None else limit))
    return sorted(seq for (seq,) in rows)


_SAID = (
    "SELECT coalesce(sum(CASE m.role WHEN 'tool' "
    "THEN (SELECT count(*) FROM blocks b WHERE b.message_seq = m.seq AND b.kind = 'tool_result') "
    "ELSE EXISTS (SELECT 1 FROM blocks b WHERE b.message_seq = m.seq AND b.kind NOT IN ('notice', 'reasoning')) END"
    "), 0) FROM path JOIN messages m ON m.seq = path.seq"
)
_PICKED = (
    ", wanted (seq, role, parent_seq) AS (SELECT m.seq, m.role, m.parent_seq FROM path JOIN messages m ON m.seq = "
    "path.seq WHERE m.message_id IN (SELECT value FROM json_each(?))) "
    "SELECT seq FROM path WHERE seq IN (SELECT seq FROM wanted) "
    "OR seq IN (SELECT parent_seq FROM wanted WHERE role = 'tool') "
    "OR parent_seq IN (SELECT seq FROM wanted) AND (SELECT role FROM messages r WHERE r.seq = path.seq) = 'tool'"
)


def count_above(connection: sqlite3.Connection, seq: int | None) -> int:
    """How many messages a model would read from the root down to ``seq``: each result is one, what only tells of a
    failure is none."""
    return int(connection.execute(_UP + _SAID, (seq, -1)).fetchone()[0])


def picked_above(connection: sqlite3.Connection, seq: int | None, message_ids: Sequence[str]) -> list[int]:
    """The numbers of ``message_ids`` on the path from the root down to ``seq``, calls with their results, the oldest
    first."""
    return sorted(row[0] for row in connection.execute(_UP + _PICKED, (seq, -1, json.dumps(list(message_ids)))))


def leaf_below(connection: sqlite3.Connection, seq: int) -> int:
    """Where one gets from a message: the child that was shown last, else the newest, and so on down."""
    return int(connection.execute(_DOWN, (seq,)).fetchone()[0])


def point_at(connection: sqlite3.Connection, leaf: int) -> None:
    """Remember on every message of its thread above ``leaf`` that this is the way that is shown."""
    wrong = connection.execute(
        _UP + "SELECT path.seq, p.seq FROM path JOIN messages p ON p.seq = path.parent_seq "
        "WHERE p.active_child IS NOT path.seq AND p.thread_id = (SELECT thread_id FROM messages WHERE seq = ?)",
        (leaf, -1, leaf),
    ).fetchall()
    connection.executemany("UPDATE messages SET active_child = ? WHERE seq = ?", wrong)


_CHUNK = 5_000  # seqs a query, well below SQLite's limit of variables


def load(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[MessageRecord]:
    """Messages with their blocks, oldest first; those that no longer exist are left out."""
    found: list[MessageRecord] = []
    for at in range(0, len(seqs), _CHUNK):
        found += _load_chunk(connection, seqs[at : at + _CHUNK])
    return found


def _load_chunk(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[MessageRecord]:
    marks = ",".join("?" * len(seqs))
    blocks: dict[int, list[Block]] = {}
    for seq, kind, text, fields in connection.execute(
        f"SELECT {BLOCK} FROM blocks WHERE message_seq IN ({marks}) ORDER BY message_seq, position", seqs
    ):
        blocks.setdefault(seq, []).append(block_from(kind, text, fields))
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT {MESSAGE} FROM messages m LEFT JOIN messages p ON p.seq = m.parent_seq "
        f"WHERE m.seq IN ({marks}) ORDER BY m.seq",
        seqs,
    ).fetchall()
    return [message_from(row, blocks.get(row[0], ())) for row in rows]
