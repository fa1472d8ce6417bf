"""The prompt window: what a model gets to see of a conversation, rebuilt before every round (semantics.md 21).

A view only: the stored transcript is never changed by it (R-CTX-3). It never parts a call from its result, never
begins with a result without its call, and always keeps the person's latest message (R-CTX-5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop.agents.shrink import answered, cap_group, clean_message, estimate, shrink_results
from desktop.domain.errors import ModelContextTooLong
from desktop.domain.messages import ChatMessage

LAST_MESSAGES = 100
RESERVE = 16_384
_MAX_KNOWN = 4_000

Group = list[ChatMessage]


class HistoryProvider(Protocol):
    """Reads a thread's messages along its active path, oldest first."""

    def read(self, thread_id: str) -> Awaitable[Sequence[ChatMessage]]:
        """Everything, as messages; compaction is the window's business."""
        ...


@dataclass(frozen=True, slots=True)
class View:
    """A window with its estimated size in tokens; ``compacted``: something older was left out."""

    messages: tuple[ChatMessage, ...]
    tokens: int
    compacted: bool


class PromptWindow:
    """Sliding window with a truncation backstop (R-CTX-6).

    ``context_window`` is the model's, in tokens (None: unknown, no backstop); ``fixed`` is what system text and tool
    schemas take. Estimates are characters / 4 (R-CTX-8), cached per message.
    """

    def __init__(
        self,
        agent_id: str = "",
        history: HistoryProvider | None = None,
        *,
        context_window: int | None = None,
        fixed: int = 0,
        last: int = LAST_MESSAGES,
    ) -> None:
        self.agent_id = agent_id
        self._history = history
        self._room = _room(context_window, fixed)
        self._fixed = fixed
        self._last = last
        self._known: dict[int, tuple[ChatMessage, ChatMessage, int]] = {}

    async def get_prompt_window(self, session_id: str) -> list[ChatMessage]:
        """History, then compaction (R-CTX-1, R-CTX-2); ``session_id`` is the thread's id under its S1 name."""
        messages = await self._history.read(session_id) if self._history is not None else ()
        return list(self.view(messages).messages)

    def view(self, messages: Sequence[ChatMessage]) -> View:
        """The window over ``messages``. Raises ModelContextTooLong when even the last exchange does not fit."""
        groups, left_out = self._recent(messages)
        groups = [cap_group(group) for group in groups]
        groups, dropped = self._fit(groups)
        flat = tuple(message for group in groups for message in group)
        return View(flat, self._fixed + sum(self._size(message) for message in flat), left_out or dropped)

    def _recent(self, messages: Sequence[ChatMessage]) -> tuple[list[Group], bool]:
        """Whole groups from the end, at most ``last`` messages but at least one group, and the person's latest."""
        groups: list[Group] = []
        end, count = len(messages), 0
        while end > 0:
            start = _group_start(messages, end)
            count += end - start
            if groups and count > self._last:
                break
            group = self._group(messages[start:end])
            if group:
                groups.append(group)
            end = start
        groups.reverse()
        if end > 0 and not any(group[0].role == "user" for group in groups):
            asked = next((m for m in reversed(messages[:end]) if m.role == "user"), None)
            if asked is not None:
                groups.insert(0, [self._clean(asked)])
        return groups, end > 0

    def _group(self, messages: Sequence[ChatMessage]) -> Group:
        """One message with its results, repaired: each call answered, no result without its call."""
        head, tail = messages[0], messages[1:]
        if head.role == "tool":
            return []
        cleaned = self._clean(head)
        if not cleaned.blocks:
            return []
        if not tail and not cleaned.tool_calls:
            return [cleaned]
        return [cleaned, *answered(cleaned, [self._clean(message) for message in tail])]

    def _fit(self, groups: list[Group]) -> tuple[list[Group], bool]:
        """Drop the oldest groups until the rest fits, then shorten results, then give up (R-CTX-7)."""
        room = self._room
        if room is None:
            return groups, False
        sizes = [sum(self._size(message) for message in group) for group in groups]
        total, start = sum(sizes), 0
        latest = max((i for i, group in enumerate(groups) if group[0].role == "user"), default=-1)
        while total > room and start < len(groups) - 1:
            if start != latest:
                total -= sizes[start]
                sizes[start] = 0
                groups[start] = []
            start += 1
        kept = [group for group in groups if group]
        if total > room:
            kept = [shrink_results(group) for group in kept]
            total = sum(self._size(message) for group in kept for message in group)
        if total > room:
            raise ModelContextTooLong(
                "The last messages do not fit into the model's context window.",
                next_step="Choose a model with a larger window, or shorten the message or its attachments.",
            )
        return kept, len(kept) < len(groups)

    def _clean(self, message: ChatMessage) -> ChatMessage:
        return self._look(message)[1]

    def _size(self, message: ChatMessage) -> int:
        return self._look(message)[2]

    def _look(self, message: ChatMessage) -> tuple[ChatMessage, ChatMessage, int]:
        known = self._known.get(id(message))
        if known is not None and known[0] is message:
            return known
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        cleaned = clean_message(message)
        size = estimate(cleaned)
        entry = self._known[id(message)] = (message, cleaned, size)
        if cleaned is not message:
            self._known[id(cleaned)] = (cleaned, cleaned, size)
        return entry


def _room(context_window: int | None, fixed: int) -> int | None:
    """Tokens for messages: the window less a reserve for the answer and what is always sent."""
    if context_window is None:
        return None
    return max(1, context_window - min(RESERVE, context_window // 4) - fixed)


def _group_start(messages: Sequence[ChatMessage], end: int) -> int:
    """Where the group that ends before ``end`` begins: a message, and its results behind it."""
    start = end - 1
    while start > 0 and messages[start].role == "tool":
        start -= 1
    return start
