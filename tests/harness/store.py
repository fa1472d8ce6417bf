"""What tests read of a store and put into one, beyond what the app itself does with it."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.threads import MessageRecord
from desktop.store import Store
from desktop.store.audit import AuditRepository
from desktop.store.messages import MessageRepository

_FINDABLE = (
    "SELECT m.seq FROM messages m WHERE m.status <> 'open' AND EXISTS "
    "(SELECT 1 FROM blocks b WHERE b.message_seq = m.seq AND b.kind = 'text' "
    "AND trim(b.text, ' ' || char(9, 10, 13)) <> '')"
)


async def add_all(messages: MessageRepository, records: Sequence[MessageRecord]) -> None:
    """Store messages, parents first; the last becomes the leaf. They share commits, so that thousands take a moment."""
    await asyncio.gather(*(messages.add(record=record) for record in records))


async def calls_noted(
    audit: AuditRepository, *, tool: str = "", text: str = "", before: int | None = None, limit: int = 200
) -> list[tuple[int, AuditEntry]]:
    """(number, entry) of the calls in the activity log, the newest first, as its page reads them."""
    found = await audit.page(AuditFilter(text=text, tool=tool), before=before, limit=limit)
    return [(row.number, row.entry) for row in found.rows if row.kind in ("call", "adopted")]


async def copy_database(store: Store, target: Path) -> None:
    """What the disk would hold if the process ended now, in a file that does not exist yet."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("VACUUM INTO ?", (str(target),))

    await store._thread.read(work)


async def search_faults(store: Store) -> list[str]:
    """What is wrong with the index of messages: some are missing from it, or have gone. Empty when all is well."""
    return await store._thread.read(_search_faults)


def _search_faults(connection: sqlite3.Connection) -> list[str]:
    missing = connection.execute(f"{_FINDABLE} AND m.seq NOT IN (SELECT rowid FROM message_search)").fetchall()
    found = [f"message {row[0]} cannot be found" for row in missing]
    gone = connection.execute("SELECT rowid FROM message_search EXCEPT SELECT seq FROM messages").fetchall()
    found += [f"message {row[0]} is found but does not exist" for row in gone]
    try:
        connection.execute("INSERT INTO message_search (message_search) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        found.append(f"the index is damaged: {error}")
    return found
