"""All skills there are, as rows sorted by name: what the Skills page lists and ``skill-list`` answers from.

Rows refer into the snapshots of the folders; nothing is copied but references. A catalogue is made anew when anything
changes, so row numbers hold for one catalogue; ``key`` holds for all.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillProblem, SkillSource, SkillState
from desktop.skills.catalogue.order import Layer, holders
from desktop.skills.catalogue.pins import Pins, fingerprints
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.catalogue.snapshot import (
    BROKEN,
    DESCRIPTIONS,
    FLAGS,
    KINDS,
    NAMES,
    RELS,
    ROLES,
    TAGS,
    UNCLAIMED_KEY,
    VISIBILITIES,
    Snapshot,
)
from desktop.skills.formats.keys import UNCLAIMED

READY, UNTRUSTED, CHANGED, OFF = range(4)
_STATES: tuple[SkillState, ...] = ("ready", "untrusted", "changed", "broken")


class SkillRow(NamedTuple):
    """One line of the list. ``key`` names it across catalogues; ``name`` is the file's where there is no skill in it.
    ``has_problems``: an error or a warning; ``shadowed``: another of its name comes first; ``repository``: the name of
    the one that it was taken of."""

    key: tuple[str, str]
    name: str
    description: str
    tags: tuple[str, ...]
    kind: str
    source: SkillSource
    hidden: bool
    state: SkillState
    has_problems: bool
    shadowed: bool
    path: str
    repository: str = ""


@dataclass(frozen=True, slots=True)
class Shadowing:
    """Rows of one name in search order: ``wins`` is what the name means, -1 when none of them is searched (R-RES-5);
    ``others`` are those it shadows; ``unsearched`` lie in folders that are not trusted, or behind a file of the same
    folder with the same name (R-RES-19)."""

    wins: int
    others: tuple[int, ...] = ()
    unsearched: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _FolderRows:
    """The rows of one folder. ``rows`` maps its snapshot's rows to the catalogue's."""

    root: SearchRoot
    snapshot: Snapshot
    rows: list[int]

    def get(self, name: str) -> int | None:
        number = self.snapshot.first.get(name)
        return None if number is None else self.rows[number]


@dataclass(frozen=True, slots=True)
class _Registered:
    """The programmatic tools as a layer."""

    rows: dict[str, int]

    def get(self, name: str) -> int | None:
        return self.rows.get(name)


class Rows:
    """The columns, in order of names. ``folders`` are all there are, in search order, those not trusted among them."""

    def __init__(
        self, registered: Sequence[SkillDef], folders: Sequence[tuple[SearchRoot, Snapshot]], pins: Pins | None = None
    ) -> None:
        self.registered = registered
        names = [definition.name for definition in registered]
        names += chain.from_iterable(_names(snapshot) for _, snapshot in folders)
        order = sorted(range(len(names)), key=names.__getitem__)
        place = [0] * len(names)
        for row, number in enumerate(order):
            place[number] = row
        self.count = len(names)
        self.names = [names[number] for number in order]
        self._place = place
        self.parts: list[_FolderRows] = []
        start = len(registered)
        for root, snapshot in folders:
            self.parts.append(_FolderRows(root, snapshot, place[start : start + len(snapshot)]))
            start += len(snapshot)
        self.descriptions = self._column(DESCRIPTIONS, [definition.description for definition in registered])
        self.tags = self._column(TAGS, [" ".join(definition.tags) for definition in registered])
        self.kinds = self._column(KINDS, ["program"] * len(registered))
        self._middleware = frozenset(chain.from_iterable(_middleware(part.snapshot) for part in self.parts))
        self._fill(registered, pins)

    def _column(self, at: int, first: list[str]) -> list[str]:
        values = chain(first, *(part.snapshot.columns[at] for part in self.parts))
        column = [""] * self.count
        for row, value in zip(self._place, values, strict=True):
            column[row] = value
        return column

    def _fill(self, registered: Sequence[SkillDef], pins: Pins | None) -> None:
        """The columns of small numbers: hidden, problems, state, and which part a row is of (0: programmatic)."""
        self.hidden, self.troubled = bytearray(self.count), bytearray(self.count)
        self.states = bytearray(self.count)
        self._part_of, self._number = array("i", bytes(4 * self.count)), array("i", bytes(4 * self.count))
        for number, definition in enumerate(registered):
            row = self._place[number]
            self.hidden[row] = definition.visibility == "hidden"
            self._number[row] = number
        for number, part in enumerate(self.parts, 1):
            columns, rows = part.snapshot.columns, part.rows
            facts = zip(rows, columns[VISIBILITIES], columns[FLAGS], strict=True)
            for at, (row, visibility, flags) in enumerate(facts):
                self._part_of[row], self._number[row] = number, at
                if visibility:
                    self.hidden[row] = 1
                if flags:
                    self.troubled[row] = flags != UNCLAIMED_KEY or bool(self._problems(part, at))
                    self.states[row] = OFF if flags & BROKEN else READY
            for double in part.snapshot.doubles():
                self.troubled[rows[double]], self.states[rows[double]] = 1, OFF
            self._judge(part, pins)

    def _judge(self, part: _FolderRows, pins: Pins | None) -> None:
        if not part.root.trusted:
            for row in part.rows:
                self.states[row] = UNTRUSTED
        elif part.root.pinned and pins is not None:
            for rel, found in fingerprints(part.snapshot).items():
                if pins.is_changed(found.path, found.digest):
                    for number in part.snapshot.rows_of(rel):
                        self.states[part.rows[number]] = CHANGED

    # -- one row ------------------------------------------------------------------------------------------------------

    def _where(self, row: int) -> tuple[_FolderRows, int] | None:
        """The folder and its row, or None for a programmatic tool."""
        at = self._part_of[row]
        return (self.parts[at - 1], self._number[row]) if at else None

    def key(self, row: int) -> tuple[str, str]:
        """What names this row across catalogues: its file ("" for a programmatic tool) and its name."""
        return self.path(row), self.names[row]

    def path(self, row: int) -> str:
        found = self._where(row)
        return "" if found is None else found[0].snapshot.paths[found[1]]

    def root(self, row: int) -> SearchRoot | None:
        """The folder it was loaded from, None for a programmatic tool."""
        found = self._where(row)
        return None if found is None else found[0].root

    def source(self, row: int) -> SkillSource:
        found = self._where(row)
        return self.registered[self._number[row]].source if found is None else found[0].root.source

    def state(self, row: int) -> SkillState:
        return _STATES[self.states[row]]

    def is_skill(self, row: int) -> bool:
        """Whether there is a skill, not only a file with problems."""
        found = self._where(row)
        return found is None or bool(found[0].snapshot.columns[NAMES][found[1]])

    def definition(self, row: int) -> SkillDef | None:
        """The definition of a row as resolution would give it, with its state; None for a file without a skill."""
        found = self._where(row)
        if found is None:
            return self.registered[self._number[row]]
        part, number = found
        if not part.snapshot.columns[NAMES][number]:
            return None
        definition = part.snapshot.definition(number, part.root)
        if definition.problems:
            definition = replace(definition, problems=tuple(self._problems(part, number)))
        return definition if self.states[row] in (READY, OFF) else replace(definition, state=self.state(row))

    def problems(self, row: int) -> list[SkillProblem]:
        found = self._where(row)
        return [] if found is None else self._problems(*found)

    def _problems(self, part: _FolderRows, number: int) -> list[SkillProblem]:
        """Without the keys that a middleware handles."""
        return [
            problem
            for problem in part.snapshot.problems(number)
            if not problem.code.startswith(UNCLAIMED) or problem.code.removeprefix(UNCLAIMED) not in self._middleware
        ]

    # -- shadowing ----------------------------------------------------------------------------------------------------

    def layers(self) -> list[Layer[int]]:
        """What is searched for a name, in order (R-RES-5, R-RES-10)."""
        registered = {definition.name: row for definition, row in zip(self.registered, self._place, strict=False)}
        return [_Registered(registered), *(part for part in self.parts if part.root.trusted)]

    def shadowing(self, row: int) -> Shadowing:
        """All rows of this row's name in the order in which ``find_tool`` prefers them."""
        name = self.names[row]
        if not self.is_skill(row):
            return Shadowing(-1, (), (row,))
        found = list(holders(name, self.layers()))
        rest = tuple(other for other in self.named(name) if other not in found and self.is_skill(other))
        return Shadowing(found[0], tuple(found[1:]), rest) if found else Shadowing(-1, (), rest)

    def winning(self) -> bytearray:
        """For each row, whether it is the one that its name means."""
        flags = bytearray(self.count)
        layers = self.layers()
        for name in dict.fromkeys(self.names):
            wins = next(holders(name, layers), None)
            if wins is not None:
                flags[wins] = 1
        return flags

    def named(self, name: str) -> Iterator[int]:
        """All rows of this name."""
        at = bisect_left(self.names, name)
        while at < self.count and self.names[at] == name:
            yield at
            at += 1


def _middleware(snapshot: Snapshot) -> Iterator[str]:
    """The names of the middleware in a folder: each handles the key of its name."""
    columns = snapshot.columns
    return (name for name, role in zip(columns[NAMES], columns[ROLES], strict=True) if role == "middleware")


def _names(snapshot: Snapshot) -> Iterator[str]:
    """What each row is called: a file without a skill by its own name, a folder's by the folder's."""
    for rel, name in zip(snapshot.columns[RELS], snapshot.columns[NAMES], strict=True):
        yield name or _file_name(rel, snapshot.folder)


def _file_name(rel: str, folder: str) -> str:
    above, _, name = rel.rpartition("/")
    if name in FOLDER_FILES:
        return above.rpartition("/")[2] or os.path.basename(folder)
    return name.partition(".")[0] or name
