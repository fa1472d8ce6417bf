"""Messages of threads: adding, streaming into, reading the path that is shown, finding one's way in the tree."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Sequence

from desktop.domain.errors import NotFound
from desktop.domain.messages import Block
from desktop.domain.threads import MessageRecord
from desktop.store import tree
from desktop.store.open_message import OpenMessage
from desktop.store.worker import StoreThread

_PLACES = (
    "SELECT m.message_id, "
    "(SELECT count(*) FROM messages s WHERE s.thread_id = m.thread_id AND s.parent_seq IS m.parent_seq"
    " AND s.seq <= m.seq) AS place, "
    "(SELECT count(*) FROM messages s WHERE s.thread_id = m.thread_id AND s.parent_seq IS m.parent_seq) AS total "
    "FROM json_each(?) wanted JOIN messages m ON m.message_id = wanted.value WHERE total > 1"
)
_STEP = 500  # messages read at once; 5 ms


class MessageRepository:
    """Writes are committed when their call returns. Raises NotFound for messages and threads that do not exist."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def add(self, *, record: MessageRecord, make_leaf: bool = True, from_queue: str = "") -> None:
        """Store a complete message below its parent and, with ``make_leaf``, show the path to it.

        What a person wrote is on the disk when this returns, even after a power cut. ``from_queue`` takes the
        waiting message of that id out of the queue in the same transaction, so that it is never lost nor sent twice.
        """

        def work(connection: sqlite3.Connection) -> None:
            if from_queue:
                taken = connection.execute("DELETE FROM queue WHERE queue_id = ?", (from_queue,)).rowcount
                if taken != 1:
                    raise NotFound("That waiting message was already sent or removed.")
            tree.insert(connection, record, make_leaf=make_leaf)

        await self._thread.write(work, durable=record.role == "user")

    async def open(
        self, *, record: MessageRecord, on_problem: Callable[[BaseException], None] | None = None
    ) -> OpenMessage:
        """Store an empty message with the status ``open`` and return its writer. It becomes the leaf at once.

        ``on_problem`` is called, on the loop's thread, for each write of a part that failed and will be tried again.
        """
        seq = await self._thread.write(lambda connection: tree.insert(connection, record, make_leaf=True))
        return OpenMessage(self._thread, record, seq, on_problem)

    async def add_blocks(self, *, message_id: str, blocks: Sequence[Block]) -> None:
        """Put more blocks at the end of a finished message: further calls of the round that it holds."""

        def work(connection: sqlite3.Connection) -> None:
            seq = tree.sequence(connection, message_id)[0]
            last = connection.execute("SELECT max(position) FROM blocks WHERE message_seq = ?", (seq,)).fetchone()[0]
            tree.insert_blocks(connection, seq, 0 if last is None else last + 1, blocks)
            connection.execute("DELETE FROM message_search WHERE rowid = ?", (seq,))
            tree.index(connection, seq)

        await self._thread.write(work)

    async def get(self, *, message_id: str) -> MessageRecord:
        """One message by its id. Raises NotFound."""

        def work(connection: sqlite3.Connection) -> MessageRecord:
            return tree.load(connection, [tree.sequence(connection, message_id)[0]])[0]

        return await self._thread.read(work)

    async def path(
        self, *, thread_id: str, before: str | None = None, limit: int | None = None, end: str = ""
    ) -> list[MessageRecord]:
        """The path that is shown, or the one down to the message ``end``, oldest first: its last ``limit`` messages
        (None: all), or the last ``limit`` above the message ``before``."""

        def work(connection: sqlite3.Connection) -> list[int]:
            if before is not None:
                start = tree.sequence(connection, before)[2]
            else:
                start = tree.sequence(connection, end)[0] if end else _leaf(connection, thread_id)
            return tree.path_seqs(connection, start, limit)

        return await self._load(await self._thread.read(work))

    async def count_above(self, *, message_id: str) -> int:
        """How many messages a model could read above this one; each result of a call is one."""

        def work(connection: sqlite3.Connection) -> int:
            return tree.count_above(connection, tree.sequence(connection, message_id)[2])

        return await self._thread.read(work)

    async def rounds(self, *, thread_id: str) -> int:
        """How often models were asked in this thread, on all of its branches: each answer is a message."""

        def work(connection: sqlite3.Connection) -> int:
            query = "SELECT count(*) FROM messages WHERE thread_id = ? AND role = 'assistant'"
            return int(connection.execute(query, (thread_id,)).fetchone()[0])

        return await self._thread.read(work)

    async def picked_above(self, *, message_id: str, wanted: Sequence[str]) -> list[MessageRecord]:
        """The messages ``wanted`` that stand above this one on its path, calls with their results, the oldest first."""

        def work(connection: sqlite3.Connection) -> list[int]:
            return tree.picked_above(connection, tree.sequence(connection, message_id)[2], wanted)

        return await self._load(await self._thread.read(work))

    async def path_to(self, *, message_id: str) -> list[MessageRecord]:
        """Everything from the root down to this message, whether it is shown or not."""

        def work(connection: sqlite3.Connection) -> list[int]:
            return tree.path_seqs(connection, tree.sequence(connection, message_id)[0], None)

        return await self._load(await self._thread.read(work))

    async def _load(self, seqs: Sequence[int]) -> list[MessageRecord]:
        """In steps, so that a long thread being read does not keep a streaming answer from being saved in time."""
        found: list[MessageRecord] = []
        for at in range(0, len(seqs), _STEP):
            found += await self._thread.read(functools.partial(tree.load, seqs=seqs[at : at + _STEP]))
        return found

    async def children(self, *, thread_id: str, message_id: str | None) -> list[MessageRecord]:
        """The messages right below one (None: the first messages of the thread), oldest first."""

        def work(connection: sqlite3.Connection) -> list[MessageRecord]:
            parent = None if message_id is None else tree.sequence(connection, message_id)[0]
            return tree.load(connection, _children(connection, thread_id, parent))

        return await self._thread.read(work)

    async def siblings(self, *, message_id: str) -> list[str]:
        """The ids of all messages with the same parent, itself included, oldest first."""

        def work(connection: sqlite3.Connection) -> list[str]:
            _, thread_id, parent = tree.sequence(connection, message_id)
            rows = connection.execute(
                "SELECT message_id FROM messages WHERE thread_id = ? AND parent_seq IS ? ORDER BY seq",
                (thread_id, parent),
            )
            return [row[0] for row in rows]

        return await self._thread.read(work)

    async def sibling_places(self, *, message_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """message id -> (1-based place, how many) for those that have siblings; the others are left out."""
        wanted = json.dumps(list(message_ids))

        def work(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
            return {row[0]: (row[1], row[2]) for row in connection.execute(_PLACES, (wanted,))}

        return await self._thread.read(work)

    async def leaf_below(self, *, message_id: str) -> str:
        """The leaf one comes to from here: at each fork the child that was shown last, else the newest."""

        def work(connection: sqlite3.Connection) -> str:
            leaf = tree.leaf_below(connection, tree.sequence(connection, message_id)[0])
            row = connection.execute("SELECT message_id FROM messages WHERE seq = ?", (leaf,)).fetchone()
            return str(row[0])

        return await self._thread.read(work)


def _leaf(connection: sqlite3.Connection, thread_id: str) -> int | None:
    row = connection.execute("SELECT active_leaf FROM threads WHERE thread_id = ?", (thread_id,)).fetchone()
    if row is None:
        raise NotFound("That conversation no longer exists.", next_step="Choose another one or start a new chat.")
    return None if row[0] is None else int(row[0])


def _children(connection: sqlite3.Connection, thread_id: str, parent: int | None) -> list[int]:
    rows = connection.execute(
        "SELECT seq FROM messages WHERE thread_id = ? AND parent_seq IS ? ORDER BY seq", (thread_id, parent)
    )
    return [row[0] for row in rows]
