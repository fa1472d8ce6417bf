"""What was typed and not sent yet (drafts, messages that wait for a run to end), and the state of windows."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import Any

from desktop.domain.ids import new_id
from desktop.domain.inboxes import MAX_WAITING, PostedMessage
from desktop.domain.threads import DraftRecord, QueuedRecord
from desktop.store.rows import blocks_from_json, blocks_json, clean, to_json
from desktop.store.worker import StoreThread

_QUEUE = "queue_id, thread_id, text, attachments_json, created_at"
_POSTED = "SELECT 1 FROM queue WHERE queue_id = :id UNION ALL SELECT 1 FROM messages WHERE message_id = :id"
"""A message that a thread took out of an inbox stands there by its id."""


class DraftRepository:
    """One draft a thread; the key "" is the chat that does not exist yet."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def put(self, *, draft: DraftRecord) -> None:
        """Store a draft; an empty one is deleted."""

        def work(connection: sqlite3.Connection) -> None:
            if draft.text or draft.attachments:
                values = (draft.thread_id, clean(draft.text), blocks_json(draft.attachments), draft.updated_at)
                connection.execute("INSERT OR REPLACE INTO drafts VALUES (?,?,?,?)", values)
            else:
                connection.execute("DELETE FROM drafts WHERE thread_id = ?", (draft.thread_id,))

        await self._thread.write(work)

    async def put_text(self, *, thread_id: str, text: str, at: float) -> None:
        """Keep another text beside the attachments that are there, which may be megabytes."""
        values = (clean(text), at, thread_id)

        def work(connection: sqlite3.Connection) -> None:
            update = "UPDATE drafts SET text = ?, updated_at = ? WHERE thread_id = ?"
            if not connection.execute(update, values).rowcount:
                connection.execute("INSERT INTO drafts VALUES (?,?,?,?)", (thread_id, values[0], "[]", at))
            empty = "DELETE FROM drafts WHERE thread_id = ? AND text = '' AND attachments_json = '[]'"
            connection.execute(empty, (thread_id,))

        await self._thread.write(work)

    async def get(self, *, thread_id: str) -> DraftRecord | None:
        """The draft, or None."""

        def work(connection: sqlite3.Connection) -> DraftRecord | None:
            row = connection.execute(
                "SELECT thread_id, text, attachments_json, updated_at FROM drafts WHERE thread_id = ?", (thread_id,)
            ).fetchone()
            return None if row is None else DraftRecord(row[0], row[1], blocks_from_json(row[2]), row[3])

        return await self._thread.read(work)

    async def delete(self, *, thread_id: str) -> None:
        """Delete a thread's draft."""
        await self.put(draft=DraftRecord(thread_id, ""))


class QueueRepository:
    """The messages that wait to be sent. ``MessageRepository.add(from_queue=…)`` sends one and takes it out in one
    transaction."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def add(self, *, record: QueuedRecord) -> None:
        """One more at the end; on the disk when this returns."""
        attachments = blocks_json(record.attachments)
        values = (record.queue_id, record.thread_id, clean(record.text), attachments, record.created_at)
        query = f"INSERT INTO queue ({_QUEUE}) VALUES (?,?,?,?,?)"
        await self._thread.write(lambda connection: connection.execute(query, values), durable=True)

    async def waiting(self, *, thread_id: str) -> list[QueuedRecord]:
        """The waiting messages that were written in a thread, the next to be sent first."""
        query = f"SELECT {_QUEUE} FROM queue WHERE thread_id = ? AND inbox = '' ORDER BY seq"

        def work(connection: sqlite3.Connection) -> list[QueuedRecord]:
            rows = connection.execute(query, (thread_id,))
            return [QueuedRecord(row[0], row[1], row[2], blocks_from_json(row[3]), row[4]) for row in rows]

        return await self._thread.read(work)

    async def post(
        self, *, inbox: str, thread_id: str, run_id: str, text: str, post_id: str = "", after: int = 0
    ) -> bool:
        """Put a message into an agent's inbox (``domain.inboxes.InboxLog``); on the disk when this returns."""
        values = (post_id or new_id(), thread_id, clean(text), "[]", time.time(), inbox, run_id)
        count = "SELECT count(*) FROM queue WHERE inbox = ? AND inbox <> '' AND seq > ?"
        query = f"INSERT INTO queue ({_QUEUE}, inbox, run_id) VALUES (?,?,?,?,?,?,?)"

        def work(connection: sqlite3.Connection) -> bool:
            if post_id and connection.execute(_POSTED, {"id": post_id}).fetchone() is not None:
                return True
            if connection.execute(count, (inbox, after)).fetchone()[0] >= MAX_WAITING:
                return False
            connection.execute(query, values)
            return True

        return await self._thread.write(work, durable=True)

    async def was_posted(self, *, post_id: str) -> bool:
        """Whether the message with this id was put into an inbox."""
        query = {"id": post_id}
        return await self._thread.read(lambda connection: connection.execute(_POSTED, query).fetchone() is not None)

    async def posted(self, *, inbox: str, after: int) -> PostedMessage | None:
        """The first message of an inbox with a greater number."""
        query = "SELECT seq, queue_id, text FROM queue WHERE inbox = ? AND inbox <> '' AND seq > ? ORDER BY seq LIMIT 1"
        row = await self._thread.read(lambda connection: connection.execute(query, (inbox, after)).fetchone())
        return None if row is None else PostedMessage(*row)

    async def remove(self, *, queue_id: str) -> bool:
        """Take a waiting message back; False when it is no longer there."""
        query = "DELETE FROM queue WHERE queue_id = ?"
        return await self._thread.write(lambda connection: connection.execute(query, (queue_id,)).rowcount == 1)


class StateRepository:
    """Small things that come back after a restart: geometry, the open thread. Keys are ours, values are JSON."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def get(self, *, key: str, default: Any = None) -> Any:
        """The value, or ``default``."""
        query = "SELECT value_json FROM state WHERE key = ?"
        row = await self._thread.read(lambda connection: connection.execute(query, (key,)).fetchone())
        return default if row is None else json.loads(row[0])

    async def put(self, *, key: str, value: Any) -> None:
        """Store a value under a key."""
        await self.put_many(values={key: value})

    async def put_many(self, *, values: dict[str, Any]) -> None:
        """Keep several in one transaction."""
        rows = [(key, to_json(value)) for key, value in values.items()]
        query = "INSERT OR REPLACE INTO state VALUES (?, ?)"
        await self._thread.write(lambda connection: connection.executemany(query, rows))

    async def everything(self) -> dict[str, Any]:
        """All values by key, in one read at the start."""
        query = "SELECT key, value_json FROM state"
        return await self._thread.read(
            lambda connection: {key: json.loads(value) for key, value in connection.execute(query)}
        )

    async def delete(self, *, key: str) -> None:
        """Delete a value."""
        query = "DELETE FROM state WHERE key = ?"
        await self._thread.write(lambda connection: connection.execute(query, (key,)))
