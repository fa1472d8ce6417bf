"""Licence expressions of SPDX: read, and the licences chosen among those that a person allowed."""

from __future__ import annotations

import re
from collections.abc import Sequence

TOKEN = re.compile(r"\s*(\(|\)|[A-Za-z0-9.+:-]+)")
MAX_EXPRESSION = 500


class NotReadable(ValueError):
    """It is no expression of SPDX."""


class NotAllowed(ValueError):
    """No way through the expression has only licences that are allowed; ``names`` are those that stand in the way."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


Choice = tuple[str, ...]


def chosen(expression: str, allowed: Sequence[str]) -> Choice:
    """The licences that are taken up: all that are joined by AND, and of those joined by OR the best, which is the one
    whose worst licence stands nearest to the beginning of ``allowed``."""
    rank = {name: place for place, name in enumerate(allowed)}
    ways = _Reader(expression).ways()
    good = [way for way in ways if all(name in rank for name in way)]
    if not good:
        raise NotAllowed(sorted({name for way in ways for name in way if name not in rank}))
    best = min(good, key=lambda way: (max(rank[name] for name in way), len(way)))
    return tuple(sorted(best, key=lambda name: rank[name]))


def names_in(expression: str) -> set[str]:
    """Every licence that is named."""
    return {name for way in _Reader(expression).ways() for name in way}


class _Reader:
    """Turns an expression into its ways: each is one set of licences that satisfies it."""

    def __init__(self, expression: str) -> None:
        if len(expression) > MAX_EXPRESSION:
            raise NotReadable("it is too long")
        self._tokens: list[str] = []
        at = 0
        text = expression.strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise NotReadable(f"“{text[at : at + 20]}” is not understood")
            self._tokens.append(found[1])
            at = found.end()
        self._at = 0

    def ways(self) -> list[frozenset[str]]:
        ways = self._or()
        if self._at != len(self._tokens):
            raise NotReadable(f"“{self._tokens[self._at]}” was not expected")
        return ways

    def _next(self) -> str:
        if self._at == len(self._tokens):
            raise NotReadable("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].upper() == word:
            self._at += 1
            return True
        return False

    def _or(self) -> list[frozenset[str]]:
        ways = self._and()
        while self._take("OR"):
            ways = ways + self._and()
        return ways

    def _and(self) -> list[frozenset[str]]:
        ways = self._one()
        while self._take("AND"):
            more = self._one()
            ways = list(dict.fromkeys(left | right for left in ways for right in more))
        return ways

    def _one(self) -> list[frozenset[str]]:
        token = self._next()
        if token == "(":
            ways = self._or()
            if not self._take(")"):
                raise NotReadable("a bracket is not closed")
            return ways
        if token == ")" or token.upper() in ("AND", "OR", "WITH"):
            raise NotReadable(f"“{token}” was not expected")
        name = token
        if self._take("WITH"):
            name = f"{token} WITH {self._next()}"
        return [frozenset((name,))]
