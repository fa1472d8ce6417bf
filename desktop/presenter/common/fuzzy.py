"""Finding a line by a few of its letters: for the command palette and the composer's offers."""

from __future__ import annotations

Ranges = tuple[tuple[int, int], ...]
"""(start, length) of what matched, for underlining."""


class Match:
    """How well a text fits a query; higher is better."""

    __slots__ = ("ranges", "score")

    def __init__(self, score: int, ranges: Ranges) -> None:
        self.score, self.ranges = score, ranges


def match(query: str, text: str) -> Match | None:
    """Every letter of the query in order, words' beginnings and whole runs first; None when it does not fit.

    An empty query fits everything. Case is ignored. Linear in the text's length for each letter of the query.
    """
    wanted = "".join(query.casefold().split())
    if not wanted:
        return Match(0, ())
    plain = text.casefold()
    if len(plain) != len(text):
        plain = text.lower() if len(text.lower()) == len(text) else text
    whole = plain.find(query.casefold().strip())
    if whole >= 0:
        start_bonus = 40 if whole == 0 else 25 if not plain[whole - 1].isalnum() else 0
        return Match(100 + start_bonus - min(whole, 30), ((whole, len(query.strip())),))
    return _scattered(wanted, plain)


def _scattered(wanted: str, plain: str) -> Match | None:
    spots: list[int] = []
    at = 0
    score = 0
    for letter in wanted:
        found = _next_spot(letter, plain, at, bool(spots) and spots[-1] == at - 1)
        if found < 0:
            return None
        if found == 0 or not plain[found - 1].isalnum():
            score += 8
        elif spots and found == spots[-1] + 1:
            score += 5
        spots.append(found)
        at = found + 1
    score -= min(spots[-1] - spots[0], 40)
    return Match(score, _runs(spots))


def _next_spot(letter: str, plain: str, start: int, running: bool) -> int:
    """The next place of a letter: right here when a run goes on, else preferably where a word begins."""
    first = plain.find(letter, start)
    if first < 0 or (running and first == start):
        return first
    at = first
    while at >= 0:
        if at == 0 or not plain[at - 1].isalnum():
            return at
        at = plain.find(letter, at + 1)
    return first


def _runs(spots: list[int]) -> Ranges:
    runs: list[tuple[int, int]] = []
    for spot in spots:
        if runs and runs[-1][0] + runs[-1][1] == spot:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((spot, 1))
    return tuple(runs)
