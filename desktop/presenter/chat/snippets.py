"""What a search found, as a line to read: without the marks of Markdown, and beginning where the match is near."""

from __future__ import annotations

import re
from dataclasses import replace

from desktop.domain.threads import SearchHit

AHEAD = 18
"""Characters before the first match that are shown; more do not fit before it in the list."""

_MARKS = re.compile(
    r"\*\*|~~|`+"  # strong, struck, code
    r"|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])"  # emphasis around words
    r"|(?:(?<=\s)|^)(?:#{1,6}|>)\s+|^[-+*]\s+"  # headings, quotes, an item
    r"|!?\[(?=[^\]]*\]\()|\]\([^)]*\)?"  # links and images: their words stay
    r"|\s*\|(?:[\s:|-]*\|)*\s*"  # cells and the line under a table's head
)


def readable(hit: SearchHit) -> SearchHit:
    """The hit with its snippet cleaned and cut; its ranges still mark the matches. What matched is never taken out."""
    text, ranges = _without_marks(hit.snippet, hit.ranges)
    text, ranges = _from_match(text, ranges)
    return replace(hit, snippet=text, ranges=ranges)


_Ranges = tuple[tuple[int, int], ...]


def _without_marks(text: str, ranges: _Ranges) -> tuple[str, _Ranges]:
    kept: list[str] = []
    starts = {start: index for index, (start, _) in enumerate(ranges)}
    moved = list(ranges)
    at = length = 0

    def take(until: int) -> None:
        nonlocal at, length
        for start, index in starts.items():
            if at <= start < until or (start == until == len(text)):
                moved[index] = (length + start - at, ranges[index][1])
        kept.append(text[at:until])
        length += until - at
        at = until

    for mark in _MARKS.finditer(text):
        if any(start < mark.end() and mark.start() < start + size for start, size in ranges):
            continue
        take(mark.start())
        at = mark.end()
        if "|" in mark.group():
            kept.append(" ")
            length += 1
    take(len(text))
    return "".join(kept), tuple(moved)


def _from_match(text: str, ranges: _Ranges) -> tuple[str, _Ranges]:
    if not ranges or ranges[0][0] <= AHEAD:
        return text, ranges
    first = ranges[0][0]
    space = text.find(" ", first - AHEAD, first)
    cut = space + 1 if space >= 0 else first - AHEAD
    return "…" + text[cut:], tuple((start - cut + 1, size) for start, size in ranges)
