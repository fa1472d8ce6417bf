"""Words that are spelt nearly as one that was mistyped: a letter too many, too few, another, or two the wrong way."""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST = 4
"""Letters of a word below which a mistake in it would make it any word."""
LONG = 8
"""Letters from which on there may be two mistakes."""
MOST = 6


def near_words(word: str, words: Sequence[str], *, unfinished: bool = False) -> tuple[str, ...]:
    """Those of ``words`` with the fewest mistakes to this one, or whose beginning it is where it is unfinished; the
    first letter is taken to be right, or to have changed places with the second."""
    if len(word) < SHORTEST:
        return ()
    allowed = 2 if len(word) >= LONG else 1
    best: list[str] = []
    for other in words:
        if len(other) < SHORTEST or other[0] not in word[:2] or not other.isalpha():
            continue
        least = mistakes(word, other, allowed, unfinished=unfinished)
        if least < allowed:
            best, allowed = [other], least
        elif least == allowed:
            best.append(other)
    return tuple(best[:MOST])


def mistakes(one: str, other: str, most: int, *, unfinished: bool = False) -> int:
    """How many letters differ, two that changed places counted once; more than ``most`` is not counted on. Of one that
    is unfinished: from that beginning of the other which is nearest to it."""
    other = other[: len(one) + most] if unfinished else other
    if abs(len(one) - len(other)) > most:
        return most + 1
    above: list[int] = []
    before = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        row = [at]
        for to, its in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != its))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == its:
                cost = min(cost, above[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        above, before = before, row
    return min(before) if unfinished else before[-1]
