"""Find in the thread: the nearest match at once, the count of all while there is time, nothing laid out in vain.

Messages are first searched in their source with the plainest markup taken out; a message that matches is laid out,
and what counts is its text as it is read.
"""

from __future__ import annotations

import re
import time

from PySide6.QtCore import QObject, QTimer

from desktop.presenter.transcript.items import NoticePart, PlainPart, ToolPart
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.pieces.text_box import Marked
from desktop.ui.transcript.pieces.tool_drawing import head_words
from desktop.ui.transcript.surface import Surface

SLICE = 0.004
"""Seconds of counting before the loop gets its turn."""
Place = tuple[int, int]


class Matches:
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
        """Forget all counts, because the messages changed."""
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
        """Correct the count by what the laid-out text says."""
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


class Search(QObject):
    """Goes from match to match on the page, and counts on between events."""

    def __init__(self, view: Surface) -> None:
        super().__init__(view)
        self._view = view
        self.matches = Matches(view.page)
        self._counting = QTimer(self, interval=0)
        self._counting.timeout.connect(self._count_on)

    def go(self, text: str, forward: bool) -> tuple[int, int]:
        """Search; see ``Surface.find``."""
        fresh = self.matches.start(text)
        if text:
            self._jump(forward, stay=fresh)
            if self.matches.go_on():
                self._counting.start()
        else:
            self.matches.current = None
            self._counting.stop()
        self._view.viewport().update()
        return self.matches.total() if text else (0, 0)

    def restart(self) -> None:
        """Count all matches again, because the messages changed."""
        self.matches.reset()
        if self.matches.query and self._view.isVisible():
            self._counting.start()

    def stop(self) -> None:
        """The page is hidden."""
        self._counting.stop()

    def marks(self, index: int) -> list[Marked]:
        """Matches in a message that is laid out."""
        if not self.matches.query:
            return []
        look, current = self._view.look, self.matches.current
        found = self.matches.matches(self._view.page.messages[index].text())
        return [(start, end, look.found_now if current == (index, start) else look.found) for start, end in found]

    def shift(self, count: int) -> None:
        """Move the current match by ``count`` messages, which were put in front."""
        if self.matches.current is not None:
            index, offset = self.matches.current
            self.matches.current = (index + count, offset)

    def _jump(self, forward: bool, *, stay: bool) -> None:
        view, matches = self._view, self.matches
        if not len(view.page):
            return
        shown = next((index for index, _ in view.visible()), 0)
        index, offset = matches.current or (shown, -1 if forward else 1 << 40)
        if stay and matches.current is not None:
            offset -= 1 if forward else -1
        matches.current = None
        for step, candidate in enumerate(matches.candidates(min(index, len(view.page) - 1), forward)):
            starts = self._starts(candidate)
            if step == 0:
                starts = [start for start in starts if (start > offset if forward else start < offset)]
            if starts:
                self._arrive(candidate, starts[0] if forward else starts[-1])
                return

    def _starts(self, index: int) -> list[int]:
        """Where the matches of a message begin in its text as it is read."""
        if not self.matches.count(index):
            return []
        self._view.lay_out_quietly(index)
        starts = [start for start, _ in self.matches.matches(self._view.page.messages[index].text())]
        self.matches.correct(index, len(starts))
        return starts

    def _arrive(self, index: int, offset: int) -> None:
        self.matches.current = (index, offset)
        rect = self._view.page.messages[index].cursor_rect(offset)
        room = self._view.look.px(40)
        self._view.show_range(index, rect.top() - room, rect.height() + 2 * room)

    def _count_on(self) -> None:
        if not self.matches.go_on():
            self._counting.stop()
        self._view.found.emit(*self.matches.total())


def _searched(message: Message) -> str:
    plain = [part.shown for part in message.item.parts if isinstance(part, PlainPart)]
    words = plain or [message.source().replace("**", "").replace("`", "")]
    for part in message.item.parts:
        if isinstance(part, ToolPart):
            words.append(" ".join(head_words(part)))
        elif isinstance(part, NoticePart):
            words.append(part.text)
    return "\n".join(words)
