"""Words in a text: where they stand, and which passage says what a sentence that cites it says."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from desktop.domain.loading.lazy_pattern import lazy_pattern

MAX_CLAIM, MAX_FOUND = 600, 2_000
"""Characters of a sentence that are compared, and places of a word that are told."""
ENOUGH = 0.34
"""What part of a sentence's words, by their weight, a passage has to say to be the one that is meant."""
LONGEST = 700
"""Characters of a passage."""
_WORD = lazy_pattern(r"\w+")
_ENDS = lazy_pattern(r"(?<=[.!?…。！？])[”\"')\]]*\s+|\n\s*\n")
_QUOTED = lazy_pattern(r"[“\"„«]([^“”\"„«»]{8,400})[”\"“»]")
_BLANKS = lazy_pattern(r"\s+")


def occurrences(text: str, words: str) -> list[tuple[int, int]]:
    """Where a text has these words, whatever blanks and line breaks stand between them. Case does not count."""
    wanted = _BLANKS.sub(" ", words).strip()
    if not wanted:
        return []
    pattern = r"\s+".join(re.escape(word) for word in wanted.split(" "))
    found: list[tuple[int, int]] = []
    for match in re.finditer(pattern, text, re.IGNORECASE):
        found.append(match.span())
        if len(found) >= MAX_FOUND:
            break
    return found


def passage(text: str, claim: str) -> tuple[int, int] | None:
    """The stretch of a text that says what ``claim`` says: what it quotes, or the sentence that shares most of its
    words, with the next or the one before where that says more of it. None: no stretch is near enough."""
    claim = claim[-MAX_CLAIM:]
    for quoted in _QUOTED.finditer(claim):
        if found := occurrences(text, quoted[1]):
            return found[0]
    wanted = _words(claim)
    if len(wanted) < 2:
        return None
    sentences = list(_sentences(text))
    said = [_words(text[start:end]) for start, end in sentences]
    often = Counter(word for words in said for word in words)
    weight = {word: _weight(word) / math.sqrt(1 + often[word]) for word in wanted}
    whole = sum(weight.values())

    def share(words: set[str]) -> float:
        return sum(weight[word] for word in wanted & words) / whole

    best = max(range(len(said)), key=lambda at: share(said[at]) - len(said[at]) / 2_000, default=-1)
    if best < 0:
        return None
    first = last = best
    for at in (best + 1, best - 1):
        if 0 <= at < len(said) and share(said[best] | said[at]) > share(said[best]) + 0.15:
            first, last = min(first, at), max(last, at)
            break
    together = set().union(*said[first : last + 1])
    if share(together) < ENOUGH or len(wanted & together) < 2:
        return None
    start, end = sentences[first][0], sentences[last][1]
    return (start, end) if end - start <= LONGEST else (sentences[best][0], min(sentences[best][1], start + LONGEST))


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence that a stretch of a text stands in, without the stretch: before it, else behind it."""
    first = max((gap.end() for gap in _ENDS.finditer(text, max(0, start - MAX_CLAIM), start)), default=0)
    before = text[max(first, start - MAX_CLAIM) : start].strip()
    behind = text[end : end + MAX_CLAIM]
    gap = _ENDS.search(behind)
    return f"{before} {behind[: gap.start()] if gap is not None else behind}".strip()


def _words(text: str) -> set[str]:
    return {word for word in map(str.casefold, _WORD.findall(text)) if len(word) > 2 or word.isdigit()}


def _weight(word: str) -> float:
    return 2.0 if any(letter.isdigit() for letter in word) else 1.0 if len(word) > 3 else 0.4


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for gap in _ENDS.finditer(text):
        if text[at : gap.start()].strip():
            yield at, gap.start()
        at = gap.end()
    if text[at:].strip():
        yield at, len(text.rstrip())
