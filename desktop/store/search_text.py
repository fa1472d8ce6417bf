"""What the full-text index is fed with, and how a person's words become its query.

SQLite's tokenizer takes a run of Han, Kana, Hangul or Thai for one word, so such characters are parted with an
invisible space here, in texts and in queries alike: any run of them is then found as a phrase, one character or more.
"""

from __future__ import annotations

import re

from desktop.domain.loading.lazy_pattern import lazy_pattern

PART = "\u200b"
START, END = "\ufdd0", "\ufdd1"
"""Marks around a match: code points that no text may use, so taking them out of texts loses nothing."""

MAX_QUERY = 400  # characters
MAX_TERMS = 16
_SLICE = 65_536  # characters handled at once, so that a long text never holds the interpreter for long
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = lazy_pattern(f"[{_UNSPACED}]+")
_OWN = lazy_pattern(f"[{PART}{START}{END}]")
_TERM = lazy_pattern(r'"([^"]*)"|([^\s"]+)')
_WORD = lazy_pattern(r"[^\W_]+")


def searchable(text: str) -> str:
    """``text`` as it goes into the index; without the parts it reads as the original."""
    if text.isascii():
        return text
    return "".join(_parted(text[at : at + _SLICE]) for at in range(0, len(text), _SLICE))


def _parted(text: str) -> str:
    return _RUN.sub(lambda run: PART + PART.join(run[0]) + PART, _OWN.sub("", text))


def match_expression(text: str) -> str:
    """FTS5's form of what a person typed, or "" when there is nothing to look for.

    Words must all occur, in any order; the last letters of each may be missing; ``"quoted words"`` are one phrase.
    Every other sign is plain text: FTS5's own operators have no power here.
    """
    terms = []
    for quoted, word in _TERM.findall(text[:MAX_QUERY])[:MAX_TERMS]:
        words = _WORD.findall(searchable(quoted or word))
        if words:
            terms.append(f'"{" ".join(words)}"' + ("" if quoted else " *"))
    return " ".join(terms)


def snippet_ranges(marked: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A marked snippet as plain text on one line and the (start, length) of its matches."""
    plain: list[str] = []
    ranges: list[tuple[int, int]] = []
    length, begun = 0, -1
    for piece in re.split(f"([{START}{END}])", marked.replace(PART, "").replace("\n", " ")):
        if piece == START:
            begun = length
        elif piece == END:
            if begun >= 0 and length > begun:
                ranges.append((begun, length - begun))
            begun = -1
        else:
            plain.append(piece)
            length += len(piece)
    return "".join(plain), _joined(ranges)


def _joined(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Matches that touch are one: the parted characters of a phrase."""
    joined: list[tuple[int, int]] = []
    for start, length in ranges:
        if joined and sum(joined[-1]) >= start:
            joined[-1] = (joined[-1][0], start + length - joined[-1][0])
        else:
            joined.append((start, length))
    return tuple(joined)
