"""The changes of a thread as two lists: its files against the beginning, and its calls, one by one. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from desktop.domain.files.changes import KeptChange
from desktop.domain.files.undo import ChangedPath, ThreadChanges
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words
from desktop.presenter.changes.words import BY_HAND, path_in, when, who

TOGETHER = 4
"""From so many files of one folder on, made or deleted by the same call, they are one row."""
NAMED = 3
"""Files of a call that are named; of more their folder and how many."""

FileWord = Literal["made", "deleted", "changed", "rights changed", "changed since", "undone, as at the beginning"]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file, or several of one folder."""

    paths: tuple[str, ...]
    """The places."""
    name: str
    """As it is shown, from the project on."""
    more: str
    """What follows the name, quietly: ``, 31 files``."""
    who: str
    """Who changed it, the last one."""
    word: FileWord
    """What became of it."""
    icon: str
    """The glyph that says the same."""
    added: int
    """Lines that came."""
    removed: int
    """Lines that went."""
    change_ids: frozenset[str]
    """The changes that touched it."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A call, several of them in a row, an undo, or what somebody did by hand."""

    change_id: str
    """The change, of several the first; "" for what was done by hand."""
    time: str
    """When."""
    icon: str
    """The tool's glyph."""
    who: str
    """Who asked, and with which tool."""
    what: str
    """Which files."""
    note: str
    """What stands at the end instead of figures: that it is undone."""
    added: int
    """Lines that came."""
    removed: int
    """Lines that went."""
    paths: frozenset[str]
    """The places that it touched."""
    undo_of: bool = False
    """Whether it is an undo."""
    can_undo: bool = True
    """Whether it can be undone."""
    number: int = 0
    """Its place among all changes."""
    inner: tuple[ChangeRow, ...] = ()
    """The calls that this row stands for, where it stands for several."""
    is_inner: bool = False
    """Whether it is one of several that a row above it stands for."""

    @property
    def change_ids(self) -> tuple[str, ...]:
        """All changes that it stands for."""
        return tuple(one.change_id for one in self.inner) or (self.change_id,)

    @property
    def key(self) -> str:
        """By which it is known among the rows, also when more calls have joined it."""
        return f"several {self.change_id}" if self.inner else self.change_id


def file_rows(changes: ThreadChanges, titles: Mapping[str, str]) -> list[FileRow]:
    """One row a file, those that one call made or deleted in one folder together, in the order in which they were first
    changed. Folders that only came or went with what is in them are left out."""
    records = {record.change_id: record for record in changes.records}
    rows: dict[tuple[str, ...], list[ChangedPath]] = {}
    for path in changes.paths:
        if path.beginning.kind == "folder" or path.last.kind == "folder":
            if path.beginning.kind == path.last.kind or not _holds(path.path, changes.paths):
                rows[(path.path,)] = [path]
            continue
        word = word_of(path)
        alone = word not in ("made", "deleted") or len(path.change_ids) > 1
        key = (path.path,) if alone else (os.path.dirname(path.path), word, *path.change_ids)
        rows.setdefault(key, []).append(path)
    order = {record.change_id: at for at, record in enumerate(changes.records)}
    found: list[FileRow] = []
    for group in sorted(rows.values(), key=lambda group: order.get(group[0].change_ids[0], 0)):
        parts = [group] if len(group) >= TOGETHER else [[one] for one in group]
        found += [_file_row(part, records, titles) for part in parts]
    return found


def _holds(folder: str, paths: Sequence[ChangedPath]) -> bool:
    return any(one.path.startswith(folder + os.sep) for one in paths)


def _file_row(group: Sequence[ChangedPath], records: Mapping[str, KeptChange], titles: Mapping[str, str]) -> FileRow:
    first, word = group[0], word_of(group[0])
    calls = [records[one] for one in first.change_ids if one in records]
    last = next((one for one in reversed(calls) if not one.undoes), calls[-1])
    project = last.origin.project
    many = len(group) > 1
    place = os.path.dirname(first.path) if many else first.path
    name = path_in(place, project) + (os.sep if many else "")
    said = who(last.origin.chain, titles)
    if word == "changed since":
        said = f"{said}, later {BY_HAND}"
    return FileRow(
        tuple(one.path for one in group),
        name,
        f", {count_words(len(group), 'file')}" if many else "",
        said,
        word,
        _ICONS[word],
        sum(one.added for one in group),
        sum(one.removed for one in group),
        frozenset(change_id for one in group for change_id in one.change_ids),
    )


_ICONS: Mapping[str, str] = {
    "made": "new",
    "deleted": "delete",
    "changed": "write",
    "rights changed": "lock",
    "changed since": "write",
    "undone, as at the beginning": "undo",
}


def word_of(path: ChangedPath) -> FileWord:
    """What became of a path since the beginning."""
    if path.now != path.last:
        return "changed since"
    if path.last == path.beginning:
        return "undone, as at the beginning"
    if path.beginning.kind == "absent":
        return "made"
    if path.last.kind == "absent":
        return "deleted"
    same = path.beginning.kind == path.last.kind and path.beginning.digest == path.last.digest
    return "rights changed" if same and path.last.kind in ("file", "folder") else "changed"


def call_rows(changes: ThreadChanges, titles: Mapping[str, str]) -> list[ChangeRow]:
    """The calls, the oldest first, and what was done by hand where it was found. Calls in a row by which one agent
    changed one and the same file are one row."""
    rows = [(record.at, _call_row(record, changes, titles)) for record in changes.records]
    project = changes.records[-1].origin.project if changes.records else ""
    for path in changes.paths:
        if path.now != path.last:
            hand = ChangeRow(
                "",
                when(path.now_at) if path.now_at else "",
                "retry",
                BY_HAND.capitalize(),
                path_in(path.path, project),
                "not Assent’s to undo",
                0,
                0,
                frozenset((path.path,)),
                can_undo=False,
            )
            rows.append((path.now_at or float("inf"), hand))
    alike = {record.change_id: _alike(record) for record in changes.records}
    found: list[ChangeRow] = []
    for _, several in groupby((row for _, row in sorted(rows, key=lambda one: one[0])), lambda row: _joins(row, alike)):
        found += _as_one(tuple(several))
    return found


def _alike(record: KeptChange) -> tuple[object, ...]:
    """Two calls that have this in common, and one file, are by the same agent in the same run."""
    origin = record.origin
    return origin.thread_id, origin.run_id, origin.chain


def _joins(row: ChangeRow, alike: Mapping[str, tuple[object, ...]]) -> object:
    """What rows have to have in common to become one; an object of its own for a row that stays alone."""
    if row.undo_of or row.note or not row.can_undo or len(row.paths) != 1:
        return object()
    return row.paths, alike[row.change_id]


def _as_one(rows: tuple[ChangeRow, ...]) -> tuple[ChangeRow, ...]:
    if len(rows) == 1:
        return rows
    what = f"{rows[0].what}, {count_words(len(rows), 'time')}"
    added, removed = sum(row.added for row in rows), sum(row.removed for row in rows)
    inner = tuple(replace(row, is_inner=True) for row in rows)
    return (replace(rows[0], what=what, added=added, removed=removed, inner=inner),)


def _call_row(record: KeptChange, changes: ThreadChanges, titles: Mapping[str, str]) -> ChangeRow:
    at = changes.undone.get(record.change_id)
    kept = record.kept and any(not file.not_kept for file in record.files)
    note = f"undone at {when(at)}" if at is not None else "" if kept else _why_not(record)
    both = [(file.change.path, {file.change.before.kind, file.change.after.kind}) for file in record.files]
    files = [path for path, kinds in both if "folder" not in kinds]
    return ChangeRow(
        record.change_id,
        when(record.at),
        _icon(record),
        _said(record, changes, titles),
        _what(files or [file.change.path for file in record.files], record.origin.project),
        note,
        sum(file.added for file in record.files),
        sum(file.removed for file in record.files),
        frozenset(file.change.path for file in record.files),
        undo_of=bool(record.undoes),
        can_undo=kept and at is None,
        number=record.number,
    )


def _why_not(record: KeptChange) -> str:
    """Why nothing of a call can be undone, in a few words."""
    if not record.kept:
        return "too old to undo"
    reasons = {file.not_kept for file in record.files}
    return "a file of keys, not kept" if reasons == {"a key"} else "too big to undo"


def _said(record: KeptChange, changes: ThreadChanges, titles: Mapping[str, str]) -> str:
    if not record.undoes:
        return who(record.origin.chain, titles)
    of = [one for one in changes.records if one.change_id in record.undoes]
    if len(record.undoes) > 1 or not of:
        return f"Undo of {count_words(len(record.undoes), 'change')}"
    if of[0].undoes:
        return "Undo of an undo"
    return f"Undo of {who(of[0].origin.chain, titles)}"


def _icon(record: KeptChange) -> str:
    return "undo" if record.undoes else "terminal" if record.origin.summary else "write"


def _what(paths: Sequence[str], project: str) -> str:
    if len(paths) <= NAMED:
        return ", ".join(path_in(path, project) for path in paths)
    folder = os.path.commonpath([os.path.dirname(path) for path in paths])
    return f"{count_words(len(paths), 'file')} in {path_in(folder, project) or folder}{os.sep}"
