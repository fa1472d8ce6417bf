"""Full-text search over messages and titles."""

from __future__ import annotations

import sqlite3

from desktop.domain.threads import SearchHit
from desktop.store.search_text import END, START, match_expression, snippet_ranges
from desktop.store.worker import StoreThread

SNIPPET_WORDS = 24
MOST = 50
"""Hits."""
_DEBATE = "t.thread_id IN (SELECT thread_id FROM debates)"
_MESSAGES = (
    f"SELECT m.thread_id, m.message_id, t.title, snippet(message_search, 0, ?, ?, '…', {SNIPPET_WORDS}), m.created_at, "
    f"{_DEBATE} "
    "FROM message_search JOIN messages m ON m.seq = message_search.rowid JOIN threads t ON t.thread_id = m.thread_id "
    f"WHERE message_search MATCH ? AND t.deleted_at IS NULL AND ({_DEBATE} OR NOT ?) AND (? = '' OR m.thread_id = ?) "
    "ORDER BY message_search.rowid DESC LIMIT ?"
)
_TITLES = (
    f"SELECT t.thread_id, '', t.title, highlight(title_search, 0, ?, ?), t.updated_at, {_DEBATE} "
    "FROM title_search JOIN threads t ON t.seq = title_search.rowid "
    "WHERE title_search MATCH ? AND t.deleted_at IS NULL "
    "ORDER BY t.updated_at DESC LIMIT ?"
)


class SearchRepository:
    """Finds words anywhere in messages and titles, whatever the script; deleted threads are left out.

    A message is found once it is complete (or interrupted); branches that are not shown are searched too.
    """

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def messages(
        self, *, text: str, thread_id: str = "", limit: int = MOST, debates: bool = False
    ) -> list[SearchHit]:
        """Messages with all these words, newest first; with ``thread_id`` only of that thread, or only ``debates``."""
        wanted = match_expression(text)
        values = (START, END, wanted, debates, thread_id, thread_id, limit)
        return await self._hits(_MESSAGES, values) if wanted else []

    async def titles(self, *, text: str) -> list[SearchHit]:
        """Threads whose title has all these words, last used first. ``message_id`` is empty, the title the snippet."""
        wanted = match_expression(text)
        return await self._hits(_TITLES, (START, END, wanted, MOST)) if wanted else []

    async def _hits(self, query: str, values: tuple[str | int, ...]) -> list[SearchHit]:
        def work(connection: sqlite3.Connection) -> list[SearchHit]:
            return [
                SearchHit(row[0], row[1], row[2], *snippet_ranges(row[3]), row[4], bool(row[5]))
                for row in connection.execute(query, values)
            ]

        return await self._thread.read(work)
