"""Which documents threads have, and which of the originals that are kept somebody still needs."""

from __future__ import annotations

import sqlite3

from desktop.domain.messages import DocumentBlock
from desktop.store.rows import block_from
from desktop.store.worker import StoreThread

_WAITING = (
    "SELECT json_extract(one.value, '$.digest') FROM {table}, json_each({table}.attachments_json) AS one "
    "WHERE json_extract(one.value, '$.kind') = 'document'"
)
_NEEDED = " UNION ".join(
    (
        "SELECT json_extract(fields_json, '$.digest') FROM blocks WHERE kind = 'document'",
        _WAITING.format(table="drafts"),
        _WAITING.format(table="queue"),
    )
)


class DocumentRepository:
    """Documents in messages, drafts and waiting messages."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def of_thread(self, *, thread_id: str) -> list[DocumentBlock]:
        """Those of a thread's messages, on any branch, the newest first."""
        query = (
            "SELECT b.kind, b.text, b.fields_json FROM messages m JOIN blocks b ON b.message_seq = m.seq "
            "AND b.kind = 'document' WHERE m.thread_id = ? ORDER BY m.seq DESC, b.position"
        )

        def work(connection: sqlite3.Connection) -> list[DocumentBlock]:
            found = [block_from(*row) for row in connection.execute(query, (thread_id,))]
            return [block for block in found if isinstance(block, DocumentBlock)]

        return await self._thread.read(work)

    async def has_any(self, *, thread_id: str) -> bool:
        """Whether a thread has one."""
        query = (
            "SELECT 1 FROM messages m JOIN blocks b ON b.message_seq = m.seq AND b.kind = 'document' "
            "WHERE m.thread_id = ? LIMIT 1"
        )
        return await self._thread.read(
            lambda connection: connection.execute(query, (thread_id,)).fetchone() is not None
        )

    async def needed(self) -> set[str]:
        """The digests of originals that a message, a draft or a waiting message has."""
        return await self._thread.read(lambda connection: {str(row[0]) for row in connection.execute(_NEEDED)})
