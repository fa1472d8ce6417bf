"""Find in the thread: the nearest match at once, the count of all while there is time, nothing laid out in vain.

Messages are first searched in their source with the plainest markup taken out; a message that matches is laid out,
and what counts is its text as it is read.
"""

from __future__ import annotations

import re
import time

from desktop.presenter.transcript_items import NoticePart, ToolPart
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.page import Page

SLICE = 0.004
"""Seconds of counting before the loop gets its turn."""
Place = tuple[int, int]


class Finder:
    """``query`` is "" while nothing is looked for. Case does not matter."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.query = ""
        self._pattern: re.Pattern[str] | None = None
        self._counts: list[int | None] = []
        self._next = 0
        self.current: Place | None = None

    def start(self, query: str) -> bool:
        """Looks for something else; returns whether it is another query than before."""
        if query == self.query and len(self._counts) == len(self._page):
            return False
        self.query = query
        self._pattern = re.compile(re.escape(query), re.IGNORECASE) if query else None
        self.reset()
        return True

    def reset(self) -> None:
        """The messages changed: everything is counted again."""
        self._counts = [None] * len(self._page)
        self._next = 0

    def matches(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of every match in a text."""
        return [match.span() for match in self._pattern.finditer(text)] if self._pattern else []

    def count(self, index: int) -> int:
        """How often a message has it."""
        known = self._counts[index] if index < len(self._counts) else 0
        if known is None:
            known = self._counts[index] = len(self.matches(_searched(self._page.messages[index])))
        return known

    def correct(self, index: int, count: int) -> None:
        """What the laid-out text says."""
        if index < len(self._counts):
            self._counts[index] = count

    def go_on(self) -> bool:
        """Counts on for a few milliseconds; returns whether there is more to do."""
        if not self.query:
            return False
        until = time.perf_counter() + SLICE
        while self._next < len(self._counts):
            self.count(self._next)
            self._next += 1
            if time.perf_counter() > until:
                return self._next < len(self._counts)
        return False

    def total(self) -> tuple[int, int]:
        """(place of the current match, how many there are), as far as counted."""
        known = [count or 0 for count in self._counts]
        if self.current is None:
            return 0, sum(known)
        index, offset = self.current
        before = sum(known[:index])
        message = self._page.messages[index]
        within = sum(1 for start, _ in self.matches(message.text()) if start <= offset) if message.flows else 1
        return before + within, sum(known)

    def candidates(self, start: int, forward: bool) -> list[int]:
        """All messages in the order in which they are to be looked at, beginning with ``start``."""
        numbers = list(range(len(self._page)))
        if forward:
            return numbers[start:] + numbers[: start + 1]
        return numbers[start::-1] + numbers[: start - 1 if start else None : -1]


def _searched(message: Message) -> str:
    words = [message.source().replace("**", "").replace("`", "")]
    for part in message.item.parts:
        if isinstance(part, ToolPart):
            words.append(f"{part.tool} {part.summary}")
        elif isinstance(part, NoticePart):
            words.append(part.text)
    return "\n".join(words)
