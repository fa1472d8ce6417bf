"""Entries for the tests of the activity log, and what somebody can do to it with a plain sqlite3."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from desktop.domain.approval.audit_chain import ChainReport, digest, link
from desktop.domain.approval.permission import AuditEntry
from desktop.store import Store


def entry(number: int, **more) -> AuditEntry:
    """A decision about the call ``c<number>``."""
    values = {
        "at": 1000.0 + number,
        "run_id": "r",
        "thread_id": "t",
        "call_id": f"c{number}",
        "chain": ("assistant", "tidy"),
        "tool": "bash",
        "category": "write",
        "decision": "allow_once",
        "by": "user",
        "digest": "abc",
        "summary": '{"command": "ls"}',
        "paths": ("/tmp/a",),
        "extra": {"waited_s": 1.5},
    }
    return AuditEntry(**values | more)


async def filled(path: Path, calls: int = 10) -> Store:
    """An open store with so many decisions, each with an outcome: line 1 begins, 2 and 3 are the first call …"""
    store = Store(path)
    await store.open()
    for number in range(calls):
        line = await store.audit.add(entry=entry(number))
        store.audit.settle(number=line, outcome="done")
    await store.audit.choices()  # answered once all of it is written
    return store


async def checked(store: Store) -> ChainReport:
    return await store.audit.check(lambda _done, _total: None, lambda: False)


@contextlib.contextmanager
def unguarded(path: Path) -> Iterator[sqlite3.Connection]:
    """The database without its triggers, which are put back afterwards as they were."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'")
    kept = triggers.fetchall()
    for name, _ in kept:
        connection.execute(f"DROP TRIGGER {name}")
    try:
        yield connection
    finally:
        for _, sql in kept:
            connection.execute(sql)
        connection.close()


def rechain(connection: sqlite3.Connection, start: int = 1) -> None:
    """What a careful forger does: make every link fit again from line ``start`` on."""
    row = connection.execute("SELECT hash FROM audit WHERE seq = ?", (start - 1,)).fetchone()
    previous = row[0] if row else "0" * 64
    lines = connection.execute("SELECT seq, line FROM audit WHERE seq >= ? ORDER BY seq", (start,)).fetchall()
    for number, line in lines:
        previous = link(previous, digest(line))
        connection.execute("UPDATE audit SET hash = ? WHERE seq = ?", (previous, number))
