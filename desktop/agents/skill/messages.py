"""Messages of a conversation from the plain data that skills give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.messages import (
    Block,
    ChatMessage,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    block_from_plain,
)

_TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "Mapping[str, Any]": (Mapping,),
    "Mapping[str, Any] | None": (Mapping, type(None)),
}
"""Of the fields of a block, as they are declared."""


def messages_from_plain(given: Any) -> list[ChatMessage]:
    """Messages as plain data: ``{role, text}``, of the assistant also ``calls: [{id, tool, args}]``, of a tool ``{role:
    tool, callId, tool, text, isError}``; or ``{role, blocks}`` as the store writes them. What is none of these is left
    out."""
    messages = (_message(one) for one in given if isinstance(one, Mapping)) if isinstance(given, list) else ()
    return [message for message in messages if message is not None]


def _message(one: Mapping[str, Any]) -> ChatMessage | None:
    role, text, blocks = one.get("role"), str(one.get("text") or ""), one.get("blocks")
    if role not in ("user", "assistant", "tool"):
        return None
    if isinstance(blocks, list):
        found = tuple(_block(block) for block in blocks if isinstance(block, Mapping))
        return ChatMessage(role, tuple(block for block in found if block is not None)) if any(found) else None
    if role == "tool":
        call_id, tool = str(one.get("callId") or ""), str(one.get("tool") or "")
        return ChatMessage("tool", (ToolResultBlock(call_id, tool, text, one.get("isError") is True),))
    calls = one.get("calls") if role == "assistant" else None
    made = tuple(_call(call) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else ()
    said = (TextBlock(text),) if text or not made else ()
    return ChatMessage(role, (*said, *made))


def _block(plain: Mapping[str, Any]) -> Block | None:
    """None for one of an unknown kind, or with a value of another type: the store checks neither, as it wrote them."""
    made = block_from_plain(plain)
    for name, declared in made.__dataclass_fields__.items():
        types = _TYPES.get(str(declared.type))
        if types is not None and not isinstance(getattr(made, name), types):
            return None
    return None if isinstance(made, UnknownBlock) else made


def _call(call: Mapping[str, Any]) -> ToolCallBlock:
    given = call.get("args")
    arguments = given if isinstance(given, Mapping) else None
    return ToolCallBlock(str(call.get("id") or ""), str(call.get("tool") or ""), arguments)
