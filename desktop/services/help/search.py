"""Finding in the pages of help while a person types: whole words in all their forms, of the last one its beginning.

What no page says is sought by a word that means the same, and then as a word that was mistyped.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from desktop.domain.help.pages import HelpHit, HelpResult, Spans
from desktop.services.help.near import near_words
from desktop.services.help.pages import ReadSection
from desktop.services.help.stems import WORD, stem
from desktop.services.help.synonyms import EMPTY, SAME

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
_ASKED = 12.0
"""For a section whose title this is, or that says of itself that it is found by just these words."""
_SAME, _NEAR = 0.8, 0.6
"""How much a word counts that means the same, and one that is spelt nearly so."""

Term = Mapping[str, float]
"""What one word of a query may be in a text, by stem, with how much that counts."""


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

    def at(self, wanted: Iterable[str]) -> list[int]:
        """The numbers of the words that are wanted."""
        return sorted(number for one in wanted for number in self.where.get(one, ()))

    def spans(self, wanted: Iterable[str]) -> Spans:
        """Where they stand."""
        return tuple(self.places[number] for number in self.at(wanted))

    def has_run(self, terms: Sequence[Term]) -> bool:
        """Whether all terms stand side by side in their order."""
        last = len(self.stems) - len(terms)
        return any(
            at <= last and all(self.stems[at + by] in term for by, term in enumerate(terms)) for at in self.at(terms[0])
        )


class _SearchedSection:
    """A section as it is searched."""

    __slots__ = ("also", "asked", "body", "section", "title", "weights")

    def __init__(self, read: ReadSection) -> None:
        self.section, self.also = read.section, read.also
        self.title, self.body = _TextWords(read.section.title), _TextWords(read.plain)
        self.asked = [frozenset(_telling(words)) for words in (read.section.title, *read.also.split(","))]
        self.weights = {one: _TEXT + _AGAIN * min(len(at), 6) for one, at in self.body.where.items()}
        of_title = _TITLE / (1 + len(self.title.stems) / 8)
        self._add(self.title.where, of_title)
        self._add({one for words in self.asked[1:] for one in words}, _ALSO)
        if read.section.number:
            self._add(set(_TextWords(read.section.page_title).stems), _PAGE)

    def _add(self, stems: Iterable[str], weight: float) -> None:
        for one in stems:
            self.weights[one] = self.weights.get(one, 0.0) + weight


class HelpIndex:
    """Made once of all sections, in a thread; ``find`` then takes a millisecond."""

    def __init__(self, sections: Iterable[ReadSection]) -> None:
        self._entries = [_SearchedSection(one) for one in sections]
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, entry in enumerate(self._entries):
            for one, weight in entry.weights.items():
                self._postings.setdefault(one, []).append((number, weight))
        for one, found in self._postings.items():
            rare = 0.5 + math.log(1 + len(self._entries) / len(found)) / 4
            self._postings[one] = [(number, weight * rare) for number, weight in found]
        self._stem_of = self._vocabulary()
        self._words = sorted(self._stem_of)

    def _vocabulary(self) -> dict[str, str]:
        """The stem of each word that is somewhere."""
        words: dict[str, str] = {}
        for entry in self._entries:
            text = f"{entry.section.title} {entry.section.page_title} {entry.also} {entry.body.text}"
            for word in WORD.findall(text):
                words[word.casefold()] = stem(word)
        return words

    def find(self, query: str) -> HelpResult:
        """The sections that have all the words; where none has, those that have the most of them."""
        typed = query[:MAX_QUERY]
        terms = self._terms(typed)
        scores = self._scores(terms)
        if not scores:
            return HelpResult(query)
        self._add_phrases(scores, terms, frozenset(_telling(typed)))
        best = [self._entries[number] for number in sorted(scores, key=lambda number: (-scores[number], number))]
        hits = tuple(_hit(entry, terms) for entry in best[:MOST])
        return HelpResult(query, hits, len({entry.section.page for entry in best}))

    def _scores(self, terms: Sequence[Term]) -> dict[int, float]:
        """How well each section fits that has the most of the terms."""
        counts: dict[int, int] = {}
        scores: dict[int, float] = {}
        for term in terms:
            best: dict[int, float] = {}
            for one, factor in term.items():
                for number, weight in self._postings.get(one, ()):
                    best[number] = max(best.get(number, 0.0), weight * factor)
            for number, worth in best.items():
                counts[number] = counts.get(number, 0) + 1
                scores[number] = scores.get(number, 0.0) + worth
        most = max(counts.values(), default=0)
        if most * 2 < len(terms):
            return {}
        return {number: score for number, score in scores.items() if counts[number] == most}

    def _add_phrases(self, scores: dict[int, float], terms: Sequence[Term], asked: frozenset[str]) -> None:
        """More for words that stand together as they were typed, and for a section that answers just this."""
        for number in scores:
            entry = self._entries[number]
            if len(terms) > 1:
                scores[number] += _PHRASE * entry.title.has_run(terms) + _PHRASE / 2 * entry.body.has_run(terms)
            if asked in entry.asked:
                scores[number] += _ASKED
            if not entry.section.number:
                scores[number] += 0.5  # the beginning of a page says what it is about

    # -- what was typed -----------------------------------------------------------------------------------------------

    def _terms(self, typed: str) -> list[Term]:
        words = WORD.findall(typed)[:MAX_TERMS]
        telling = [word for word in words if word.casefold() not in EMPTY] or words
        unfinished = bool(telling) and telling[-1] == words[-1] and typed.endswith(telling[-1])
        last = len(telling) - 1
        return [self._term(word.casefold(), unfinished and at == last) for at, word in enumerate(telling)]

    def _term(self, word: str, unfinished: bool) -> Term:
        """The word, what begins so, what means the same; where none of it is anywhere, what is spelt nearly so."""
        found = dict.fromkeys(SAME.get(stem(word), ()), _SAME)
        if unfinished:
            found.update(dict.fromkeys(self._beginning(word), 1.0))
        found[stem(word)] = 1.0
        if not any(one in self._postings for one in found):
            near = near_words(word, self._words, unfinished=unfinished)
            found.update((self._stem_of[one], _NEAR) for one in near)
        return found

    def _beginning(self, start: str) -> set[str]:
        """The stems of all words that begin so."""
        found, at = set(), bisect_left(self._words, start)
        while at < len(self._words) and self._words[at].startswith(start):
            found.add(self._stem_of[self._words[at]])
            at += 1
        return found


def _telling(text: str) -> list[str]:
    """The stems of the words that say something; of all where none does."""
    words = WORD.findall(text)[:MAX_TERMS]
    return [stem(word) for word in words if word.casefold() not in EMPTY] or [stem(word) for word in words]


def _hit(entry: _SearchedSection, terms: Sequence[Term]) -> HelpHit:
    wanted = {one for term in terms for one in term}
    in_title = entry.title.spans(wanted)
    if all(not entry.title.where.keys().isdisjoint(term) for term in terms):
        return HelpHit(entry.section, in_title)
    snippet, marks = _snippet(entry.body, terms, wanted)
    return HelpHit(entry.section, in_title, snippet, marks)


def _snippet(body: _TextWords, terms: Sequence[Term], wanted: Iterable[str]) -> tuple[str, Spans]:
    """The words around the place that has the most of what was sought."""
    hits = body.at(wanted)
    if not hits:
        return "", ()

    def worth(at: int) -> int:
        near = set(body.stems[at : at + 8])
        return sum(not near.isdisjoint(term) for term in terms)

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
