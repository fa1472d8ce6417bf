"""Agents that were called, and were at work when the process died: they go on in the thread they have, and settle their
own open calls there, as a chat does. Nothing of what they did is done again, and none of it is asked about
twice.
"""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import TextBlock
from desktop.domain.threads import MessageRecord, RunRecord, ThreadRecord
from desktop.recovery.resume import unfinished_above
from desktop.services.chats.answer import AgentAnswer, answer_from_extra
from desktop.services.turns.endings import Ending
from desktop.store import Store

MAX_SEEN = 2_000
"""Messages of its thread that are looked at."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An agent that a call had begun in an earlier process: its thread, what it was asked there, its last run."""

    thread: ThreadRecord
    asked: MessageRecord
    run: RunRecord

    @property
    def message(self) -> str:
        """The message with which the agent was called."""
        return "".join(block.text for block in self.asked.blocks if isinstance(block, TextBlock))


async def begun_by(store: Store, call_key: str) -> Begun | None:
    """The run that was begun for a call, with its thread; None: the call did not come so far, and is made as any
    other."""
    run = await store.called.latest(call_key=call_key)
    if run is None:
        return None
    thread = await store.threads.get(thread_id=run.thread_id)
    first = await store.messages.children(thread_id=thread.thread_id, message_id=None)
    return Begun(thread, first[0], run) if first else None


async def end_of(store: Store, begun: Begun) -> MessageRecord:
    """How far it has come, or whoever went on with its answer: what a person asked there besides, or had answered
    differently, is no part of that."""
    leaf, run_id = begun.thread.active_leaf, begun.run.run_id
    shown = await store.messages.path_to(message_id=leaf) if leaf is not None else []
    written = await _written(store, begun)
    base = written or begun.asked
    ids = [message.message_id for message in shown]
    if base.message_id not in ids:
        return base
    for message in shown[ids.index(base.message_id) + 1 :]:
        if message.role == "user" and message.run_id not in (run_id, base.run_id):
            break
        base = message
    return base


async def _written(store: Store, begun: Begun) -> MessageRecord | None:
    """The last message of its last run, wherever that stands below what it was asked."""
    last: MessageRecord | None = None
    below, seen = [begun.asked], 0
    while below and seen < MAX_SEEN:
        at = below.pop()
        seen += 1
        found = await store.messages.children(thread_id=at.thread_id, message_id=at.message_id)
        mine = [message for message in found if message.run_id == begun.run.run_id]
        last = mine[-1] if mine else last
        below += mine or found
    return last


async def ended_before(store: Store, begun: Begun, end: MessageRecord, *, by_text: bool) -> AgentAnswer | None:
    """The agent's answer, where it had answered before the process ended with the message ``end``; None: it goes on.

    An agent that a person ended alone stays ended. ``by_text``: a text without calls is its answer.
    """
    known = answer_from_extra(begun.run.extra)
    if known is not None:
        return known
    left = await unfinished_above(store, begun.thread.thread_id, end.message_id)
    if left is not None and left.calls:
        return None
    if begun.run.end_reason == "cancelled":
        return AgentAnswer(Ending("cancelled"))
    whole = end.role == "assistant" and end.status == "complete" and end.stop_reason == "end" and end.text
    return AgentAnswer(Ending("response"), end.text) if whole and by_text else None
