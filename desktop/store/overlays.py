"""What stands over a thread's transcript when a model reads it (domain/context.py)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace

from desktop.domain.context import MAX_PINS, MAX_SUMMARY, Overlay
from desktop.domain.errors import KnownError, NotFound
from desktop.store import tree
from desktop.store.rows import clean, to_json
from desktop.store.worker import StoreThread

_IN_BRANCH = (
    "WITH RECURSIVE path (seq, parent_seq) AS (SELECT seq, parent_seq FROM messages WHERE message_id = ? UNION ALL "
    "SELECT m.seq, m.parent_seq FROM path JOIN messages m ON m.seq = path.parent_seq) "
    "SELECT 1 FROM path WHERE seq = (SELECT seq FROM messages WHERE message_id = ?)"
)


class OverlayRepository:
    """The context overlay of each thread. A change is committed when its call returns."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def get(self, *, thread_id: str) -> Overlay:
        """A thread's overlay; an empty one where there is none."""
        return await self._thread.read(lambda connection: _get(connection, thread_id))

    async def for_branch(self, *, thread_id: str, leaf: str) -> Overlay:
        """The overlay of the branch that ends in ``leaf``: a summary of another branch is left out."""

        def work(connection: sqlite3.Connection) -> Overlay:
            found = _get(connection, thread_id)
            if not found.summary or connection.execute(_IN_BRANCH, (leaf, found.upto)).fetchone() is not None:
                return found
            return Overlay(pins=found.pins, off=found.off)

        return await self._thread.read(work)

    async def put(self, *, thread_id: str, overlay: Overlay) -> None:
        """Replace a thread's overlay. Raises NotFound for a thread that does not exist."""
        await self._thread.write(lambda connection: _put(connection, thread_id, overlay))

    async def pin(self, *, thread_id: str, message_id: str, pinned: bool) -> Overlay:
        """Keep a message in every request, or no longer; the overlay then. Raises NotFound, and KnownError when there
        are too many."""

        def change(connection: sqlite3.Connection, found: Overlay) -> Overlay:
            _, owner, _ = tree.sequence(connection, message_id)
            if owner != thread_id:
                raise NotFound("That message belongs to another conversation.")
            pins = found.pins | {message_id} if pinned else found.pins - {message_id}
            if len(pins) > MAX_PINS:
                raise KnownError(f"At most {MAX_PINS} messages can be pinned.", next_step="Unpin another one first.")
            return replace(found, pins=frozenset(pins))

        return await self._changed(thread_id, change)

    async def switch(self, *, thread_id: str, off: bool) -> Overlay:
        """No summary any more, nor another one; or again. The overlay then."""

        def change(_connection: sqlite3.Connection, found: Overlay) -> Overlay:
            return Overlay(pins=found.pins, off=True) if off else replace(found, off=False)

        return await self._changed(thread_id, change)

    async def summarise(self, *, thread_id: str, overlay: Overlay) -> Overlay:
        """Keep a new summary, unless they were switched off while it was made. The overlay then."""

        def change(_connection: sqlite3.Connection, found: Overlay) -> Overlay:
            return found if found.off else replace(overlay, pins=found.pins, off=False)

        return await self._changed(thread_id, change)

    async def _changed(self, thread_id: str, change: Callable[[sqlite3.Connection, Overlay], Overlay]) -> Overlay:
        """Read, change and write in one transaction."""

        def work(connection: sqlite3.Connection) -> Overlay:
            overlay = change(connection, _get(connection, thread_id))
            _put(connection, thread_id, overlay)
            return overlay

        return await self._thread.write(work)


def _put(connection: sqlite3.Connection, thread_id: str, overlay: Overlay) -> None:
    if connection.execute("SELECT 1 FROM threads WHERE thread_id = ?", (thread_id,)).fetchone() is None:
        raise NotFound("That conversation no longer exists.")
    values = (
        thread_id,
        clean(overlay.summary)[:MAX_SUMMARY],
        overlay.upto,
        overlay.summarised,
        to_json(sorted(overlay.pins)),
        int(overlay.off),
    )
    connection.execute("INSERT OR REPLACE INTO context_overlays VALUES (?,?,?,?,?,?)", values)


def _get(connection: sqlite3.Connection, thread_id: str) -> Overlay:
    row = connection.execute(
        "SELECT summary, upto_message_id, pins_json, off, summarised FROM context_overlays WHERE thread_id = ?",
        (thread_id,),
    ).fetchone()
    return Overlay(row[0], row[1], frozenset(json.loads(row[2])), bool(row[3]), row[4]) if row else Overlay()
