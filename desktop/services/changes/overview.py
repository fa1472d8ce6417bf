"""What a thread has changed, path by path, against its beginning and against the files as they are now."""

from __future__ import annotations

import os
from collections.abc import Sequence

from desktop.domain.files.changes import ChangedFile, FileState, KeptChange
from desktop.domain.files.undo import ChangedPath, standing
from desktop.safety.changes.states import state_of
from desktop.services.changes.lines import counts
from desktop.services.changes.undoing import Read

LOOKED_AT = 2_000
"""Paths of a thread that are compared with the disk."""
COMPARED, COMPARED_BYTES = 300, 8_000_000
"""Paths whose lines are counted against the beginning, and bytes of their contents; the others' changes are summed."""


def undone_since(records: Sequence[KeptChange]) -> dict[str, float]:
    """The changes that are undone, and when that was."""
    stands = standing(records)
    found: dict[str, float] = {}
    for record in records:
        if record.change_id in stands:
            found |= dict.fromkeys(record.undoes, record.at)
    return {change_id: at for change_id, at in found.items() if change_id not in stands}


def against_beginning(records: Sequence[KeptChange], read: Read) -> tuple[ChangedPath, ...]:
    """Each path that was touched, by name. Blocks."""
    by_path: dict[str, list[tuple[KeptChange, ChangedFile]]] = {}
    for record in records:
        for file in record.files:
            by_path.setdefault(file.change.path, []).append((record, file))
    budget = [COMPARED_BYTES]
    found = []
    for number, path in enumerate(sorted(by_path)):
        look, compare = number < LOOKED_AT, number < COMPARED
        found.append(_changed(path, by_path[path], read, budget if compare else None, look=look))
    return tuple(found)


def _changed(
    path: str, touched: Sequence[tuple[KeptChange, ChangedFile]], read: Read, budget: list[int] | None, *, look: bool
) -> ChangedPath:
    beginning, last = touched[0][1].change.before, touched[-1][1].change.after
    now = _now(path) if look else last
    at = 0.0
    if now is not None and now != last:
        at = _modified(path)
    added, removed = sum(file.added for _, file in touched), sum(file.removed for _, file in touched)
    if budget is not None and len(touched) > 1 and (compared := _compared(beginning, last, read, budget)) is not None:
        added, removed = compared
    ids = tuple(record.change_id for record, _ in touched)
    return ChangedPath(path, beginning, last, now, at, added, removed, ids)


def _compared(beginning: FileState, last: FileState, read: Read, budget: list[int]) -> tuple[int, int] | None:
    """Lines that came and went between two states; None where they cannot be, or need not be, read."""
    if beginning.digest == last.digest:
        return 0, 0
    budget[0] -= beginning.size + last.size
    if budget[0] < 0:
        return None
    texts = [read(state.digest) if state.kind == "file" else b"" for state in (beginning, last)]
    return None if texts[0] is None or texts[1] is None else counts(texts[0], texts[1])


def _now(path: str) -> FileState | None:
    try:
        return state_of(path)
    except OSError:
        return None


def _modified(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0
