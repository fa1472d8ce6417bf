"""Patterns, commands and reasons of rules as they may be shown: plain, visible, short.

None of it is trusted: a command comes from a model, a pattern perhaps from a project's file (R-PRM-15).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Piece
from desktop.ui.widgets.tips import as_markup

PATTERN_SHOWN = 400
"""Characters of a pattern in a row."""
CALL_SHOWN = 100
"""Characters of a call's text in a row; its marked part is always among them."""
TIP_SHOWN = 2_000
_BEFORE = 30
_MONO = re.compile(r"`([^`]{1,80})`")
Ranges = tuple[tuple[int, int], ...]


def pattern_line(text: str) -> str:
    """A pattern in one line."""
    return shown_line(text[:PATTERN_SHOWN]) + ("…" if len(text) > PATTERN_SHOWN else "")


def tip(*lines: str) -> str:
    """For a tooltip, which would otherwise guess whether its text is markup."""
    text = "\n".join(shown(line[:TIP_SHOWN]) for line in lines if line)
    return as_markup(text) if text else ""


def marked_line(text: str, marked: Sequence[tuple[int, int]]) -> tuple[str, Ranges]:
    """One line with at most about ``CALL_SHOWN`` characters of the text, and where its marked parts are in it."""
    start = 0
    first = min((at for at, length in marked if length > 0), default=0)
    if len(text) > CALL_SHOWN and first > CALL_SHOWN // 2:
        start = first - _BEFORE
    end = min(len(text), start + CALL_SHOWN)
    line = "…" if start else ""
    ranges: list[tuple[int, int]] = []
    at = start
    for begin, length in sorted(marked):
        begin, stop = max(begin, at), min(begin + length, end)
        if stop <= begin:
            continue
        line += shown_line(text[at:begin])
        part = shown_line(text[begin:stop])
        ranges.append((len(line), len(part)))
        line += part
        at = stop
    line += shown_line(text[at:end])
    return line + ("…" if end < len(text) else ""), tuple(ranges)


def reason_pieces(why: str) -> list[Piece]:
    """Half a sentence; what stands between backticks is a name that a machine uses."""
    pieces: list[Piece] = []
    at = 0
    text = shown_line(why[:300])
    for found in _MONO.finditer(text):
        pieces += [(text[at : found.start()], ""), (found[1], "mono")]
        at = found.end()
    pieces.append((text[at:], ""))
    return [piece for piece in pieces if piece[0]]


def times_words(times: int) -> str:
    """How often a call was recorded, where that is more than once."""
    return f"{times:,} times" if times > 1 else ""
