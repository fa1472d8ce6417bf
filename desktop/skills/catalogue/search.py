"""Filters, facets and counts over the catalogue; ``skill-list`` filters by the same functions (R-VIS-2 … R-VIS-7).

Each word of a query is looked for in names, descriptions and tags; ``#tag`` selects by tag and a word with ``*``,
``?``, ``[`` or ``{`` is a glob over names, as everywhere else. All words must fit.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import compress
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillKind, SkillProblem, SkillSource
from desktop.skills.catalogue.masks import flags_of, mask_of, mask_of_flags, rows_in
from desktop.skills.catalogue.pins import Pins
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.rows import READY, Rows, Shadowing, SkillRow
from desktop.skills.catalogue.snapshot import Snapshot
from desktop.skills.names import normal_tags
from desktop.skills.patterns.globs import compile_glob
from desktop.skills.patterns.syntax import PatternError

Visibility = Literal["shown", "hidden", "all"]
MAX_QUERY = 200
MAX_WORDS = 12
_MAGIC = frozenset("*?[{")
_NESTED = re.compile(r"\{[^}]*\{")
_WILD = re.compile(r"[*?]+|\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class SkillFilter:
    """What the page's facets and ``skill-list``'s arguments come down to."""

    query: str = ""
    """Words that have to be found."""
    tags: tuple[str, ...] = ()
    """Tags that must all be there."""
    visibility: Visibility = "shown"
    """Whether hidden skills are among them."""
    sources: frozenset[SkillSource] = frozenset()
    """Any of these; none given: all."""
    kinds: frozenset[SkillKind] = frozenset()
    """Any of these; none given: all."""
    problems_only: bool = False
    """Only skills with problems."""
    offered_only: bool = False
    """Only what models are offered: ready, trusted, not shadowed."""


ALL_SKILLS = SkillFilter()


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """How many rows each choice would show with all other choices as they are; ``tags`` most frequent first."""

    total: int
    tags: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    visibility: Mapping[str, int] = field(default_factory=dict)
    problems: int = 0


class SkillCatalog:
    """Everything there is at one moment. Safe on the loop: no call touches the disk, and none takes more than a few
    milliseconds with 10,000 skills."""

    def __init__(
        self,
        registered: Sequence[SkillDef] = (),
        folders: Sequence[tuple[SearchRoot, Snapshot]] = (),
        pins: Pins | None = None,
    ) -> None:
        self._rows = Rows(registered, folders, pins)
        self.count = self._rows.count
        self._all = (1 << self.count) - 1
        self._texts: list[str] | None = None
        self._all_names: str | None = None
        self._tagged: dict[str, array[int]] | None = None
        self._masks: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return self.count

    def warm(self) -> None:
        """Make what the first query needs; for a thread, before the person types."""
        self._search_texts()
        self._tag_rows()

    # -- rows ---------------------------------------------------------------------------------------------------------

    def row(self, row: int) -> SkillRow:
        """One line of the list."""
        rows = self._rows
        return SkillRow(
            rows.key(row),
            rows.names[row],
            rows.descriptions[row],
            tuple(rows.tags[row].split()),
            rows.kinds[row],
            rows.source(row),
            bool(rows.hidden[row]),
            rows.state(row),
            bool(rows.troubled[row]),
            rows.is_skill(row) and self.shadowing(row).wins not in (row, -1),
            rows.path(row),
            root.repository if (root := rows.root(row)) is not None else "",
        )

    def named(self, name: str) -> tuple[int, ...]:
        """The rows of this name; a file without a skill in it goes by its own."""
        return tuple(self._rows.named(name))

    def find(self, key: tuple[str, str]) -> int | None:
        """The row with this key, to keep a selection across catalogues."""
        return next((row for row in self._rows.named(key[1]) if self._rows.path(row) == key[0]), None)

    def definition(self, row: int) -> SkillDef | None:
        """The definition of a row as resolution gives it; None for a file without a skill in it."""
        return self._rows.definition(row)

    def problems(self, row: int) -> list[SkillProblem]:
        """Everything that is wrong with it."""
        return self._rows.problems(row)

    def root(self, row: int) -> SearchRoot | None:
        """Where it was loaded from, None for a programmatic tool."""
        return self._rows.root(row)

    def shadowing(self, row: int) -> Shadowing:
        """All entries of a row's name: the one that counts and those that it shadows."""
        return self._rows.shadowing(row)

    def folder_problems(self) -> list[SkillProblem]:
        """What is wrong with the folders themselves: unreadable, links, too deep, too many."""
        return [
            problem
            for part in self._rows.parts
            for listed in part.snapshot.listing.problems.values()
            for problem in listed
        ]

    # -- filters ------------------------------------------------------------------------------------------------------

    def filter(self, wanted: SkillFilter = ALL_SKILLS) -> list[int]:
        """The rows that fit: with a query the best names first, else in order of names."""
        mask = self._all
        for part in self._parts(wanted).values():
            mask &= part
        rows = rows_in(mask, self.count)
        words = _words(wanted.query)
        return self._ranked(rows, words) if words else rows

    def counts(self, wanted: SkillFilter = ALL_SKILLS) -> FacetCounts:
        """For each facet what its choices would show, given the other facets."""
        parts = self._parts(wanted)

        def without(name: str) -> int:
            mask = self._all
            for key, part in parts.items():
                mask &= self._all if key == name else part
            return mask

        def count(name: str, choices: Iterable[str]) -> dict[str, int]:
            rest = without(name)
            found = {choice: (rest & self._mask(name, choice)).bit_count() for choice in choices}
            return {choice: number for choice, number in found.items() if number}

        whole = without("")
        return FacetCounts(
            whole.bit_count(),
            self._tag_counts(whole),
            count("source", self._sources()),
            count("kind", sorted(set(self._rows.kinds))),
            count("visibility", ("shown", "hidden", "all")),
            (without("problems") & self._mask("problems", "")).bit_count(),
        )

    def _parts(self, wanted: SkillFilter) -> dict[str, int]:
        """Each facet's set of rows."""
        query, tags = self._query(wanted.query), self._all
        for tag in normal_tags(wanted.tags):
            tags &= self._mask("tag", tag)
        parts = {"query": query, "tags": tags, "visibility": self._mask("visibility", wanted.visibility)}
        for name, choices in (("source", wanted.sources), ("kind", wanted.kinds)):
            if choices:
                parts[name] = self._any(name, choices)
        if wanted.problems_only:
            parts["problems"] = self._mask("problems", "")
        if wanted.offered_only:
            parts["offered"] = self._mask("offered", "")
        return parts

    def _any(self, name: str, choices: Collection[str]) -> int:
        mask = 0
        for choice in choices:
            mask |= self._mask(name, choice)
        return mask

    def _mask(self, name: str, choice: str) -> int:
        found = self._masks.get((name, choice))
        if found is None:
            found = self._masks[(name, choice)] = _MASKS[name](self, choice)
        return found

    def _visibility(self, choice: str) -> int:
        hidden = mask_of_flags(self._rows.hidden)
        return {"all": self._all, "hidden": hidden, "shown": self._all & ~hidden}.get(choice, 0)

    def _offered(self, _choice: str) -> int:
        ready = mask_of_flags(bytes(state == READY for state in self._rows.states))
        return ready & mask_of_flags(self._rows.winning())

    def _sources(self) -> list[str]:
        return sorted({part.root.source for part in self._rows.parts} | {one.source for one in self._rows.registered})

    # -- words --------------------------------------------------------------------------------------------------------

    def _query(self, query: str) -> int:
        mask, plain = self._all, []
        for word in _words(query):
            if word.startswith("#"):
                mask &= self._any("tag", normal_tags([word]))
            elif _MAGIC & set(word):
                mask &= self._globbed(word)
            else:
                plain.append(word)
        return mask & self._holding(plain) if plain else mask

    def _holding(self, words: list[str]) -> int:
        """Rows with all these words: the longest first, which fits least, and none that is part of another."""
        longest, *others = sorted(words, key=len, reverse=True)
        others = [word for at, word in enumerate(others) if not any(word in other for other in (longest, *others[:at]))]
        texts = self._search_texts()
        flags = bytes([longest in text for text in texts])
        if not others:
            return mask_of_flags(flags)
        rows = list(compress(range(self.count), flags))
        for word in others:
            rows = [row for row in rows if word in texts[row]]
        return mask_of(rows, self.count)

    def _globbed(self, word: str) -> int:
        try:
            glob = compile_glob(word)
        except PatternError:
            return 0
        names, needed = self._rows.names, needed_in(word)
        rows: Iterable[int] = range(self.count)
        if needed:
            rows = [row for row, name in enumerate(names) if needed in name]
        return mask_of((row for row in rows if glob.matches(names[row])), self.count)

    def _search_texts(self) -> list[str]:
        if self._texts is None:
            rows = self._rows
            columns = zip(rows.names, rows.descriptions, rows.tags, strict=True)
            self._texts = [f"{name}\n{description}\n{tags}".casefold() for name, description, tags in columns]
        return self._texts

    def _ranked(self, rows: list[int], words: list[str]) -> list[int]:
        """The name itself first, then names that begin with the first word, names with it, and the rest."""
        names, word = self._rows.names, words[0]
        if self._all_names is None:
            self._all_names = "\n".join(names)
        inside = [row for row in rows if word in names[row]] if word in self._all_names else []
        if not inside:
            return rows
        starts = sorted((row for row in inside if names[row].startswith(word)), key=lambda row: names[row] != word)
        if len(inside) == len(rows) and not starts:
            return rows
        first, held = dict.fromkeys(starts), set(inside)
        return [*starts, *[row for row in inside if row not in first], *[row for row in rows if row not in held]]

    # -- tags ---------------------------------------------------------------------------------------------------------

    def _tag_rows(self) -> dict[str, array[int]]:
        if self._tagged is None:
            found: dict[str, array[int]] = {}
            for row, tags in enumerate(self._rows.tags):
                for tag in tags.split():
                    rows = found.get(tag)
                    if rows is None:
                        rows = found[tag] = array("i")
                    rows.append(row)
            self._tagged = found
        return self._tagged

    def _tag_counts(self, mask: int) -> dict[str, int]:
        flags = flags_of(mask, self.count)
        counted = ((tag, sum(map(flags.__getitem__, rows))) for tag, rows in self._tag_rows().items())
        return dict(sorted((item for item in counted if item[1]), key=lambda item: (-item[1], item[0])))

    # -- the two skills -----------------------------------------------------------------------------------------------

    def skill_list(
        self, tags: Iterable[str] = (), query: str = "", include_hidden: bool = False
    ) -> list[dict[str, Any]]:
        """What ``skill-list`` returns: the skills that may be called (R-VIS-4). Lack of params hides none (R-VIS-2)."""
        visibility: Visibility = "all" if include_hidden else "shown"
        found = self.filter(SkillFilter(query, tuple(tags), visibility, offered_only=True))
        rows = self._rows
        return [
            {
                "name": rows.names[row],
                "description": rows.descriptions[row],
                "tags": rows.tags[row].split(),
                "source": rows.source(row),
            }
            for row in found
        ]


_MASKS: dict[str, Callable[[SkillCatalog, str], int]] = {
    "tag": lambda catalog, tag: mask_of(catalog._tag_rows().get(tag, ()), catalog.count),
    "visibility": SkillCatalog._visibility,
    "offered": SkillCatalog._offered,
    "problems": lambda catalog, _: mask_of_flags(catalog._rows.troubled),
    "kind": lambda catalog, kind: mask_of_flags(bytes(found == kind for found in catalog._rows.kinds)),
    "source": lambda catalog, source: mask_of_flags(
        bytes(catalog._rows.source(row) == source for row in range(catalog.count))
    ),
}
"""How each set of rows is made; they are kept for the life of the catalogue."""


def _words(query: str) -> list[str]:
    return query[:MAX_QUERY].casefold().split()[:MAX_WORDS]


def needed_in(glob: str) -> str:
    """The longest text that whatever the glob fits must hold, or "": asking for it first is ten times as fast."""
    if set("[\\") & set(glob) or _NESTED.search(glob):
        return ""
    return max(_WILD.split(glob), key=len)
