"""From a change set to the steps that make it, in an order in which each is possible. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from typing import Literal

from desktop.domain.errors import BugError
from desktop.domain.files.changes import FileChange
from desktop.domain.loading.lazy_dataclass import dataclass

Act = Literal["take", "put", "replace", "mode"]
"""Take away what has a name; put something where nothing is; put it in the place of another; change rights."""
_WRITABLE = 0o300
"""A folder in which its owner makes and removes names."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of a change."""

    act: Act
    """What is done."""
    change: FileChange
    """The change that it belongs to."""


def planned(changes: Sequence[FileChange]) -> list[PlannedStep]:
    """What is to be done, in order: folders opened for writing, names removed from the deepest up, folders and files
    made from the top down, and rights of folders last. Raises BugError for a set that contradicts itself."""
    by_path = {change.path: change for change in changes if change.before != change.after}
    _consistent(changes, by_path)
    down = sorted(by_path.values(), key=_top_down)
    steps = [PlannedStep("mode", change) for change in down if _only_rights(change) and _opens(change)]
    steps += [PlannedStep("take", change) for change in reversed(down) if _takes(change)]
    steps += [step for change in down if not _only_rights(change) for step in _making(change)]
    return [*steps, *(PlannedStep("mode", change) for change in reversed(down) if _closes(change))]


def apart(plan: Sequence[PlannedStep], several: Set[str]) -> list[PlannedStep]:
    """The same, without touching the rights of files that have ``several`` names: the other ones may lie where nothing
    may be changed, so that such a file gets a copy in its place, as one whose content changes."""
    return [
        PlannedStep("replace", step.change)
        if step.act == "mode" and step.change.path in several and step.change.after.kind == "file"
        else step
        for step in plan
    ]


def _consistent(changes: Sequence[FileChange], by_path: Mapping[str, FileChange]) -> None:
    if len({change.path for change in changes}) != len(changes):
        raise BugError("a change set names a path twice")
    for path, change in by_path.items():
        if not os.path.isabs(path) or os.path.normpath(path) != path:
            raise BugError(f"a change set has a path that is not absolute and plain: {path!r}")
        above = by_path.get(os.path.dirname(path))
        if above is not None and above.path != path and change.after.kind != "absent" and above.after.kind != "folder":
            raise BugError(f"a change set makes {path!r} in what is no folder")


def _top_down(change: FileChange) -> tuple[int, str]:
    return change.path.count(os.sep), change.path


def _takes(change: FileChange) -> bool:
    """Whether what was there goes, and is not replaced in one step."""
    kinds = (change.before.kind, change.after.kind)
    return kinds[0] != "absent" and (kinds[1] == "absent" or ("folder" in kinds and kinds[0] != kinds[1]))


def _making(change: FileChange) -> list[PlannedStep]:
    before, after = change.before, change.after
    if after.kind == "absent":
        return []
    if before.kind == "absent" or _takes(change):
        return [PlannedStep("put", change)]
    same = before.kind == after.kind == "file" and before.digest == after.digest
    return [PlannedStep("mode" if same else "replace", change)]


def _only_rights(change: FileChange) -> bool:
    return change.before.kind == change.after.kind == "folder"


def _opens(change: FileChange) -> bool:
    return change.after.mode & _WRITABLE == _WRITABLE


def _closes(change: FileChange) -> bool:
    """Whether a folder gets rights at the end with which nothing could be made in it."""
    return change.after.kind == "folder" and not _opens(change)
