"""Threads: the list, one thread's record, and everything that changes it."""

from __future__ import annotations

import sqlite3

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.errors import NotFound
from desktop.domain.messages import Usage
from desktop.domain.threads import ThreadRecord, ThreadState
from desktop.store import forks, tree
from desktop.store.job_threads import old_of_job, with_jobs
from desktop.store.rows import THREAD, USAGE, USAGE_COLUMNS, clean, thread_from, usage_row
from desktop.store.search_text import searchable
from desktop.store.worker import StoreThread

_PURGE = 200  # messages deleted at once, so that other work gets its turn between
_COLUMNS = (
    "thread_id, title, created_at, updated_at, agent, model, pinned, deleted_at, titled_by, label, state, "
    f"project, {USAGE}"
)


class ThreadRepository:
    """Every change is committed when its call returns. Raises NotFound for a thread that does not exist."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def create(self, *, record: ThreadRecord) -> None:
        """Store a new thread; its ``active_leaf`` is set by its messages."""
        await self._thread.write(lambda connection: insert(connection, record))

    async def get(self, *, thread_id: str) -> ThreadRecord:
        """One thread, deleted ones included."""
        return await self._thread.read(lambda connection: with_jobs(connection, [_get(connection, thread_id)])[0])

    async def list_all(self, *, deleted: bool = False) -> list[ThreadRecord]:
        """All chats, or everything deleted: pinned first, then by their last message, newest first. Debates have a list
        of their own."""
        chats = "IS NULL AND NOT EXISTS (SELECT 1 FROM debates d WHERE d.thread_id = t.thread_id)"
        condition = "IS NOT NULL" if deleted else chats

        def work(connection: sqlite3.Connection) -> list[ThreadRecord]:
            rows = connection.execute(
                f"SELECT {THREAD} FROM threads t WHERE t.deleted_at {condition} "
                "ORDER BY t.pinned DESC, t.updated_at DESC, t.seq DESC"
            )
            return with_jobs(connection, [thread_from(row) for row in rows])

        return await self._thread.read(work)

    async def old_of_job(self, *, job_id: str, keep: int) -> list[str]:
        """Threads of a job that nobody has touched, without the newest ``keep`` of them."""
        return await self._thread.read(lambda connection: old_of_job(connection, job_id, keep))

    async def deleted_with(self, *, label: str) -> list[str]:
        """The ids of deleted threads of this label, debates among them."""
        query = "SELECT thread_id FROM threads WHERE deleted_at IS NOT NULL AND label = ?"
        rows = await self._thread.read(lambda connection: connection.execute(query, (label,)).fetchall())
        return [thread_id for (thread_id,) in rows]

    async def deleted_before(self, *, at: float, but: str = "") -> list[str]:
        """The ids of threads, debates among them, deleted before then; those of the label ``but`` are left out."""
        query = "SELECT thread_id FROM threads WHERE deleted_at < ? AND (? = '' OR label <> ?)"
        rows = await self._thread.read(lambda connection: connection.execute(query, (at, but, but)).fetchall())
        return [thread_id for (thread_id,) in rows]

    async def rename(self, *, thread_id: str, title: str, by_person: bool) -> bool:
        """Set the title; False where the person chose one, which an automatic title never replaces."""

        def work(connection: sqlite3.Connection) -> bool:
            seq, titled_by = _one(connection, thread_id, "seq, titled_by")
            if titled_by == "person" and not by_person:
                return False
            values = (clean(title), "person" if by_person else "auto", seq)
            connection.execute("UPDATE threads SET title = ?, titled_by = ? WHERE seq = ?", values)
            _index_title(connection, seq, clean(title))
            return True

        return await self._thread.write(work)

    async def pin(self, *, thread_id: str, pinned: bool) -> None:
        """Keep it at the top of the list, or no longer."""
        await self._set(thread_id, pinned=int(pinned))

    async def set_model(self, *, thread_id: str, model: str) -> None:
        """The model of the next run, ``connection/model``."""
        await self._set(thread_id, model=clean(model))

    async def set_agent(self, *, thread_id: str, agent: str) -> None:
        """The agent of the next run."""
        await self._set(thread_id, agent=clean(agent))

    async def set_project(self, *, thread_id: str, project: str) -> None:
        """The folder that its next run works in; "": none."""
        await self._set(thread_id, project=clean(project))

    async def set_mode(self, *, thread_id: str, mode: ThreadMode) -> None:
        """Whether its calls ask each time; on the disk when this returns."""
        value = mode if mode == "edge" else ""
        await self._thread.write(lambda connection: _update(connection, thread_id, mode=value), durable=True)

    async def at_edge(self) -> list[str]:
        """The ids of the threads whose calls ask only at the edge."""
        query = "SELECT thread_id FROM threads WHERE mode = 'edge'"
        rows = await self._thread.read(lambda connection: connection.execute(query).fetchall())
        return [thread_id for (thread_id,) in rows]

    async def set_label(self, *, thread_id: str, label: str) -> None:
        """A short word shown with the title."""
        await self._set(thread_id, label=clean(label))

    async def set_state(self, *, thread_id: str, state: ThreadState) -> None:
        """What the list shows of the last run; runs set it themselves."""
        await self._set(thread_id, state=state)

    async def archive(self, *, thread_id: str, archived: bool) -> None:
        """Out of the list by day, or back into it. Search finds it all the same."""
        await self._set(thread_id, archived=int(archived))

    async def delete(self, *, thread_id: str, at: float) -> None:
        """Out of the list and the search; ``restore`` undoes it until ``purge``. ``at``: seconds since the epoch."""
        await self._set(thread_id, deleted_at=at)

    async def restore(self, *, thread_id: str) -> None:
        """Undo ``delete``."""
        await self._set(thread_id, deleted_at=None)

    async def purge(self, *, thread_id: str) -> None:
        """Forget a deleted thread for good, in steps between which other work is done. Not for one in the list. What
        forks of it need becomes theirs."""

        def step(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT deleted_at FROM threads WHERE thread_id = ?", (thread_id,)).fetchone()
            if row is None or row[0] is None:
                return True
            done = connection.execute(
                "DELETE FROM messages WHERE seq IN "
                "(SELECT seq FROM messages WHERE thread_id = ? ORDER BY seq DESC LIMIT ?)",
                (thread_id, _PURGE),
            ).rowcount
            if done < _PURGE:
                connection.execute("UPDATE job_runs SET thread_id = '' WHERE thread_id = ?", (thread_id,))
                connection.execute("DELETE FROM state WHERE substr(key, instr(key, ':') + 1) = ?", (thread_id,))
                connection.execute("DELETE FROM threads WHERE thread_id = ?", (thread_id,))
            return done < _PURGE

        await self._thread.write(lambda connection: forks.hand_over(connection, thread_id))
        while not await self._thread.write(step):
            pass

    async def set_leaf(self, *, thread_id: str, message_id: str | None) -> None:
        """Show the path that ends in this message (None: an empty thread), and remember the way to it."""

        def work(connection: sqlite3.Connection) -> None:
            seq = None
            if message_id is not None:
                seq, owner, _ = tree.sequence(connection, message_id)
                if owner != thread_id:
                    raise NotFound("That message belongs to another conversation.")
                tree.point_at(connection, seq)
            _update(connection, thread_id, active_leaf=seq)

        await self._thread.write(work)

    async def add_usage(self, *, thread_id: str, usage: Usage) -> Usage:
        """Count what a round used; the thread's new sum."""

        def work(connection: sqlite3.Connection) -> Usage:
            total = _get(connection, thread_id).usage.plus(usage)
            _update(connection, thread_id, **dict(zip(USAGE_COLUMNS, usage_row(total), strict=True)))
            return total

        return await self._thread.write(work)

    async def _set(self, thread_id: str, **values: str | float | None) -> None:
        await self._thread.write(lambda connection: _update(connection, thread_id, **values))


def insert(connection: sqlite3.Connection, record: ThreadRecord) -> None:
    """Insert a thread."""
    values = (
        record.thread_id,
        clean(record.title),
        record.created_at,
        record.updated_at,
        clean(record.agent),
        clean(record.model),
        int(record.pinned),
        record.deleted_at,
        record.titled_by,
        clean(record.label),
        record.state,
        clean(record.project),
        *usage_row(record.usage),
    )
    marks = ",".join("?" * len(values))
    seq = connection.execute(f"INSERT INTO threads ({_COLUMNS}) VALUES ({marks})", values).lastrowid
    _index_title(connection, seq, clean(record.title))


def _index_title(connection: sqlite3.Connection, seq: int | None, title: str) -> None:
    connection.execute("DELETE FROM title_search WHERE rowid = ?", (seq,))
    connection.execute("INSERT INTO title_search (rowid, body) VALUES (?, ?)", (seq, searchable(title)))


def _get(connection: sqlite3.Connection, thread_id: str) -> ThreadRecord:
    row = connection.execute(f"SELECT {THREAD} FROM threads t WHERE t.thread_id = ?", (thread_id,)).fetchone()
    if row is None:
        raise _missing()
    return thread_from(row)


def _one(connection: sqlite3.Connection, thread_id: str, columns: str) -> tuple[int, str]:
    row = connection.execute(f"SELECT {columns} FROM threads WHERE thread_id = ?", (thread_id,)).fetchone()
    if row is None:
        raise _missing()
    return row[0], row[1]


def _update(connection: sqlite3.Connection, thread_id: str, **values: str | float | None) -> None:
    """Column names are ours, never from outside."""
    columns = ", ".join(f"{name} = ?" for name in values)
    done = connection.execute(f"UPDATE threads SET {columns} WHERE thread_id = ?", (*values.values(), thread_id))
    if done.rowcount != 1:
        raise _missing()


def _missing() -> NotFound:
    return NotFound("That conversation no longer exists.", next_step="Choose another one or start a new chat.")
