"""Which version of a file each thread has read (domain/files/reads.py); the newest so many, within so many bytes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence

from desktop.domain.files.reads import ReadFileVersion
from desktop.store.rows import clean
from desktop.store.worker import StoreThread

MOST, MOST_BYTES = 2_000, 32_000_000
_TRIM = (
    "DELETE FROM reads WHERE rowid IN (SELECT rowid FROM (SELECT rowid, row_number() OVER newest AS place, "
    "sum(length(packed)) OVER newest AS bytes FROM reads WINDOW newest AS (ORDER BY seen_at DESC, rowid DESC)) "
    "WHERE place > ? OR bytes > ?)"
)


class ReadRepository:
    """What is let go of was not read: an edit then asks for reading first."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def put(self, *, thread_id: str, versions: Sequence[ReadFileVersion]) -> None:
        """Keep these of a thread that there is, in place of earlier ones of the same files."""
        now = time.time()
        rows = [
            (clean(thread_id), clean(one.path), int(one.read), one.digest, one.size, one.at, one.packed, now)
            for one in versions
        ]

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM threads WHERE thread_id = ?", (thread_id,)).fetchone() is None:
                return
            connection.executemany("INSERT OR REPLACE INTO reads VALUES (?,?,?,?,?,?,?,?)", rows)
            connection.execute(_TRIM, (MOST, MOST_BYTES))

        await self._thread.write(work)

    async def of_thread(self, *, thread_id: str) -> list[ReadFileVersion]:
        """Those of a thread, the oldest first."""
        query = "SELECT path, was_read, digest, size, at, packed FROM reads WHERE thread_id = ? ORDER BY seen_at, rowid"
        rows = await self._thread.read(lambda connection: connection.execute(query, (thread_id,)).fetchall())
        return [ReadFileVersion(path, bool(read), *rest) for path, read, *rest in rows]
