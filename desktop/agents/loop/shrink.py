"""Messages as a model gets them: cleaned, and shortened when nothing else helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.messages import (
    Block,
    ChatMessage,
    FileBlock,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)

MAX_CALLS_IN_VIEW = 64
SHORT_RESULT, SHORT_ERROR = 500, 4_000
"""Characters of a result, and of one that is an error, that are never shortened."""
_HEAD, _TAIL = 300, 150
NO_RESULT = "There is no result: this call was cut off, and nobody knows whether it was done."
"""It would be an invention that it was not (R-JRN-2)."""
_SENT = (TextBlock, ImageBlock, FileBlock, ToolCallBlock, ToolResultBlock)


def clean_message(message: ChatMessage) -> ChatMessage:
    """Without notices and unknown blocks, which are never sent, and without thinking that led to no calls (R-CTX-10);
    the same object if clean."""
    kept = tuple(block for block in message.blocks if _sent(block, message))
    return message if len(kept) == len(message.blocks) else replace(message, blocks=kept)


def _sent(block: Block, message: ChatMessage) -> bool:
    """Of thinking it is decided at the model whether it is the maker, and so whether it gets it (R-MOD-4)."""
    if isinstance(block, ReasoningBlock):
        return block.goes_back and bool(message.tool_calls)
    return isinstance(block, _SENT) and not (isinstance(block, TextBlock) and not block.text)


def answered(head: ChatMessage, results: Sequence[ChatMessage]) -> list[ChatMessage]:
    """``results`` in call order; of a missing one it is said that there is none, so that no call goes unanswered;
    strangers left out."""
    known: dict[str, ChatMessage] = {}
    for message in results:
        for block in message.blocks:
            if isinstance(block, ToolResultBlock):
                known.setdefault(block.call_id, message)
    return [known.get(call.call_id) or _missing(call) for call in head.tool_calls]


def _missing(call: ToolCallBlock) -> ChatMessage:
    return ChatMessage("tool", (ToolResultBlock(call.call_id, call.tool, NO_RESULT, True),))


def cap_group(group: list[ChatMessage]) -> list[ChatMessage]:
    """A message with thousands of calls, reduced to the first ones and a line that says so."""
    calls = group[0].tool_calls
    if len(calls) <= MAX_CALLS_IN_VIEW:
        return group
    dropped = {call.call_id for call in calls[MAX_CALLS_IN_VIEW:]}
    blocks: tuple[Block, ...] = tuple(
        block for block in group[0].blocks if not (isinstance(block, ToolCallBlock) and block.call_id in dropped)
    )
    note = TextBlock(f"[{len(dropped)} more calls of this message were not made and are left out.]")
    return [replace(group[0], blocks=(note, *blocks)), *group[1 : 1 + MAX_CALLS_IN_VIEW]]


def shrink_results(group: list[ChatMessage]) -> list[ChatMessage]:
    """Long results cut to head and tail with a marker that gives the size (R-CTX-6). An error is what a model has to
    read whole; only one that no person would (the output of a whole build) is cut, too, and keeps far more."""
    return [replace(message, blocks=tuple(_shrink(block) for block in message.blocks)) for message in group]


def cut(text: str, maximum: int) -> str:
    """Head and tail of a text that is longer than ``maximum`` characters, with what was left out between them."""
    if len(text) <= maximum:
        return text
    half = max(1, maximum // 2 - 20)
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _shrink(block: Block) -> Block:
    if not isinstance(block, ToolResultBlock):
        return block
    if block.media:
        left = f"[{len(block.media)} images or sounds of this result are left out here.]"
        block = replace(block, text=f"{block.text}\n{left}", media=())
    text = block.text
    if block.is_error:
        shorter = cut(text, SHORT_ERROR)
        return block if shorter == text else replace(block, text=shorter)
    if len(text) <= SHORT_RESULT:
        return block
    left_out = len(text) - _HEAD - _TAIL
    return replace(block, text=f"{text[:_HEAD]}\n[… {left_out} characters left out …]\n{text[-_TAIL:]}")
