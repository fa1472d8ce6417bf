"""Conversations as skills give them: messages as plain data, and skills as history providers and compaction strategies
of an agent (R-CTX-2, R-CTX-4).

The prompt's skill names them in ``model.history`` and ``model.compaction``. They get plain data, and what they give is
checked: a history is messages, a strategy only chooses among those that there are.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from desktop.agents.loop.context import ShrinkResults
from desktop.domain.errors import ToolFailure
from desktop.domain.estimates import estimate
from desktop.domain.ids import AgentId
from desktop.domain.messages import (
    Block,
    ChatMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    as_it_came,
    block_from_plain,
)
from desktop.domain.runs.agent import SHRINK_RESULTS, CompactionStrategy

MAX_MESSAGES = 10_000
THOUGHTS_KEPT, THOUGHTS_MAX = 64, 8_000_000
"""Answers whose thinking is kept for providers that are skills, and characters of it."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "Mapping[str, Any]": (Mapping,),
    "Mapping[str, Any] | None": (Mapping, type(None)),
}
"""Of the fields of a block, as they are declared."""

CallSkill = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Calls a skill that the prompt's skill names, in the agent's name; gives its value. Raises ToolFailure."""


class SkillHistory:
    """What the skill ``name`` gives for a thread: called with ``{agent, thread, message}``, it returns messages as
    ``{role, text}``, oldest first. ``message`` is what is asked now."""

    def __init__(self, name: str, call: CallSkill, message: str) -> None:
        self._name = name
        self._call = call
        self._message = message

    async def read(self, agent_id: AgentId, session_id: str) -> Sequence[ChatMessage]:
        """Raises ToolFailure for what is no list of messages."""
        asked = {"agent": agent_id.type, "thread": session_id, "message": self._message}
        return messages_from_plain(history_in(await self._call(self._name, asked), self._name))


def history_in(given: Any, name: str) -> list[Any]:
    """What the skill ``name`` gave as a history. Raises ToolFailure for what is no list of so many messages."""
    if not isinstance(given, list) or len(given) > MAX_MESSAGES:
        raise ToolFailure(f"The history {name} has to give at most {MAX_MESSAGES:,} messages as a list.")
    return given


class SkillStrategy:
    """The skill ``name`` as a strategy: called with ``{messages: [{index, role, text, tokens}], budgetTokens}``, it
    returns the indexes of the messages that stay."""

    def __init__(self, name: str, call: CallSkill) -> None:
        self.name = name
        self._call = call

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        """Those that the skill keeps, in their order. Raises ToolFailure for what are no indexes."""
        rows = [
            {"index": at, "role": one.role, "text": one.text, "tokens": estimate(one)}
            for at, one in enumerate(messages)
        ]
        kept = await self._call(self.name, {"messages": rows, "budgetTokens": budget_tokens})
        if not isinstance(kept, list) or not all(type(at) is int and 0 <= at < len(messages) for at in kept):
            raise ToolFailure(f"The strategy {self.name} has to give the indexes of the messages that stay.")
        return [messages[at] for at in sorted(set(kept))]


class KeptThinking:
    """What the run's model thought before calls that a skill made for it: the skill gets the calls as plain data, and
    the thinking goes back with them when they are told again just as they were (R-MOD-4). No skill reads it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, ChatMessage] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def keep(self, answer: ChatMessage) -> None:
        """Remember an answer with calls whose thinking its maker may get again; the oldest ones are forgotten."""
        thoughts = [block for block in answer.blocks if isinstance(block, ReasoningBlock) and block.goes_back]
        if not (thoughts and answer.tool_calls):
            return
        key = _said_of(answer)
        self._kept[key] = answer
        self._sizes[key] = sum(len(block.text) + len(block.sealed) for block in thoughts)
        while len(self._kept) > THOUGHTS_KEPT or sum(self._sizes.values()) > THOUGHTS_MAX:
            del self._sizes[self._kept.popitem(last=False)[0]]

    def put_back(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages, answers that are known with all that was in them."""
        return [self._kept.get(_said_of(one), one) if one.role == "assistant" else one for one in messages]


def _said_of(answer: ChatMessage) -> str:
    """An answer as a skill is given it."""
    made = [[call.call_id, call.tool, dict(call.arguments or {})] for call in answer.tool_calls]
    return json.dumps([answer.text, made], sort_keys=True, default=str)


def strategies_of(names: Sequence[str], call: CallSkill) -> tuple[CompactionStrategy, ...]:
    """The strategies of these names: the app's own, or else the skill of that name."""
    return tuple(ShrinkResults() if name == SHRINK_RESULTS else SkillStrategy(name, call) for name in names)


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
    made = as_it_came(block_from_plain(plain))
    for name, declared in made.__dataclass_fields__.items():
        types = _TYPES.get(str(declared.type))
        if types is not None and not isinstance(getattr(made, name), types):
            return None
    return None if isinstance(made, UnknownBlock) else made


def _call(call: Mapping[str, Any]) -> ToolCallBlock:
    given = call.get("args")
    arguments = given if isinstance(given, Mapping) else None
    return ToolCallBlock(str(call.get("id") or ""), str(call.get("tool") or ""), arguments)
