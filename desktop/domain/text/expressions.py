"""Regular expressions that a person writes: checked where they are written, and bounded in time where they are used.

An expression can take for ever on a text (``(a|aa)+$``), and Python's own engine neither stops nor lets anybody else
work meanwhile. So texts are searched by ``regex``, which gives up after a time, in a thread.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import LimitReached
from desktop.domain.loading.lazy import lazy_module

# With the first expression: that takes 25 ms.
if TYPE_CHECKING:
    import regex
else:
    regex = lazy_module("regex")

MAX_LENGTH = 500
"""Characters of one expression."""
MAX_REPEATS = 10_000
"""What all counts of an expression may multiply to: its program grows with them."""
SECONDS = 0.25
"""For one search."""
MAX_SECONDS = 2.0
"""Of work, for one look at a text: many searches that are fast, one by one."""
SLICE, BEHIND = 2_048, 512
"""Characters in which what may become a hit is looked for at once, and how many more it sees behind them. The engine's
partial search looks from each place to the end of what it is given."""

_COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")


def fault_of(text: str) -> str:
    """Why this cannot be used as an expression, for a person, or ""."""
    if len(text) > MAX_LENGTH:
        return f"it has more than {MAX_LENGTH} characters"
    if too_many_repeats(text):
        return f"its counts multiply to more than {MAX_REPEATS:,}"
    try:
        found = re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return "it fits the empty text, and so every text" if found.search("") else ""


def too_many_repeats(text: str) -> bool:
    """Whether the counts of an expression multiply to so much that compiling it alone would take long."""
    counts, repeats = [number for pair in _COUNT.findall(text) for number in pair if number], 1
    for count in counts:
        repeats *= max(1, int(count[:9]))
    return repeats > MAX_REPEATS


class Expressions:
    """Several at once, upper and lower case alike. Made and asked in threads. Raises ValueError for a faulty one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._compiled = []
        for text in texts:
            fault = fault_of(text)
            if fault:
                raise ValueError(f"{text!r} is no regular expression: {fault}.")
            try:
                self._compiled.append(regex.compile(text, regex.IGNORECASE))
            except regex.error as error:
                raise ValueError(f"{text!r} is no regular expression: {error}.") from error

    def look(self, text: str, *, whole: bool) -> ExpressionSearch:
        """Start a search of one text. ``whole`` False: more text may follow."""
        return ExpressionSearch(self._compiled, text, whole)


class ExpressionSearch:
    """One text searched from its beginning to its end. What was found ahead is kept, so that the work grows with the
    text, however many hits there are. Used in the thread that made it."""

    def __init__(self, compiled: Sequence[Any], text: str, whole: bool) -> None:
        self._compiled = compiled
        self._text = text
        self._whole = whole
        self._began = time.thread_time()
        self._ahead: list[tuple[int, int]] = [(-1, -1)] * len(compiled)  # of each expression, the hit that comes next
        self._open = -1

    def first(self, at: int) -> tuple[int, int, int] | None:
        """Number (from 1), start and end of the first hit from ``at`` on, which is never before an earlier ``at``.
        Where more text could make a hit, or a longer one, of what stands at the end, the end is -1. A hit is at least
        one character long.

        Raises LimitReached when an expression takes too long.
        """
        opened = len(self._text) if self._whole else self._opened(at)
        found: tuple[int, int, int] | None = None
        for number in range(1, len(self._compiled) + 1):
            start, end = self._next(number, at)
            if start < opened and (found is None or start < found[1]):
                found = (number, start, end)
        return found or (None if opened == len(self._text) else (0, opened, -1))

    def _next(self, number: int, at: int) -> tuple[int, int]:
        start, end = self._ahead[number - 1]
        if start < at:
            search = self._compiled[number - 1].search
            hit = self._timed(partial(search, self._text, at, timeout=SECONDS, concurrent=True), number)
            start, end = (len(self._text), -1) if hit is None else (hit.start(), max(hit.end(), hit.start() + 1))
            self._ahead[number - 1] = start, end
        return start, end

    def _opened(self, at: int) -> int:
        """The first place from which all that there is could become a hit, or a longer one."""
        if self._open >= at:
            return self._open
        self._open = len(self._text)
        for number, expression in enumerate(self._compiled, 1):
            self._open = min(self._open, self._opened_for(expression, number, at))
        return self._open

    def _opened_for(self, expression: Any, number: int, place: int) -> int:
        """The same for one expression, slice by slice: only a place that fits to the end of its slice, or has a hit
        there, can fit to the end of all."""
        size = self._open
        while place < size:
            ahead, end = place + SLICE, min(place + SLICE + BEHIND, len(self._text))
            search = partial(expression.search, self._text, place, end, timeout=SECONDS, concurrent=True, partial=True)
            begun = self._timed(search, number)
            last = end == len(self._text)
            if begun is None or (begun.start() >= ahead and not last):
                place = size if last else ahead
                continue
            place = begun.start()
            if (begun.partial and last) or self._longer(expression, number, place):
                return min(size, place)
            place += 1
        return size

    def _longer(self, expression: Any, number: int, start: int) -> bool:
        """Whether a hit that is there could still become a longer one."""
        probe = partial(expression.fullmatch, self._text, start, timeout=SECONDS, concurrent=True, partial=True)
        return self._timed(probe, number) is not None

    def _timed(self, search: Callable[[], Any], number: int) -> Any:
        """What a search found. Raises LimitReached; what this thread did counts, and not how busy the machine is."""
        try:
            if time.thread_time() - self._began < MAX_SECONDS:
                return search()
        except TimeoutError:
            pass
        raise LimitReached(
            f"Expression {number} takes too long on this text.",
            limit=f"{SECONDS:g} s for one search",
            next_step="Write it in a simpler way, without repeats within repeats.",
        )
