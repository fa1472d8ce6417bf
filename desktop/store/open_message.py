"""A message that is still being written: takes deltas at any rate, and keeps what was said within 250 ms.

The first delta after a quiet moment starts a timer; when it rings, everything new is appended in one small write.
Nothing here waits: a slow disk delays the next write, not the answer.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Literal

from desktop.domain.errors import BugError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, ReasoningBlock, StopReason, TextBlock, Usage
from desktop.domain.threads import MessageRecord, MessageStatus
from desktop.store import tree
from desktop.store.rows import USAGE, USAGE_COLUMNS, clean, usage_row
from desktop.store.worker import StoreThread

FLUSH_AFTER_S = 0.1  # promised are 0.25; the rest is for a busy loop and for work that waits before this
RETRY_AFTER_S = 1.0  # after a failed write, such as on a full disk

Change = tuple[int, str, str]
"""position, kind, text to append"""

_APPEND = (
    "INSERT INTO blocks (message_seq, position, kind, text, fields_json) VALUES (?, ?, ?, ?, '{}') "
    "ON CONFLICT (message_seq, position) DO UPDATE SET text = text || excluded.text"
)
_CLOSE = (
    "UPDATE messages SET status = ?, stop_reason = ?, elapsed_ms = ?, model = ?, "
    f"({USAGE}) = ({','.join('?' * len(USAGE_COLUMNS))}) WHERE seq = ?"
)


@dataclass(slots=True)
class _OpenBlockText:
    """One text or reasoning block as it grows; ``said`` is all of it, ``saved`` how many pieces are stored."""

    kind: Literal["text", "reasoning"]
    said: list[str] = field(default_factory=list)
    saved: int = 0

    def block(self) -> Block:
        text = clean("".join(self.said))
        return TextBlock(text) if self.kind == "text" else ReasoningBlock(text)


class OpenMessage:
    """Made by ``MessageRepository.open``. ``on_problem`` hears of each failed write; it is tried again by itself.

    Used on the loop's thread. ``close`` ends it; if it raises (StoreFull …), everything is still here and ``close``
    may be called again.
    """

    def __init__(
        self,
        thread: StoreThread,
        record: MessageRecord,
        seq: int,
        on_problem: Callable[[BaseException], None] | None = None,
    ) -> None:
        self.record = record
        self._thread = thread
        self._seq = seq
        self._on_problem = on_problem
        self._parts: list[_OpenBlockText] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flight: asyncio.Future[None] | None = None
        self._closing = False
        self._anew = False
        self._whole: Sequence[TextBlock | ReasoningBlock] | None = None

    @property
    def message_id(self) -> str:
        """The stored message's id."""
        return self.record.message_id

    @property
    def begun(self) -> bool:
        """Whether anything was said."""
        return bool(self._parts)

    @property
    def text(self) -> str:
        """What was said so far, without the thinking."""
        return "".join(piece for part in self._parts if part.kind == "text" for piece in part.said)

    def add_text(self, delta: str) -> None:
        """More of the answer."""
        self._add("text", delta)

    def add_reasoning(self, delta: str) -> None:
        """More of the thinking."""
        self._add("reasoning", delta)

    def amend(self, blocks: Sequence[TextBlock | ReasoningBlock]) -> bool:
        """What was said is this, whatever was added before; whether it reads otherwise. Stored by ``close``, with what
        belongs to thinking beside its text."""
        self._whole = [replace(one, text=clean(one.text)) for one in blocks if one.text or _sealed(one)]
        wanted = _read((block.kind, block.text) for block in self._whole)
        if _read((part.kind, clean("".join(part.said))) for part in self._parts) == wanted:
            return False
        self._disarm()
        self._anew = True
        self._parts = [_OpenBlockText(kind, [text]) for kind, text in wanted]
        return True

    def _add(self, kind: Literal["text", "reasoning"], delta: str) -> None:
        if self._closing:
            raise BugError("a message that is closed was written to")
        if not delta:
            return
        if not self._parts or self._parts[-1].kind != kind:
            self._parts.append(_OpenBlockText(kind))
        self._parts[-1].said.append(delta)
        self._arm(FLUSH_AFTER_S)

    def _arm(self, delay: float) -> None:
        if self._timer is None and self._flight is None and not self._closing:
            self._timer = asyncio.get_running_loop().call_later(delay, self._flush)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _unsaved(self) -> tuple[list[Change], list[tuple[_OpenBlockText, int]]]:
        """What to append, and what to note once that is committed."""
        changes: list[Change] = []
        marks: list[tuple[_OpenBlockText, int]] = []
        for position, part in enumerate(self._parts):
            if part.saved < len(part.said):
                changes.append((position, part.kind, clean("".join(part.said[part.saved :]))))
                marks.append((part, len(part.said)))
        return changes, marks

    def _flush(self) -> None:
        self._timer = None
        changes, marks = self._unsaved()
        if not changes or self._anew:
            return
        seq = self._seq
        self._flight = self._thread.write(lambda connection: _append(connection, seq, changes))
        self._flight.add_done_callback(lambda done: self._flushed(done, marks))

    def _flushed(self, done: asyncio.Future[None], marks: Sequence[tuple[_OpenBlockText, int]]) -> None:
        self._flight = None
        problem = None if done.cancelled() else done.exception()
        if problem is None:
            _mark(marks)
            if self._unsaved()[0]:
                self._arm(FLUSH_AFTER_S)
            return
        self._arm(RETRY_AFTER_S)
        if self._on_problem is not None:
            self._on_problem(problem)

    async def close(
        self,
        *,
        stop_reason: StopReason | None,
        status: MessageStatus = "complete",
        blocks: Sequence[Block] = (),
        usage: Usage | None = None,
        elapsed_ms: int = 0,
        model: str = "",
    ) -> MessageRecord:
        """Store the rest, with ``blocks`` (calls, notices) after the texts, and make the message findable.

        Returns the message as stored, once it is committed.
        """
        self._closing = True
        self._disarm()
        flight = self._flight
        if flight is not None:
            await asyncio.wait([flight])
        changes, marks = self._unsaved()
        parts = len(self._parts)
        said = self._whole if self._whole is not None else [part.block() for part in self._parts]
        final = replace(
            self.record,
            blocks=(*said, *blocks),
            status=status,
            stop_reason=stop_reason,
            usage=usage,
            elapsed_ms=elapsed_ms,
            model=model or self.record.model,
        )

        anew = self._anew or any(isinstance(block, ReasoningBlock) for block in self._whole or ())

        def work(connection: sqlite3.Connection) -> None:
            if anew:
                connection.execute("DELETE FROM blocks WHERE message_seq = ?", (self._seq,))
                tree.insert_blocks(connection, self._seq, 0, final.blocks)
            else:
                _append(connection, self._seq, changes)
                tree.insert_blocks(connection, self._seq, parts, blocks)
            values = (status, stop_reason, elapsed_ms, clean(final.model), *usage_row(usage), self._seq)
            connection.execute(_CLOSE, values)
            tree.index(connection, self._seq)

        await self._thread.write(work)
        _mark(marks)
        self.record = final
        return final


def _sealed(block: Block) -> bool:
    return isinstance(block, ReasoningBlock) and bool(block.sealed)


def _read(said: Iterable[tuple[Literal["text", "reasoning"], str]]) -> list[tuple[Literal["text", "reasoning"], str]]:
    """What was said as it reads: texts of one kind that meet are one."""
    by_kind = itertools.groupby((one for one in said if one[1]), key=lambda one: one[0])
    return [(kind, "".join(text for _, text in group)) for kind, group in by_kind]


def _mark(marks: Sequence[tuple[_OpenBlockText, int]]) -> None:
    for part, saved in marks:
        part.saved = saved


def _append(connection: sqlite3.Connection, seq: int, changes: Sequence[Change]) -> None:
    connection.executemany(_APPEND, [(seq, position, kind, text) for position, kind, text in changes])
