"""Which texts from outside stand in a thread since the person's last message (R-WEB-3).

What was read in a run is known in memory (``safety/permission/outside.py``). A run that goes on with an answer (after a
crash, after a handover, on another branch) takes it from the stored messages: each result says whose words it holds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from desktop.domain.messages import Block, ChatMessage, GivenBlock, TextBlock, ToolResultBlock
from desktop.domain.text.outside import FROM_INBOX, INBOX, MAX_KEPT, OutsideText, names_in
from desktop.domain.threads import MessageRecord
from desktop.store import Store

AT_ONCE = 50
TOGETHER = 1_000_000
"""Characters of texts that are looked at for their words; of older ones only whose they are is known."""


async def read_since(store: Store, thread_id: str, message_id: str, *, called: bool) -> list[OutsideText]:
    """What was read from the person's last message on, down to ``message_id``, the latest last. A thread of an agent
    that was ``called`` has no message of a person: all that was read in it counts."""
    at = await store.messages.get(message_id=message_id)
    path = [at]
    while not any(is_by_person(one) for one in path) or called:
        above = await store.messages.path(thread_id=thread_id, before=path[0].message_id, limit=AT_ONCE)
        if not above:
            break
        path = [*above, *path]
    return read_in_records(path, called=called)


def read_in_records(path: Sequence[MessageRecord], *, called: bool = False) -> list[OutsideText]:
    """The same of messages that are there. Only the latest texts come with their words: marking them costs time."""
    last = 0 if called else max((at for at, one in enumerate(path) if is_by_person(one)), default=0)
    found, room = list[OutsideText](), TOGETHER
    for one in reversed(path[last:]):
        for block in reversed(one.blocks):
            room -= len(getattr(block, "text", ""))
            found += _text(one.role, block, one.created_at, words=room >= 0)
    return found[::-1]


def read_in_messages(messages: Iterable[ChatMessage]) -> list[OutsideText]:
    """What is read with messages that come now."""
    now = time.time()
    return [text for one in messages for block in one.blocks for text in _text(one.role, block, now, words=True)]


def is_by_person(record: MessageRecord | ChatMessage) -> bool:
    """Whether a person wrote it; what an agent or a program posted is none of theirs."""
    return record.role == "user" and not record.text.startswith(FROM_INBOX)


def _text(role: str, block: Block, at: float, *, words: bool) -> Iterable[OutsideText]:
    if isinstance(block, ToolResultBlock):
        names, about = names_in(block.facts), str(block.facts.get("url") or block.tool)
    elif isinstance(block, GivenBlock):
        names, about = (block.whose,), block.uri or f"its prompt {block.prompt}"
    elif isinstance(block, TextBlock) and role == "user" and block.text.startswith(FROM_INBOX):
        names, about = (INBOX,), ""
    else:
        return
    text = (block.text if isinstance(block, TextBlock) else block.as_read) if names and words else ""
    for whose in names:
        yield OutsideText(whose, about, text[:MAX_KEPT], len(text), at)
