"""What is kept of traces, and the messages of one run: together they are the trace of a run that is over (S-TRC-2)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.messages import Block, ToolResultBlock
from desktop.domain.runs.traces import KEPT_TEXT
from desktop.domain.threads import MessageRecord
from desktop.store.rows import MESSAGE, block_from, message_from, to_json
from desktop.store.worker import StoreThread

_STEP = 200
"""Messages read at once, so that a long run being read does not keep an answer from being saved in time."""
_MINE = "SELECT seq FROM messages WHERE thread_id = (SELECT thread_id FROM runs WHERE run_id = ?) AND run_id = ?"
_BLOCKS = (
    "SELECT message_seq, kind, CASE kind WHEN 'tool_result' THEN substr(text, 1, ?) ELSE text END, fields_json, "
    "length(text) FROM blocks WHERE message_seq IN ({}) ORDER BY message_seq, position"
)


class TraceRepository:
    """Batches of entries, appended while a run goes on and read when it is over."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    def add(self, *, run_id: str, sequence: int, entries: Sequence[Mapping[str, Any]]) -> asyncio.Future[None]:
        """Append a batch of entries; nobody has to wait for the future. The entries must not change any more."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO traces VALUES (?, ?, ?)", (run_id, sequence, to_json(list(entries))))

        return self._thread.write(work)

    async def kept(self, *, run_id: str) -> list[Any]:
        """All entries of a run, in order, as they were given."""

        def work(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("SELECT entries_json FROM traces WHERE run_id = ? ORDER BY sequence", (run_id,))
            return [row[0] for row in rows]

        batches = await self._thread.read(work)
        return await asyncio.to_thread(lambda: [entry for batch in batches for entry in json.loads(batch)])

    async def messages(self, *, run_id: str) -> list[MessageRecord]:
        """What a run said, called and got, oldest first, on whichever branch it is. Of a long result only the
        beginning: how many characters were left out stands in its fact ``omitted``."""

        def numbers(connection: sqlite3.Connection) -> list[int]:
            return sorted(row[0] for row in connection.execute(_MINE, (run_id, run_id)))

        seqs = await self._thread.read(numbers)
        found: list[MessageRecord] = []
        for at in range(0, len(seqs), _STEP):
            some = seqs[at : at + _STEP]
            found += await self._thread.read(lambda connection, some=some: _load(connection, some))  # type: ignore[misc]
        return found


def _load(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[MessageRecord]:
    marks = ",".join("?" * len(seqs))
    blocks: dict[int, list[Block]] = {}
    for seq, kind, text, fields, length in connection.execute(_BLOCKS.format(marks), (KEPT_TEXT, *seqs)):
        block = block_from(kind, text, fields)
        if isinstance(block, ToolResultBlock) and length > len(text):
            block = replace(block, facts={**block.facts, "omitted": length - len(text)})
        blocks.setdefault(seq, []).append(block)
    rows = connection.execute(
        f"SELECT {MESSAGE} FROM messages m LEFT JOIN messages p ON p.seq = m.parent_seq WHERE m.seq IN ({marks}) "
        "ORDER BY m.seq",
        tuple(seqs),
    )
    return [message_from(row, blocks.get(row[0], ())) for row in rows]
