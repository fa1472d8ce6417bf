"""The prompt window: what a model gets to see of a conversation, rebuilt before every round (semantics.md 21).

A view only: the stored transcript is never changed by it (R-CTX-3). It never parts a call from its result, never
begins with a result without its call, and always keeps the person's latest message (R-CTX-5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop.agents.shrink import answered, cap_group, clean_message, estimate, shrink_results
from desktop.domain.context import Account, Overlay
from desktop.domain.errors import ModelContextTooLong
from desktop.domain.messages import ChatMessage, user_message

LAST_MESSAGES = 100
RESERVE = 16_384
KEEP_RECENT = 20_000
"""Tokens at the end of a conversation that a summary leaves alone (S-CTX-2)."""
SUMMARY_HEAD = "[Summary of the conversation so far; the messages themselves are not repeated]"
NOTHING = Overlay()
_MAX_KNOWN = 4_000

Group = list[ChatMessage]


class HistoryProvider(Protocol):
    """Reads a thread's messages along its active path, oldest first."""

    def read(self, thread_id: str) -> Awaitable[Sequence[ChatMessage]]:
        """Everything, as messages; compaction is the window's business."""
        ...


@dataclass(frozen=True, slots=True)
class View:
    """A window with its estimated size in tokens; ``account`` says what became of everything else."""

    messages: tuple[ChatMessage, ...]
    tokens: int
    account: Account

    @property
    def compacted(self) -> bool:
        """Whether something older was left out or stands only in a summary."""
        return bool(self.account.dropped or self.account.summarised or self.account.shrunk)


@dataclass(slots=True, eq=False)
class _Part:
    """A message with its results, and whether it must stay."""

    group: Group
    fixed: bool


class PromptWindow:
    """Sliding window with a truncation backstop (R-CTX-6), below an overlay of summary and pins.

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

    def view(self, messages: Sequence[ChatMessage], overlay: Overlay = NOTHING) -> View:
        """The window over ``messages``. Raises ModelContextTooLong when even the last exchange does not fit."""
        told = _told(messages, overlay)
        parts = [*self._pinned(messages[:told], overlay), *self._recent(messages[told:], overlay)]
        for part in parts:
            part.group = cap_group(part.group)
        parts, shrunk = self._fit(parts, overlay)
        flat = tuple(message for part in parts for message in part.group)
        summary = summary_message(overlay)
        told_left = told - sum(len(part.group) for part in self._pinned(messages[:told], overlay))
        account = Account(
            kept=len(flat), shrunk=shrunk, summarised=told_left if summary else 0,
            dropped=max(0, len(messages) - len(flat) - told_left), summary=overlay.summary if summary else "",
            pinned=sum(message.source_id in overlay.pins for message in flat) if overlay.pins else 0,
        )  # fmt: skip
        whole = (*summary, *flat)
        return View(whole, self._fixed + sum(self._size(message) for message in whole), account)

    def to_summarise(self, messages: Sequence[ChatMessage], overlay: Overlay) -> Sequence[ChatMessage]:
        """What a new summary should tell besides the old one: everything but the newest ``KEEP_RECENT`` tokens and the
        person's last message, when not all fits any more (S-CTX-2); else nothing."""
        rest = messages[_told(messages, overlay) :]
        sizes = [self._size(self._clean(message)) for message in rest]
        if self._room is None or sum(sizes) <= self._room:
            return ()
        keep, end = min(KEEP_RECENT, self._room // 2), len(rest)
        while end > 0 and sum(sizes[end - 1 :]) <= keep:
            end -= 1
        asked = max((at for at, message in enumerate(rest) if message.role == "user"), default=end)
        end = min(end, asked)
        while 0 < end < len(rest) and rest[end].role == "tool":  # a call goes with its results
            end -= 1
        return rest[:end]

    def _pinned(self, messages: Sequence[ChatMessage], overlay: Overlay) -> list[_Part]:
        """Of what is left out otherwise, the pinned messages, a call with its results."""
        if not overlay.pins:
            return []
        found, end = [], len(messages)
        while end > 0:
            start = _group_start(messages, end)
            if any(message.source_id in overlay.pins for message in messages[start:end]):
                found.append(_Part(self._group(messages[start:end]), True))
            end = start
        return [part for part in reversed(found) if part.group]

    def _recent(self, messages: Sequence[ChatMessage], overlay: Overlay) -> list[_Part]:
        """Whole groups from the end, at most ``last`` messages but at least one group, and the person's latest."""
        parts: list[_Part] = []
        end, count = len(messages), 0
        while end > 0:
            start = _group_start(messages, end)
            count += end - start
            if parts and count > self._last:
                break
            group = self._group(messages[start:end])
            if group:
                parts.append(_Part(group, any(m.source_id in overlay.pins for m in group) if overlay.pins else False))
            end = start
        parts.reverse()
        older = self._pinned(messages[:end], overlay)
        if end > 0 and not any(part.group[0].role == "user" for part in parts):
            asked = next((m for m in reversed(messages[:end]) if m.role == "user"), None)
            if asked is not None and asked.source_id not in overlay.pins:
                older.append(_Part([self._clean(asked)], True))
        return [*older, *parts]

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

    def _fit(self, parts: list[_Part], overlay: Overlay) -> tuple[list[_Part], int]:
        """Drop the oldest groups until the rest fits, then shorten results, then give up (R-CTX-7). What is pinned and
        the person's latest message stay. Also how many results were shortened."""
        room = self._room
        if room is None:
            return parts, 0
        room -= sum(self._size(message) for message in summary_message(overlay))
        sizes = [sum(self._size(message) for message in part.group) for part in parts]
        total = sum(sizes)
        latest = max((at for at, part in enumerate(parts) if part.group[0].role == "user"), default=-1)
        kept = list(parts)
        for at, part in enumerate(parts[:-1]):
            if total <= room:
                break
            if at != latest and not part.fixed:
                total -= sizes[at]
                kept.remove(part)
        shrunk = 0
        if total > room:
            for part in kept:
                shorter = shrink_results(part.group)
                shrunk += sum(one != other for one, other in zip(part.group, shorter, strict=True))
                part.group = shorter
            total = sum(self._size(message) for part in kept for message in part.group)
        if total > room:
            pinned = any(part.fixed for part in kept)
            raise ModelContextTooLong(
                "The last messages do not fit into the model's context window.",
                next_step="Choose a model with a larger window, or shorten the message or its attachments."
                + (" Messages that are pinned take part of it." if pinned else ""),
            )
        return kept, shrunk

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


def summary_message(overlay: Overlay) -> tuple[ChatMessage, ...]:
    """The summary as the first message, or nothing."""
    return (user_message(f"{SUMMARY_HEAD}\n\n{overlay.summary}"),) if overlay.summary else ()


def _told(messages: Sequence[ChatMessage], overlay: Overlay) -> int:
    """How many of ``messages`` the summary tells. Where its end is not among them it is older than all of them:
    whoever gives an overlay has seen that it belongs to this branch."""
    if not overlay.summary:
        return 0
    return next((at for at in range(len(messages), 0, -1) if messages[at - 1].source_id == overlay.upto), 0)


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
