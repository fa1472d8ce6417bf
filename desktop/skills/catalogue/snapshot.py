"""A search folder as it was found: every skill of it in columns, small enough that 10,000 cost a few megabytes.

A row is one skill, or a file (or part of one) that is none because something is wrong with it: then ``name`` is "".
Rows are sorted by path, so that of two files with one name the first counts (R-RES-19). The columns hold what lists
show and filters ask; metadata and the rest are JSON text, read when they are asked for.
"""

from __future__ import annotations

import json
import os
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from desktop.domain.skills import SkillDef, SkillKind, SkillProblem
from desktop.skills.catalogue.lazy import LazyMapping
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import FOLDER_FILES, FolderListing
from desktop.skills.formats import LoadedFile
from desktop.skills.formats.keys import UNCLAIMED

BROKEN, WARNED, UNCLAIMED_KEY = 1, 2, 4
"""Bits of a row's flags: an error that keeps it from running; anything else to be said about it; a key that is to be
said something about unless a middleware of that name is there."""

TAKEN = "name.duplicate"

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True).encode
_CYCLIC = [
    "its metadata cannot be kept: it is nested too deeply or contains itself",
    1,
    1,
    "error",
    "frontmatter.cyclic",
]
_NOTHING: Mapping[str, Any] = {}
_KINDS: dict[str, SkillKind] = {".skill.md": "markdown", ".skill.py": "python", ".skill.js": "javascript"}


class SnapshotRow(NamedTuple):
    """One skill of a folder. ``rel`` is its file below the folder, ``tags`` are joined by spaces."""

    rel: str
    name: str
    description: str
    kind: str
    entry: str
    tags: str
    visibility: str
    role: str
    category: str
    flags: int
    body_at: int
    body_end: int
    meta: str
    rest: str


RELS, NAMES, DESCRIPTIONS, KINDS, TAGS, VISIBILITIES, ROLES, FLAGS = (
    SnapshotRow._fields.index(name)
    for name in ("rel", "name", "description", "kind", "tags", "visibility", "role", "flags")
)
"""Where these columns are."""


class Snapshot:
    """Immutable. ``digests`` (of the bytes, by ``rel``) exist for pinned folders only."""

    __slots__ = ("_first", "_paths", "columns", "digests", "folder", "ignore", "listing", "prints")

    def __init__(
        self,
        folder: str,
        ignore: tuple[str, ...],
        listing: FolderListing,
        columns: tuple[list[Any], ...],
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.ignore = ignore
        self.listing = listing
        self.columns = columns
        self.digests = digests or {}
        self._first: dict[str, int] | None = None
        self._paths: list[str] | None = None
        self.prints: dict[str, Any] | None = None  # kept here by pins.fingerprints

    def __len__(self) -> int:
        return len(self.columns[RELS])

    def row(self, number: int) -> SnapshotRow:
        return SnapshotRow(*[column[number] for column in self.columns])

    @property
    def paths(self) -> list[str]:
        """The absolute path of each row's file. Caches and definitions share these texts."""
        if self._paths is None:
            prefix = self.folder.rstrip(os.sep) + os.sep
            self._paths = [prefix + _native(rel) for rel in self.columns[RELS]]
        return self._paths

    @property
    def first(self) -> Mapping[str, int]:
        """For each name the row that counts: the lexicographically first path (R-RES-19)."""
        if self._first is None:
            names = self.columns[NAMES]
            found = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
            found.pop("", None)
            self._first = found
        return self._first

    @property
    def names(self) -> dict[str, str]:
        """Name to absolute path, for the ``name_index`` cache."""
        paths = self.paths
        return {name: paths[number] for name, number in self.first.items()}

    def doubles(self) -> dict[int, int]:
        """Rows whose name an earlier row has already, with that row."""
        names, first = self.columns[NAMES], self.first
        if len(first) == len(names):
            return {}
        return {number: first[name] for number, name in enumerate(names) if name and first[name] != number}

    def rows_of(self, rel: str) -> list[int]:
        """The rows of one file."""
        rels = self.columns[RELS]
        return list(range(bisect_left(rels, rel), bisect_right(rels, rel)))

    def definition(self, number: int, root: SearchRoot) -> SkillDef:
        """The definition of a row that has a name, as reading the file gave it."""
        row, path = self.row(number), self.paths[number]
        rest = json.loads(row.rest) if row.rest else {}
        stamp = self.listing.files.get(row.rel)
        problems = self.problems(number) if row.flags or self.first[row.name] != number else ()
        broken = bool(row.flags & BROKEN) or any(problem.code == TAKEN for problem in problems)
        return SkillDef(
            row.name,
            row.description,
            row.kind,  # type: ignore[arg-type]
            root.source,
            path=path,
            src=_src(path, rest.get("s")),
            root=root.path,
            entry=row.entry,
            allowed_tools=rest.get("a"),
            metadata=LazyMapping(row.meta) if row.meta else _NOTHING,
            extras=rest.get("x", _NOTHING),
            tags=_tags(row.tags),
            visibility=row.visibility,
            role=row.role,
            category=row.category,
            stamp="" if stamp is None else f"{stamp.size}:{stamp.mtime}:{stamp.inode}",
            body_at=row.body_at,
            body_end=row.body_end,
            problems=tuple(problems),
            state="broken" if broken else "ready",
        )

    def doubles_of(self, number: int) -> SkillProblem | None:
        """The problem of a row whose name is taken by an earlier file of the folder."""
        name = self.columns[NAMES][number]
        first = self.first.get(name, number)
        if not name or first == number:
            return None
        message = f"the name {name} is already taken by {self.paths[first]}, which comes first"
        return SkillProblem(self.paths[number], message, code=TAKEN)

    def problems(self, number: int) -> list[SkillProblem]:
        """Everything that is wrong with a row."""
        path, rest = self.paths[number], self.columns[-1][number]
        found = [problem_from(entry, path) for entry in json.loads(rest).get("p", ())] if rest else []
        double = self.doubles_of(number)
        return found if double is None else [*found, double]


@lru_cache(maxsize=4_096)
def _tags(text: str) -> tuple[str, ...]:
    """Few lists of tags make up most of all: one tuple for each."""
    return tuple(text.split())


EMPTY_COLUMNS: tuple[list[Any], ...] = tuple([] for _ in SnapshotRow._fields)


def below(folder: str, rel: str) -> str:
    """The absolute path of ``rel`` below a folder."""
    return folder.rstrip(os.sep) + os.sep + _native(rel)


def _native(rel: str) -> str:
    return rel if os.sep == "/" else rel.replace("/", os.sep)


def _src(path: str, rest: str | None) -> str | None:
    if rest is None:
        return f"file://{path}"
    return f"file://{path}{rest[1:]}" if rest.startswith("+") else (rest or None)


def problem_from(entry: list[Any], path: str) -> SkillProblem:
    message, line, column, severity, code, *other = entry
    return SkillProblem(other[0] if other else path, message, line, column, severity, code)


def _problem_entry(problem: SkillProblem, path: str) -> list[Any]:
    entry = [problem.message, problem.line, problem.column, problem.severity, problem.code]
    return entry if problem.path == path else [*entry, problem.path]


def rows_of_file(rel: str, path: str, loaded: LoadedFile) -> list[SnapshotRow]:
    """A file that was read, as rows: one for each skill, one more for what is wrong apart from them."""
    rows = [_row(rel, path, definition) for definition in loaded.definitions]
    if rows and not loaded.problems:
        return rows
    told = {problem for definition in loaded.definitions for problem in definition.problems}
    apart = [problem for problem in loaded.problems if problem not in told]
    if apart or not rows:
        rows.append(_nameless(rel, path, apart))
    return rows


def _nameless(rel: str, path: str, problems: Iterable[SkillProblem]) -> SnapshotRow:
    found = list(problems) or [SkillProblem(path, "there is no skill in this file", code="file.empty")]
    flags = _flags(found)
    name = rel.rpartition("/")[2]
    kind = "folder" if name in FOLDER_FILES else _KINDS.get("." + ".".join(name.split(".")[-2:]), "foreign")
    rest = _encode({"p": [_problem_entry(problem, path) for problem in found]})
    return SnapshotRow(rel, "", "", kind, "", "", "", "", "", flags, -1, -1, "", rest)


def _flags(problems: Iterable[SkillProblem]) -> int:
    flags = 0
    for problem in problems:
        if problem.severity == "error":
            flags |= BROKEN
        else:
            flags |= UNCLAIMED_KEY if problem.code.startswith(UNCLAIMED) else WARNED
    return flags


def _row(rel: str, path: str, found: SkillDef) -> SnapshotRow:
    rest: dict[str, Any] = {}
    if found.allowed_tools is not None:
        rest["a"] = found.allowed_tools
    if found.extras:
        rest["x"] = found.extras
    if found.problems:
        rest["p"] = [_problem_entry(problem, path) for problem in found.problems]
    if found.src != (plain := f"file://{path}"):
        rest["s"] = (
            ""
            if found.src is None
            else ("+" + found.src.removeprefix(plain) if found.src.startswith(plain) else found.src)
        )
    flags = (_flags(found.problems) if found.problems else 0) | (BROKEN if found.state == "broken" else 0)
    try:
        meta, text = (_encode(part) if part else "" for part in (found.metadata, rest))
    except (ValueError, RecursionError, TypeError):
        meta, flags, text = "", flags | BROKEN, _encode({"p": [_CYCLIC]})
    intern = sys.intern
    return SnapshotRow(
        rel,
        found.name,
        found.description.replace("\0", "\ufffd"),
        intern(found.kind),
        intern(found.entry),
        intern(" ".join(found.tags)),
        intern(found.visibility),
        intern(found.role),
        intern(found.category),
        flags,
        found.body_at,
        found.body_end,
        meta,
        text,
    )
