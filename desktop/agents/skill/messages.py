"""Messages of a conversation from the plain data that skills give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock, block_from_plain


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
        return ChatMessage(role, tuple(block_from_plain(block) for block in blocks if isinstance(block, Mapping)))
    if role == "tool":
        call_id, tool = str(one.get("callId") or ""), str(one.get("tool") or "")
        return ChatMessage("tool", (ToolResultBlock(call_id, tool, text, one.get("isError") is True),))
    calls = one.get("calls") if role == "assistant" else None
    made = tuple(_call(call) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else ()
    said = (TextBlock(text),) if text or not made else ()
    return ChatMessage(role, (*said, *made))


def _call(call: Mapping[str, Any]) -> ToolCallBlock:
    given = call.get("args")
    arguments = given if isinstance(given, Mapping) else None
    return ToolCallBlock(str(call.get("id") or ""), str(call.get("tool") or ""), arguments)
