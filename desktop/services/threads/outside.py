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
    """The same of messages that are there."""
    last = 0 if called else max((at for at, one in enumerate(path) if is_by_person(one)), default=0)
    return [text for one in path[last:] for text in _texts(one.role, one.blocks, one.created_at)]


def read_in_messages(messages: Iterable[ChatMessage]) -> list[OutsideText]:
    """What is read with messages that come now."""
    return [text for one in messages for text in _texts(one.role, one.blocks, time.time())]


def is_by_person(record: MessageRecord | ChatMessage) -> bool:
    """Whether a person wrote it; what an agent or a program posted is none of theirs."""
    return record.role == "user" and not record.text.startswith(FROM_INBOX)


def _texts(role: str, blocks: Sequence[Block], at: float) -> Iterable[OutsideText]:
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            text, about = block.as_read, str(block.facts.get("url") or block.tool)
            for whose in names_in(block.facts):
                yield OutsideText(whose, about, text[:MAX_KEPT], len(text), at)
        elif isinstance(block, GivenBlock):
            text, about = block.as_read, block.uri or f"its prompt {block.prompt}"
            yield OutsideText(block.whose, about, text[:MAX_KEPT], len(text), at)
        elif isinstance(block, TextBlock) and role == "user" and block.text.startswith(FROM_INBOX):
            yield OutsideText(INBOX, "", block.text[:MAX_KEPT], len(block.text), at)
