"""Long runs of nothing in a machine's text, folded to a line that says so (R-PRM-2).

Twenty blank lines push what follows them out of sight, and so do two hundred blanks. What is folded away holds nothing
to read; a fold is a row of its own with a look of its own, so that no text can pretend to be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from desktop.domain.text.words import count_words

FEWEST_LINES = 3
"""Blank lines from which on they are folded."""
_GAP = re.compile("[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]{32,}")
_NOTHING = re.compile("[\\s\u2800]*")
_IDLE = re.compile("[\\s\u2800\\\\#;:]*")


class FoldedLine(NamedTuple):
    """A line or a piece of one; ``number`` from 1, 0 for what goes on. ``fold``: ``text`` says what is folded away."""

    number: int
    text: str
    fold: bool = False


def lines_of(text: str) -> list[str]:
    """Lines without their breaks; a last empty line does not count."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def folded(lines: list[str]) -> Iterator[FoldedLine]:
    """The lines, with runs of blank ones and long gaps inside one folded."""
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and _IDLE.fullmatch(lines[end]):
            end += 1
        if end - at >= FEWEST_LINES:
            yield FoldedLine(0, _words(lines[at:end]), True)
            at = end
            continue
        for line in lines[at : max(end, at + 1)]:
            at += 1
            yield from _with_gaps(at, line)


def _words(lines: list[str]) -> str:
    if all(_NOTHING.fullmatch(line) for line in lines):
        return count_words(len(lines), "blank line")
    return f"{count_words(len(lines), 'line')} of nothing but blanks and \\ # ; :"


def _with_gaps(number: int, line: str) -> Iterator[FoldedLine]:
    if len(line) < 32 or _GAP.search(line) is None:
        yield FoldedLine(number, line)
        return
    start = 0
    for gap in _GAP.finditer(line):
        if gap.start() > start:
            yield FoldedLine(number, line[start : gap.start()])
            number = 0
        yield FoldedLine(0, f"{count_words(len(gap.group()), 'blank')} in this line", True)
        start = gap.end()
    if start < len(line):
        yield FoldedLine(number, line[start:])
