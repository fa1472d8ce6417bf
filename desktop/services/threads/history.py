"""From stored messages to what the loop works with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, ChatMessage, NoticeBlock, ReasoningBlock, ToolCallBlock, with_media
from desktop.domain.threads import MessageRecord
from desktop.store import Store

RECENT = 400
"""Messages read for a run: several times what the sliding window takes, so that its groups stay whole."""


async def messages_up_to(store: Store, thread_id: str, message_id: str) -> list[ChatMessage]:
    """The recent part of the path that ends in ``message_id``, oldest first."""
    above = await store.messages.path(thread_id=thread_id, before=message_id, limit=RECENT)
    return chat_messages([*above, await store.messages.get(message_id=message_id)])


@dataclass(slots=True)
class Above:
    """What a thread has above the messages that are read for a run: ``count`` messages, of which some are read for
    themselves, because they stay whatever a window leaves out."""

    store: Store
    first: str
    count: int
    _wanted: frozenset[str] = frozenset()
    _found: Sequence[ChatMessage] = ()

    @staticmethod
    async def of(store: Store, messages: Sequence[ChatMessage]) -> Above | None:
        """The messages above those of a thread that are loaded; None where the thread begins with them."""
        if not messages or not messages[0].source_id:
            return None
        first = messages[0].source_id
        count = await store.messages.count_above(message_id=first)
        return Above(store, first, count) if count else None

    async def picked(self, wanted: frozenset[str]) -> Sequence[ChatMessage]:
        """The earlier messages with the ids ``wanted``, the oldest first; the same objects as long as the same are
        wanted."""
        if wanted != self._wanted:
            records = await self.store.messages.picked_above(message_id=self.first, wanted=sorted(wanted))
            self._wanted, self._found = wanted, chat_messages(records)
        return self._found


async def task_above(store: Store, message_id: str) -> MessageRecord:
    """The message that began the work which ``message_id`` belongs to: itself, or what a person had asked before they
    said this while the agent was at work (S-LOOP-1)."""
    record = await store.messages.get(message_id=message_id)
    while record.role != "user" or record.run_id:
        above = await store.messages.path(thread_id=record.thread_id, before=record.message_id, limit=50)
        if not above:
            break
        record = next((one for one in reversed(above) if one.role == "user" and not one.run_id), above[0])
    return record


def chat_messages(records: Iterable[MessageRecord]) -> list[ChatMessage]:
    """Records as messages: a tool record becomes one message a result, thinking that no model gets again is left out
    (R-CTX-10), and so is a message that only tells of a failure: it would stand between calls and their results."""
    messages: list[ChatMessage] = []
    for record in records:
        if record.role == "tool":
            results = with_media(record.blocks)
            messages.extend(ChatMessage("tool", (block,), source_id=record.message_id) for block in results)
            continue
        called = any(isinstance(block, ToolCallBlock) for block in record.blocks)
        blocks: tuple[Block, ...] = tuple(
            block for block in record.blocks if not isinstance(block, ReasoningBlock) or (called and block.goes_back)
        )
        if any(not isinstance(block, NoticeBlock) for block in blocks):  # else it is Assent that says something
            message = ChatMessage(record.role, blocks, record.stop_reason, record.usage, record.model)
            messages.append(replace(message, source_id=record.message_id))
    return messages
