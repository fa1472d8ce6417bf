"""Regular expressions that a person writes: checked where they are written, and bounded in time where they are used.

An expression can take for ever on a text (``(a|aa)+$``), and Python's own engine neither stops nor lets anybody else
work meanwhile. So texts are searched by ``regex``, which gives up after a time, in a thread.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from desktop.domain.errors import LimitReached

ENGINE = "regex"
"""Imported with the first expression; that takes 25 ms."""
MAX_LENGTH = 500
"""Characters of one expression."""
MAX_REPEATS = 10_000
"""What all counts of an expression may multiply to: its program grows with them."""
SECONDS = 0.25
"""For one search."""
MOST_SECONDS = 2.0
"""Of work, for one look at a text: many searches that are fast, one by one."""

_COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")


def fault_of(text: str) -> str:
    """Why this cannot be used as an expression, for a person, or ""."""
    if len(text) > MAX_LENGTH:
        return f"it has more than {MAX_LENGTH} characters"
    counts, repeats = [number for pair in _COUNT.findall(text) for number in pair if number], 1
    for count in counts:
        repeats *= max(1, int(count[:9]))
    if repeats > MAX_REPEATS:
        return f"its counts multiply to more than {MAX_REPEATS:,}"
    try:
        found = re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return "it fits the empty text, and so every text" if found.search("") else ""


class Expressions:
    """Several at once, upper and lower case alike. Made and asked in threads. Raises ValueError for a faulty one."""

    def __init__(self, texts: Sequence[str]) -> None:
        engine: Any = importlib.import_module(ENGINE)
        self._compiled = []
        for text in texts:
            fault = fault_of(text)
            if fault:
                raise ValueError(f"{text!r} is no regular expression: {fault}.")
            try:
                self._compiled.append(engine.compile(text, engine.IGNORECASE))
            except engine.error as error:
                raise ValueError(f"{text!r} is no regular expression: {error}.") from error

    def first(self, text: str, at: int, *, whole: bool) -> tuple[int, int, int] | None:
        """Number (from 1), start and end of the first hit from ``at`` on. Not ``whole``: more text may come; where that
        could make a hit, or a longer one, of what stands at the end, the end is -1.

        Raises LimitReached when an expression takes too long.
        """
        began = time.thread_time()
        opened = len(text) if whole else self._opened(text, at, began)
        found: tuple[int, int, int] | None = None
        for number, expression in enumerate(self._compiled, 1):
            hit = _timed(partial(expression.search, text, at, timeout=SECONDS, concurrent=True), number, began)
            if hit is not None and hit.start() < opened and (found is None or hit.start() < found[1]):
                found = (number, hit.start(), hit.end())
        return found or (None if opened == len(text) else (0, opened, -1))

    def _opened(self, text: str, at: int, began: float) -> int:
        """The first place from which all that there is could become a hit, or a longer one."""
        opened = len(text)
        for number, expression in enumerate(self._compiled, 1):
            probe = partial(expression.fullmatch, text, timeout=SECONDS, concurrent=True, partial=True)
            for start in range(at, opened):
                if _timed(partial(probe, pos=start), number, began) is not None:
                    opened = start
                    break
        return opened


def _timed(search: Callable[[], Any], number: int, began: float) -> Any:
    """What a search found. Raises LimitReached; what this thread did counts, and not how busy the machine is."""
    try:
        if time.thread_time() - began < MOST_SECONDS:
            return search()
    except TimeoutError:
        pass
    raise LimitReached(
        f"Expression {number} takes too long on this text.", limit=f"{SECONDS:g} s for one search",
        next_step="Write it in a simpler way, without repeats within repeats.",
    )  # fmt: skip
