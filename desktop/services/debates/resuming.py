"""A debate's turn that the end of the process cut off: what there is of it, and where it goes on.

Its messages hang below the last turn that counts. An answer that had not come to its end is asked for anew; everything
above that stands: what was done is not done again (R-JRN-2).
"""

from __future__ import annotations

from desktop.domain.debates import SideMeter
from desktop.domain.errors import NotFound
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, ToolCallBlock, Usage
from desktop.domain.threads import MessageRecord
from desktop.recovery.resume import Unfinished, conclude, cut_turn, unfinished_above
from desktop.services.debates.perspectives import as_written
from desktop.services.debates.state import Debate
from desktop.services.threads.history import chat_messages
from desktop.store import Store

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class InterruptedTurn:
    """``records`` are what stands of it, oldest first, or nothing where only middleware around it was at work;
    ``messages`` the same as its side wrote them."""

    records: tuple[MessageRecord, ...]
    messages: tuple[ChatMessage, ...]
    unfinished: Unfinished

    @property
    def first(self) -> str:
        """The id of the turn's first message; "" where it has none."""
        return self.records[0].message_id if self.records else ""

    @property
    def leaf(self) -> str:
        """The id of the message after which the turn goes on."""
        return self.records[-1].message_id if self.records else self.unfinished.message.message_id

    def started(self, now: float) -> float:
        """When the turn began."""
        return self.records[0].created_at if self.records else now

    @property
    def meter(self) -> SideMeter:
        """What the turn had used before it was interrupted."""
        answers = [record for record in self.records if record.role == "assistant"]
        usage = Usage(cost_usd=0.0)
        for answer in answers:
            usage = usage.plus(answer.usage) if answer.usage is not None else usage
        calls = sum(isinstance(block, ToolCallBlock) for answer in answers for block in answer.blocks)
        return SideMeter(rounds=len(answers), round=len(answers), calls=calls, usage=usage)


async def interrupted_turn(store: Store, debate: Debate) -> InterruptedTurn | None:
    """The turn that was cut off, to go on with; None where there is none, or where it broke off otherwise: such a turn
    is begun anew. Ends the logs of runs that nobody goes on with."""
    thread_id = debate.thread.thread_id
    found = await _standing(store, debate)
    left = await unfinished_above(store, thread_id, found[-1].message_id) if found else None
    if left is None and debate.head:
        left = await cut_turn(store, thread_id, debate.head)
    if left is None:
        for run_id in await store.effects.unfinished(thread_id):
            if (await store.runs.get(run_id=run_id)).ended_at is not None:
                await conclude(run_id, store.effects)
        return None
    own = tuple(message for message in map(as_written, chat_messages(found)) if message.blocks)
    return InterruptedTurn(tuple(found), own, left)


async def _standing(store: Store, debate: Debate) -> list[MessageRecord]:
    found = await store.debates.left(thread_id=debate.thread.thread_id)
    while found and found[-1].role == "assistant" and _no_answer(found[-1]):
        found.pop()
    if not found or found[0].role != "assistant" or found[0].side != debate.side:
        return []
    try:
        run = await store.runs.get(run_id=found[0].run_id)
    except NotFound:
        return []
    return found if run.end_reason == INTERRUPTED else []


def _no_answer(message: MessageRecord) -> bool:
    """Whether the message is no full answer: cut off, or the loop's words at its limit, which are said again."""
    return message.status == INTERRUPTED or message.stop_reason == "limit"
