"""What each side sees of a debate (R-SES-4, R-SES-5, R-SES-6, R-SES-21, R-SES-23). The transcript itself is neutral.

A side reads its own turns as it wrote them: texts and calls as ``assistant``, results as ``tool``. Of the other's turns
it reads the outcome, as ``user``, and nothing else. The topic and a moderator's messages are ``user`` to both. Messages
of the same role in a row stay apart: joining them is the provider's adapter's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from desktop.domain.debates import TurnRecord
from desktop.domain.definitions import SIDES, SideName
from desktop.domain.messages import Block, ChatMessage, FileBlock, ImageBlock, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.threads import MessageRecord
from desktop.services.threads.history import chat_messages
from desktop.services.turns.stops import NUDGE

MODERATOR = "A note from the moderator: "
_SAID = (TextBlock, ImageBlock, FileBlock, ToolCallBlock, ToolResultBlock)


class Perspectives:
    """Fed with a debate's path from its topic on, in pieces of whole turns; messages are made once and stay the same
    objects, so that what was sent before need not be sent again."""

    def __init__(self) -> None:
        self.topic: ChatMessage | None = None
        self._seen: Mapping[SideName, list[ChatMessage]] = {side: [] for side in SIDES}

    def add(self, records: Sequence[MessageRecord], turns: Sequence[TurnRecord]) -> None:
        """More of the path; ``turns`` are those that it holds. What belongs to no finished turn is left out."""
        begins = {turn.first_message_id: turn for turn in turns}
        current: TurnRecord | None = None
        own: list[MessageRecord] = []
        for record in records:
            current = begins.get(record.message_id, current)
            if current is None:
                self._from_person(record)
                continue
            own.append(record)
            if record.message_id == current.last_message_id:
                self._turn(current, own)
                current, own = None, []

    def of(self, side: SideName) -> list[ChatMessage]:
        """What a side has seen after the topic."""
        return list(self._seen[side])

    def next_for(self, side: SideName) -> list[ChatMessage]:
        """What a side whose turn it is gets to read after the topic; a turn that said nothing is a plain nudge."""
        seen = self.of(side)
        waiting = seen[-1].role == "user" if seen else self.topic is not None
        return seen if waiting else [*seen, ChatMessage("user", (TextBlock(NUDGE),))]

    def _from_person(self, record: MessageRecord) -> None:
        blocks = _said(record.blocks)
        if record.role != "user" or not blocks:
            return
        if self.topic is None:
            self.topic = ChatMessage("user", blocks, source_id=record.message_id)
            return
        text = "".join(block.text for block in blocks if isinstance(block, TextBlock))
        rest = tuple(block for block in blocks if not isinstance(block, TextBlock))
        for side in SIDES:
            said = (TextBlock(MODERATOR + text), *rest)
            self._seen[side].append(ChatMessage("user", said, source_id=record.message_id))

    def _turn(self, turn: TurnRecord, records: Sequence[MessageRecord]) -> None:
        kept = [record for record in records if record.stop_reason != "limit"]  # what the loop said, not the side
        for message in chat_messages(kept):
            own = as_written(message)
            if own.blocks:
                self._seen[turn.side].append(own)
        if turn.outcome:
            told = ChatMessage("user", (TextBlock(turn.outcome),), source_id=turn.last_message_id)
            self._seen["b" if turn.side == "a" else "a"].append(told)


def as_written(message: ChatMessage) -> ChatMessage:
    """A message as the side reads it that wrote it."""
    return replace(message, blocks=_said(message.blocks))


def _said(blocks: Sequence[Block]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if isinstance(block, _SAID))
