"""The prompt window: what a model gets to see of a conversation, rebuilt before every round.

A view only: the stored transcript is never changed by it (R-CTX-3). It never parts a call from its result, never
begins with a result without its call, and always keeps what began the work and the person's latest
message (R-CTX-5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

from desktop.agents.loop.shrink import answered, cap_group, clean_message, cut, shrink_results
from desktop.domain.context import Account, Overlay
from desktop.domain.errors import ModelContextTooLong
from desktop.domain.estimates import CHARACTERS_PER_TOKEN, estimate
from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, user_message

LAST_MESSAGES = 100
RESERVE = 16_384
KEEP_RECENT = 20_000
"""Tokens at the end of a conversation that a summary leaves alone (S-CTX-2)."""
SUMMARY_HEAD = "[Summary of the conversation so far; the messages themselves are not repeated]"
TASK_FOLLOWS = "[It also tells what was already done about the task that follows; the work goes on behind it.]"
NOTHING = Overlay()
NOBODY = AgentId("", "")
_MAX_KNOWN = 4_000

Group = list[ChatMessage]


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
class _WindowPart:
    """A message with its results, made of ``count`` messages, its size in tokens, and whether it must stay."""

    group: Group
    size: int
    fixed: bool
    count: int


class PromptWindow:
    """Sliding window with a truncation backstop (R-CTX-6), below an overlay of summary and pins.

    ``context_window`` is the model's, in tokens (None: unknown, no backstop); ``fixed`` is what system text and tool
    schemas take; ``task`` is the id of the message that began the work, which is never left out. Sizes are estimates of
    characters / 4 (R-CTX-8), cached per message; ``scale`` says how many tokens of the model one of them is (R-MOD-9).
    """

    def __init__(
        self,
        agent_id: AgentId = NOBODY,
        *,
        context_window: int | None = None,
        fixed: int = 0,
        last: int = LAST_MESSAGES,
        task: str = "",
        scale: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self.agent_id = agent_id
        self._context_window = context_window
        self._scale = scale
        self._fixed = fixed
        self._last = last
        self._task = task
        self.older = 0
        """Messages of the thread before those that the window is built of; what no summary tells of them is left out"""
        self._known: dict[int, tuple[ChatMessage, ChatMessage, int]] = {}
        self._groups: dict[int, tuple[tuple[ChatMessage, ...], Group, int]] = {}
        self._summary: tuple[str, tuple[ChatMessage, ...]] = ("", ())
        self._begin: ChatMessage | None = None

    @property
    def room(self) -> int | None:
        """Estimated tokens left for messages: the window without the reserve for the answer and what is always sent;
        None: the window is unknown."""
        size = self._context_window
        return None if size is None else int((size - min(RESERVE, size // 4)) / self._scale()) - self._fixed

    def fits(self, messages: Sequence[ChatMessage]) -> bool:
        """Whether nothing has to be left out."""
        if len(messages) > self._last:
            return False
        return self.room is None or sum(self._size(message) for message in messages) <= self.room

    def view(self, messages: Sequence[ChatMessage], overlay: Overlay = NOTHING) -> View:
        """The window over ``messages``. A summary that leaves no room for the last exchange is left out, too. Raises
        ModelContextTooLong when that exchange does not fit, or what is always sent does not."""
        if self.room is not None and self.room <= 0:
            raise _no_room(self._counted(self._fixed))
        try:
            return self._built(messages, overlay)
        except ModelContextTooLong:
            if not overlay.summary:
                raise
            return self._built(messages, Overlay(pins=overlay.pins, off=overlay.off))

    def _built(self, messages: Sequence[ChatMessage], overlay: Overlay) -> View:
        told, held = _told(messages, overlay), self.held(messages, overlay)
        recent, begin, empty = self._recent(messages, told, held)
        older = self._older(messages, begin, held)
        again = sum(count for at, count in older if at < told)
        task = any(messages[at].source_id == self._task for at, _ in older if at < told) if self._task else False
        summary = self._summary_message(overlay, task)
        parts = [*(self._part(messages, at, count) for at, count in older), *recent]
        kept, shrunk = self._fit([part for part in parts if part.group], overlay, summary)
        flat = tuple(message for part in kept for message in part.group)
        count = sum(part.count for part in kept)
        whole_told = min(max(told, overlay.summarised), told + self.older) if summary else 0
        account = Account(
            kept=count - shrunk,
            shrunk=shrunk,
            summary=overlay.summary,
            summarised=max(0, whole_told - again),
            dropped=max(0, len(messages) - count - (told - again) - empty) + self.older - max(0, whole_told - told),
            pinned=sum(message.source_id in overlay.pins for message in flat) if overlay.pins else 0,
        )
        whole = (*summary, *flat)
        size = self._fixed + self._sum(summary) + sum(part.size for part in kept)
        return View(whole, self._counted(size), account)

    def _counted(self, estimated: int) -> int:
        """As the model counts."""
        return round(estimated * self._scale())

    def to_summarise(
        self, messages: Sequence[ChatMessage], overlay: Overlay, *, asked: bool = False
    ) -> Sequence[ChatMessage]:
        """What a new summary should tell besides the old one, when not all fits any more, or is more than the window
        takes (S-CTX-2): whole rounds from the oldest on, also of the run at work, but never the last round nor the
        newest ``KEEP_RECENT`` tokens. Nothing where that would win little. ``asked``: a person wants one now, of the
        older half where all fits."""
        told, room = _told(messages, overlay), self.room
        rest = messages[told:]
        sizes = [self._size(message) for message in rest]
        again = sum(self._size(messages[at]) for at in self.held(messages, overlay) if at < told)
        again += sum(self._size(message) for message in self._summary_message(overlay, False))
        if not asked and len(rest) <= self._last and (room is None or sum(sizes) + again <= room):
            return ()
        keep = KEEP_RECENT if room is None else min(KEEP_RECENT, room // 2)
        keep = min(keep, sum(sizes) // 2) if asked else keep
        end = self._first_kept(rest, sizes, keep)
        if not asked and sum(sizes[:end]) < keep // 4 and end < self._last // 4:
            return ()
        return rest[:end]

    def _first_kept(self, messages: Sequence[ChatMessage], sizes: Sequence[int], keep: int) -> int:
        """Where the newest messages begin that a summary leaves alone: ``keep`` tokens, half of what the window takes,
        and always the last one with its results."""
        end = len(messages)
        while end > 0 and sizes[end - 1] <= keep and len(messages) - end < self._last // 2:
            end -= 1
            keep -= sizes[end]
        end = min(end, _group_start(messages, len(messages)) if messages else 0)
        while 0 < end < len(messages) and messages[end].role == "tool":  # a call goes with its results
            end -= 1
        return end

    def held(self, messages: Sequence[ChatMessage], overlay: Overlay) -> list[int]:
        """Places of what stays whatever happens: the pinned, what began the work, and the person's latest message."""
        wanted = overlay.pins | {self._task} if self._task else overlay.pins
        held = [at for at, message in enumerate(messages) if message.source_id in wanted] if wanted else []
        latest = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "user"), None)
        return sorted({*held, latest}) if latest is not None else held

    def _older(self, messages: Sequence[ChatMessage], begin: int, held: Sequence[int]) -> list[tuple[int, int]]:
        """(place, length) of the groups before ``begin`` that stay, a call with its results."""
        found: list[tuple[int, int]] = []
        end = 0
        for at in held:
            if at >= begin or at < end:
                continue
            start, end = _group_start(messages, at + 1), at + 1
            while end < begin and messages[end].role == "tool":
                end += 1
            found.append((start, end - start))
        return found

    def _part(self, messages: Sequence[ChatMessage], at: int, count: int, fixed: bool = True) -> _WindowPart:
        return _WindowPart(*self._group(messages[at : at + count]), fixed, count)

    def _recent(
        self, messages: Sequence[ChatMessage], told: int, held: Sequence[int]
    ) -> tuple[list[_WindowPart], int, int]:
        """Whole groups from the end, at most ``last`` messages but at least one group; where they begin; and how many
        messages among them hold nothing that is sent."""
        parts: list[_WindowPart] = []
        end, empty, fixed = len(messages), 0, frozenset(held)
        first = self._first_of(len(messages))
        while end > told:
            start = _group_start(messages, end)
            if parts and start < first:
                break
            part = self._part(messages, start, end - start, not fixed.isdisjoint(range(start, end)))
            if part.group:
                parts.append(part)
            else:
                empty += end - start
            end = start
        parts.reverse()
        return parts, end, empty

    def _first_of(self, count: int) -> int:
        """The first of so many messages that is sent: the window moves on by quarters of what it holds, so that
        requests begin alike for some rounds, and a provider reads their beginning from its cache (R-MOD-3)."""
        over, step = count + self.older - self._last, max(1, self._last // 4)
        return -(-over // step) * step - self.older if over > 0 else 0

    def _group(self, messages: Sequence[ChatMessage]) -> tuple[Group, int]:
        """One message with its results, and their size, as in the rounds before: messages do not change."""
        known = self._groups.get(id(messages[0]))
        if known is None or len(known[0]) != len(messages) or not all(map(is_, known[0], messages)):
            if len(self._groups) > _MAX_KNOWN:
                self._groups.clear()
            group = self._repaired(messages)
            known = self._groups[id(messages[0])] = (tuple(messages), group, self._sum(group))
        return known[1:]

    def _repaired(self, messages: Sequence[ChatMessage]) -> Group:
        """Each call answered, no result without its call."""
        head, tail = messages[0], messages[1:]
        if head.role == "tool":
            return []
        cleaned = self._clean(head)
        if not cleaned.blocks:
            return []
        if not tail and not cleaned.tool_calls:
            return [cleaned]
        return cap_group([cleaned, *answered(cleaned, [self._clean(message) for message in tail])])

    def _fit(
        self, parts: list[_WindowPart], overlay: Overlay, summary: Sequence[ChatMessage]
    ) -> tuple[list[_WindowPart], int]:
        """Drop the oldest groups until the rest fits, then shorten results, then give up (R-CTX-7). What is held and
        the last group stay. Also how many results were shortened."""
        room = self.room
        if room is None:
            return parts, 0
        room -= self._sum(summary)
        kept = self._dropped(parts, room)
        total = sum(part.size for part in kept)
        shrunk = 0
        if total > room:
            for part in kept:
                shorter = shrink_results(part.group)
                shrunk += sum(one != other for one, other in zip(part.group, shorter, strict=True))
                part.group, part.size = shorter, self._sum(shorter)
            total = sum(part.size for part in kept)
        if total > room:
            raise _too_long(any(message.source_id in overlay.pins for part in kept for message in part.group))
        return kept, shrunk

    def _dropped(self, parts: list[_WindowPart], room: int) -> list[_WindowPart]:
        """Without the oldest parts that may go, where not all fits: those that went in the round before, and where that
        is not enough, a quarter more than has to, so that the next rounds begin alike."""
        total = sum(part.size for part in parts)
        if total <= room:
            return parts
        before = next((at for at, part in enumerate(parts) if part.group[0] is self._begin), 0)
        kept = list[_WindowPart]()
        goal = room if sum(part.size for part in parts[:before] if not part.fixed) >= total - room else room - room // 4
        for at, part in enumerate(parts):
            if not part.fixed and at < len(parts) - 1 and (at < before or total > goal):
                total -= part.size
            else:
                kept.append(part)
        self._begin = next((part.group[0] for part in kept if not part.fixed), None)
        return kept

    def _summary_message(self, overlay: Overlay, task_follows: bool) -> tuple[ChatMessage, ...]:
        """The summary as the first message, or nothing; it never takes more than half of the room."""
        if not overlay.summary:
            return ()
        maximum = len(overlay.summary) if self.room is None else self.room * CHARACTERS_PER_TOKEN // 2
        head = f"{SUMMARY_HEAD}\n{TASK_FOLLOWS}" if task_follows else SUMMARY_HEAD
        text = f"{head}\n\n{cut(overlay.summary, maximum)}"
        if self._summary[0] != text:
            self._summary = (text, (user_message(text),))
        return self._summary[1]

    def _clean(self, message: ChatMessage) -> ChatMessage:
        return self._look(message)[1]

    def _sum(self, messages: Sequence[ChatMessage]) -> int:
        return sum(self._size(message) for message in messages)

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


def _told(messages: Sequence[ChatMessage], overlay: Overlay) -> int:
    """How many of ``messages`` the summary tells, results with their call. Where its end is not among them it is older
    than all of them: whoever gives an overlay has seen that it belongs to this branch."""
    if not overlay.summary:
        return 0
    told = next((at for at in range(len(messages), 0, -1) if messages[at - 1].source_id == overlay.upto), 0)
    while 0 < told < len(messages) and messages[told].role == "tool":
        told += 1
    return told


def _group_start(messages: Sequence[ChatMessage], end: int) -> int:
    """Where the group that ends before ``end`` begins: a message, and its results behind it."""
    start = end - 1
    while start > 0 and messages[start].role == "tool":
        start -= 1
    return start


def _no_room(fixed: int) -> ModelContextTooLong:
    return ModelContextTooLong(
        f"The agent's instructions and tools alone, about {fixed:,} tokens, do not fit into the model's window.",
        next_step="Choose a model with a larger window, or an agent with shorter instructions or fewer tools.",
    )


def _too_long(pinned: bool) -> ModelContextTooLong:
    return ModelContextTooLong(
        "The last messages do not fit into the model's context window.",
        next_step="Choose a model with a larger window, or shorten the message or its attachments."
        + (" Messages that are pinned take part of it." if pinned else ""),
    )
