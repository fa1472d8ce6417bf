"""Finding in the pages of help while a person types: whole words in all their forms, of the last one its beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from desktop.domain.help.pages import HelpHit, HelpResult, Spans
from desktop.services.help.pages import ReadSection
from desktop.services.help.stems import WORD, stem

MAX_QUERY = 200
"""Characters of a query that are looked at."""
MAX_TERMS = 12
MOST = 20
"""Most hits of a query."""
BEFORE, LONGEST = 30, 76
"""Characters of a snippet before what matched, and of all of it."""
_TITLE, _ALSO, _PAGE, _TEXT, _AGAIN = 8.0, 5.0, 3.0, 1.0, 0.25
_PHRASE = 6.0
"""For words that stand side by side as they were typed; in the text half of it."""
_EMPTY = frozenset(
    "a an and are as at be by can do does for from how i if in is it me my of on or that the there this to was what "
    "when where which who why will with you your".split()
)
"""Words that say little; looked for only where nothing else was typed."""


class _TextWords:
    """The words of a text: their stems, and where they stand."""

    __slots__ = ("places", "stems", "text", "where")

    def __init__(self, text: str) -> None:
        self.text = text
        found = list(WORD.finditer(text))
        self.stems = [stem(word[0]) for word in found]
        self.places = [(word.start(), word.end() - word.start()) for word in found]
        self.where: dict[str, list[int]] = {}
        for number, one in enumerate(self.stems):
            self.where.setdefault(one, []).append(number)

    def at(self, wanted: frozenset[str]) -> list[int]:
        """The numbers of the words that are wanted."""
        return sorted(number for one in wanted for number in self.where.get(one, ()))

    def spans(self, wanted: frozenset[str]) -> Spans:
        """Where they stand."""
        return tuple(self.places[number] for number in self.at(wanted))

    def has_run(self, terms: Sequence[frozenset[str]]) -> bool:
        """Whether all terms stand side by side in their order."""
        last = len(self.stems) - len(terms)
        return any(
            at <= last and all(self.stems[at + by] in term for by, term in enumerate(terms)) for at in self.at(terms[0])
        )


class _SearchedSection:
    """A section as it is searched."""

    __slots__ = ("all", "also", "body", "page", "section", "title")

    def __init__(self, read: ReadSection) -> None:
        self.section = read.section
        self.title, self.body = _TextWords(read.section.title), _TextWords(read.plain)
        self.page, self.also = (
            frozenset(_TextWords(read.section.page_title).stems),
            frozenset(_TextWords(read.also).stems),
        )
        self.all = frozenset((*self.body.where, *self.title.stems, *self.page, *self.also))

    def score(self, term: frozenset[str]) -> float:
        """How well one term fits; 0: not at all."""
        found = 0.0
        if not term.isdisjoint(self.title.stems):
            found += _TITLE / (1 + len(self.title.stems) / 8)
        if not term.isdisjoint(self.also):
            found += _ALSO
        if not term.isdisjoint(self.page):
            found += _PAGE
        times = sum(len(self.body.where.get(one, ())) for one in term)
        return found + (_TEXT + _AGAIN * min(times, 6) if times else 0.0)


class HelpIndex:
    """Made once of all sections, in a thread; ``find`` then takes a millisecond."""

    def __init__(self, sections: Iterable[ReadSection]) -> None:
        self._entries = [_SearchedSection(one) for one in sections]
        words: dict[str, str] = {}
        for entry in self._entries:
            text = f"{entry.section.title} {entry.section.page_title} {entry.body.text}"
            for word in WORD.findall(text):
                words[word.casefold()] = stem(word)
        for one in {word for entry in self._entries for word in entry.also}:
            words.setdefault(one, one)
        self._words = sorted(words)
        self._stem_of = words

    def find(self, query: str) -> HelpResult:
        """The sections that have all the words; where none has, those that have the most of them."""
        terms = self._terms(query)
        found = self._matching(terms)
        if not found:
            return HelpResult(query)
        several = len(terms) > 1
        scored = [(self._score(entry, terms, several), number) for number, entry in enumerate(found)]
        scored.sort(key=lambda one: (-one[0], one[1]))
        best = [found[number] for _, number in scored]
        hits = tuple(_hit(entry, terms) for entry in best[:MOST])
        return HelpResult(query, hits, len({entry.section.page for entry in best}))

    def _matching(self, terms: Sequence[frozenset[str]]) -> list[_SearchedSection]:
        counted = [(sum(not term.isdisjoint(entry.all) for term in terms), entry) for entry in self._entries]
        most = max((count for count, _ in counted), default=0)
        enough = most == len(terms) or most * 2 > len(terms)
        return [entry for count, entry in counted if count == most] if most and enough else []

    def _score(self, entry: _SearchedSection, terms: Sequence[frozenset[str]], several: bool) -> float:
        found = sum(entry.score(term) for term in terms)
        if several and entry.title.has_run(terms):
            found += _PHRASE
        if several and entry.body.has_run(terms):
            found += _PHRASE / 2
        return found if entry.section.number else found + 0.5  # the beginning of a page says what it is about

    def _terms(self, query: str) -> list[frozenset[str]]:
        typed = WORD.findall(query[:MAX_QUERY])[:MAX_TERMS]
        telling = [word for word in typed if word.casefold() not in _EMPTY] or typed
        unfinished = bool(telling) and telling[-1] == typed[-1] and query[:MAX_QUERY].endswith(telling[-1])
        terms = [frozenset({stem(word)}) for word in telling]
        if unfinished:
            terms[-1] |= self._beginning(telling[-1].casefold())
        return terms

    def _beginning(self, start: str) -> frozenset[str]:
        """The stems of all words that begin so."""
        found, at = set(), bisect_left(self._words, start)
        while at < len(self._words) and self._words[at].startswith(start):
            found.add(self._stem_of[self._words[at]])
            at += 1
        return frozenset(found)


def _hit(entry: _SearchedSection, terms: Sequence[frozenset[str]]) -> HelpHit:
    wanted = frozenset[str]().union(*terms)
    in_title = entry.title.spans(wanted)
    if all(not term.isdisjoint(entry.title.stems) for term in terms):
        return HelpHit(entry.section, in_title)
    snippet, marks = _snippet(entry.body, terms, wanted)
    return HelpHit(entry.section, in_title, snippet, marks)


def _snippet(body: _TextWords, terms: Sequence[frozenset[str]], wanted: frozenset[str]) -> tuple[str, Spans]:
    """The words around the place that has the most of what was sought."""
    hits = body.at(wanted)
    if not hits:
        return "", ()

    def worth(at: int) -> int:
        near = frozenset(body.stems[at : at + 8])
        return sum(not term.isdisjoint(near) for term in terms)

    first = max(hits, key=worth)
    at = body.places[first][0]
    start = 0 if at <= BEFORE else body.text.rfind(" ", 0, at - BEFORE + 12) + 1
    start = min(start, at)
    end = min(len(body.text), start + LONGEST)
    if end < len(body.text):
        end = max(body.text.rfind(" ", at, end), at + body.places[first][1])
    before, behind = "…" if start else "", "…" if end < len(body.text) else ""
    marks = tuple(
        (place - start + len(before), length)
        for place, length in (body.places[number] for number in hits)
        if start <= place and place + length <= end
    )
    return f"{before}{body.text[start:end]}{behind}", marks
