"""Loading a thread for display: its last screen first, then everything older in pages, newest first.

A page never cuts an answer in two: messages before the first message of a person are held back and joined to the
next older page. So the first page of a thread that ends in a long run is as long as that run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from desktop.domain.messages import ToolCallBlock
from desktop.domain.threads import MessageRecord, ThreadEnd
from desktop.presenter.transcript.build import Siblings, build_items
from desktop.presenter.transcript.items import TranscriptItem

FIRST_PAGE = 40
"""Messages read before anything is shown: more than a screen, less than 3 ms."""

PAGE = 500
"""Messages a page afterwards."""

ReadPath = Callable[[str | None, int], Awaitable[Sequence[MessageRecord]]]
"""(before message id or None, how many) -> that many messages of the active path, oldest first."""

ReadSiblings = Callable[[Sequence[str]], Awaitable[Siblings]]

ReadLeft = Callable[[], Awaitable[ThreadEnd]]
"""What the last run has left at the thread's end."""


async def pages(
    read_path: ReadPath,
    read_siblings: ReadSiblings,
    titles: Mapping[str, str],
    measured: Callable[[int], None] = lambda _: None,
    read_left: ReadLeft | None = None,
) -> AsyncIterator[tuple[TranscriptItem, ...]]:
    """Pages of items from the newest to the oldest; none is empty but the one page of an empty thread.

    ``measured`` hears roughly how many tokens each batch of messages is (characters / 4, R-CTX-8). ``read_left`` is
    asked where the end may have left calls open.
    """
    before: str | None = None
    held: list[MessageRecord] = []
    size = FIRST_PAGE
    first = True
    while True:
        batch = list(await read_path(before, size))
        reached_start = len(batch) < size
        before = batch[0].message_id if batch else before
        measured(sum(_characters(message) for message in batch) // 4)
        held = batch + held
        cut = 0 if reached_start else _first_question(held)
        ready, held = held[cut:], held[:cut]
        if ready or (first and reached_start):
            siblings = await read_siblings([m.message_id for m in ready])
            left = await read_left() if first and read_left is not None and _ends_open(ready) else None
            yield tuple(await asyncio.to_thread(build_items, ready, siblings, titles, at_end=first, left=left))
            first = False
        if reached_start:
            return
        size = PAGE


def with_live(items: tuple[TranscriptItem, ...], live: TranscriptItem, parent_id: str) -> tuple[TranscriptItem, ...]:
    """The last page with the answer that is being written at its end, in the place of what is stored of it."""
    kept = tuple(item for item in items if item.message_id != live.message_id)
    ids = [item.message_id for item in kept]
    if parent_id in ids:
        # The store may not point at this answer yet: what hung below its question before is another branch.
        kept = kept[: ids.index(parent_id) + 1]
    return (*kept, live)


def _ends_open(messages: Sequence[MessageRecord]) -> bool:
    """Whether the last of them ends with calls, answered or not, or is a person's."""
    last = messages[-1] if messages else None
    calls = last is not None and any(isinstance(block, ToolCallBlock) for block in last.blocks)
    return last is not None and (calls or last.role in ("tool", "user"))


def _characters(message: MessageRecord) -> int:
    return sum(len(getattr(block, "text", "")) + len(getattr(block, "raw", "")) for block in message.blocks)


def _first_question(messages: Sequence[MessageRecord]) -> int:
    for index, message in enumerate(messages):
        if message.role == "user":
            return index
    return len(messages)
