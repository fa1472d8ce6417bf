"""What debates mean beyond themselves, in SQL: after a crash, and before a thread is forgotten."""

from __future__ import annotations

import sqlite3


def rewind(connection: sqlite3.Connection, thread_id: str) -> None:
    """Show the path that ends where a debate's last finished turn ended."""
    connection.execute(
        "UPDATE threads SET active_leaf = d.head_seq FROM debates d "
        "WHERE d.thread_id = threads.thread_id AND threads.thread_id = ? AND d.head_seq IS NOT NULL",
        (thread_id,),
    )


def recover(connection: sqlite3.Connection) -> None:
    """Debates that the last process left running are paused, at their last finished turn."""
    left = connection.execute("SELECT thread_id FROM debates WHERE status IN ('running', 'pausing')").fetchall()
    for (thread_id,) in left:
        connection.execute(
            "UPDATE debates SET status = 'paused', end_reason = 'interrupted', end_detail = '' WHERE thread_id = ?",
            (thread_id,),
        )
        rewind(connection, thread_id)


def hand_over(connection: sqlite3.Connection, thread_id: str) -> None:
    """Before a thread is forgotten: what forks of it need becomes theirs."""
    crossings = connection.execute(
        "SELECT DISTINCT c.thread_id, c.parent_seq FROM messages p JOIN messages c ON c.parent_seq = p.seq "
        "WHERE p.thread_id = ? AND c.thread_id <> p.thread_id UNION "
        "SELECT d.thread_id, d.fork_seq FROM debates d JOIN messages p ON p.seq = d.fork_seq "
        "WHERE p.thread_id = ? AND d.thread_id <> p.thread_id",
        (thread_id, thread_id),
    ).fetchall()
    for successor, seq in crossings:
        connection.execute(
            "WITH RECURSIVE path (seq, parent_seq) AS ("
            " SELECT seq, parent_seq FROM messages WHERE seq = ? AND thread_id = ?"
            " UNION ALL SELECT m.seq, m.parent_seq FROM path JOIN messages m ON m.seq = path.parent_seq"
            " WHERE m.thread_id = ?) "
            "UPDATE messages SET thread_id = ?, active_child = NULL WHERE seq IN (SELECT seq FROM path)",
            (seq, thread_id, thread_id, successor),
        )
