"""What a command did, as rows of folders and files with ticks: what is ticked becomes real.

A folder with several changes in it folds to one row. What cannot be shown line by line, and what somebody else changed
meanwhile, is not ticked until a person has opened it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal

from PySide6.QtCore import QObject, Signal

from desktop.domain.files.changes import FileChange, folders_above
from desktop.domain.files.outcomes import LineFigures, OutcomeReading
from desktop.domain.loading.lazy_dataclass import dataclass

WhatKind = Literal["made", "changed", "deleted", "renamed", "rights"]
Ticked = Literal["all", "some", "none"]
KINDS: tuple[WhatKind, ...] = ("made", "changed", "deleted", "renamed", "rights")
FOLDS_FROM = 3
"""Changes in a folder from which it is a row that folds."""
_NOBODY: Mapping[str, str] = MappingProxyType({})
ALL_OPEN = 24
"""Rows up to which folders are unfolded at first."""


@dataclass(slots=True, eq=False)
class TickedFile:
    """One thing that a command did."""

    path: str
    """Where."""
    label: str
    """The path as it is shown, from the folder that it stands in."""
    kind: WhatKind
    """What it did there."""
    change: FileChange
    """The change, which of a rename is that of the new place."""
    paths: tuple[str, ...]
    """All the paths that become real with it."""
    figures: LineFigures | None
    """Its lines, where they can be counted."""
    is_text: bool
    """Whether it can be shown line by line."""
    meanwhile: bool
    """Whether somebody else changed the real file meanwhile."""
    detail: str = ""
    """Where it was moved from, how its rights change, or when somebody else saved it."""
    ticked: bool = True
    """Whether it becomes real."""
    opened: bool = False
    """Whether a person has looked at it."""

    @property
    def waits(self) -> bool:
        """Whether it cannot be ticked before it was opened."""
        return not self.opened and (self.meanwhile or not self.is_text)


@dataclass(slots=True, eq=False)
class TickedFolder:
    """A folder in which several things were done."""

    path: str
    """Where."""
    label: str
    """As it is shown, with a slash at its end."""
    nodes: list[TickedFolder | TickedFile] = field(default_factory=list)
    """What stands in it."""
    leaves: tuple[TickedFile, ...] = ()
    """All that was done in it, at any depth."""
    unfolded: bool = False
    """Whether what stands in it has rows of its own."""
    many: int = 0
    """How many of its leaves are ticked."""
    kinds: Mapping[WhatKind, int] = field(default_factory=dict)
    """How many of its leaves are of each kind."""
    figures: LineFigures | None = None
    """The lines of all of them."""

    @property
    def ticked(self) -> Ticked:
        """How much of it becomes real."""
        return "all" if self.many == len(self.leaves) else "some" if self.many else "none"


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One row: a heading, a folder or a leaf."""

    node: TickedFolder | TickedFile | str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class OutcomeTree:
    """What a command did, laid into folders; made in a thread where it is much."""

    reading: OutcomeReading
    """What was read."""
    top: TickedFolder
    """The folder in which the command ran, with all that was done."""
    inner: tuple[TickedFolder, ...]
    """All folders that fold, outer ones first, the top among them."""
    meanwhile: tuple[TickedFile, ...]
    """What somebody else changed."""


def outcome_tree(reading: OutcomeReading, root: str, left_by: Mapping[str, str] = _NOBODY) -> OutcomeTree:
    """Lay it out. ``left_by``: the agents whose calls changed real files meanwhile; "": no agent's did. Pure."""
    leaves = tuple(_leaves(reading, root, left_by))
    top = _folder(root, "", leaves)
    inner = (top, *_fill(top, [leaf for leaf in leaves if not leaf.meanwhile]))
    _unfold(inner)
    return OutcomeTree(reading, top, inner, tuple(leaf for leaf in leaves if leaf.meanwhile))


class OutcomeRows(QObject):
    """The rows and ticks of one outcome. ``changed``: a tick; ``reset``: the rows are others."""

    changed = Signal()
    reset = Signal()

    def __init__(self, tree: OutcomeTree) -> None:
        super().__init__()
        self.reading = tree.reading
        self._folders = [change for change in tree.reading.changes if _is_folder(change)]
        self._meanwhile, self._top, self._inner = tree.meanwhile, tree.top, tree.inner
        self._recount()
        self.rows: list[OutcomeRow] = []
        self._lay()

    @property
    def leaves(self) -> tuple[TickedFile, ...]:
        """Everything that can be ticked."""
        return self._top.leaves

    @property
    def ticked(self) -> Ticked:
        """How much becomes real."""
        return self._top.ticked if self._top.leaves else "none"

    @property
    def count(self) -> int:
        """How many become real."""
        return self._top.many

    @property
    def waiting(self) -> int:
        """How many a person has to open first."""
        return sum(leaf.waits for leaf in self.leaves)

    @property
    def undecided(self) -> int:
        """How many real files changed meanwhile, of which nothing was chosen yet."""
        return sum(not leaf.opened for leaf in self._meanwhile)

    @property
    def left_out(self) -> int:
        """How many of the real files that changed meanwhile stay as they are."""
        return sum(not leaf.ticked for leaf in self._meanwhile)

    @property
    def meanwhile(self) -> int:
        """How many real files somebody else changed."""
        return len(self._meanwhile)

    def lines(self) -> LineFigures:
        """The lines of all that becomes real."""
        found = [leaf.figures for leaf in self.leaves if leaf.ticked and leaf.figures is not None]
        return LineFigures(sum(one.added for one in found), sum(one.removed for one in found))

    def taken(self) -> tuple[str, ...] | None:
        """The paths that become real; None: all of them, and nothing stands against that."""
        if self.ticked == "all" and not self._meanwhile:
            return None
        paths = [path for leaf in self.leaves if leaf.ticked for path in leaf.paths]
        above = folders_above(paths)
        return (*paths, *(change.path for change in self._folders if change.path in above))

    def tick(self, node: TickedFolder | TickedFile | None, ticked: bool) -> None:
        """Tick or untick a row with all in it; None: everything. What has to be opened first stays as it is."""
        leaves = self.leaves if node is None else (node,) if isinstance(node, TickedFile) else node.leaves
        for leaf in leaves:
            leaf.ticked = ticked and (leaf.opened or not leaf.waits)
        self._recount()
        self.changed.emit()

    def open(self, node: TickedFolder | TickedFile) -> None:
        """A person has this row before them, with what can be shown of it; so it may count."""
        fresh = [leaf for leaf in _of(node) if not leaf.opened]
        for leaf in fresh:
            leaf.opened = True
            leaf.ticked = leaf.ticked or (not leaf.is_text and not leaf.meanwhile)
        if fresh:
            self._recount()
            self.changed.emit()

    def unfold(self, folder: TickedFolder, unfolded: bool) -> None:
        """Show or hide what is in a folder."""
        if folder.unfolded != unfolded:
            folder.unfolded = unfolded
            self._lay()
            self.reset.emit()

    def _recount(self) -> None:
        for folder in reversed(self._inner):
            folder.many = sum(node.many if isinstance(node, TickedFolder) else node.ticked for node in folder.nodes)
        self._top.many += sum(leaf.ticked for leaf in self._meanwhile)

    def _lay(self) -> None:
        rows: list[OutcomeRow] = []
        if self._meanwhile:
            rows.append(OutcomeRow("Changed meanwhile"))
            rows += [OutcomeRow(leaf) for leaf in self._meanwhile]
            rows.append(OutcomeRow("As they were"))
        waiting: list[OutcomeRow] = [OutcomeRow(node) for node in reversed(self._top.nodes)]
        while waiting:
            row = waiting.pop()
            rows.append(row)
            if isinstance(row.node, TickedFolder) and row.node.unfolded:
                waiting += [OutcomeRow(node, row.depth + 1) for node in reversed(row.node.nodes)]
        self.rows = rows

    @property
    def kinds(self) -> Mapping[WhatKind, int]:
        """How many of each kind."""
        return self._top.kinds


def _folder(path: str, label: str, leaves: tuple[TickedFile, ...]) -> TickedFolder:
    found = Counter(leaf.kind for leaf in leaves)
    kinds = {kind: found[kind] for kind in KINDS if found[kind]}
    counted = [leaf.figures for leaf in leaves if leaf.figures is not None]
    lines = LineFigures(sum(one.added for one in counted), sum(one.removed for one in counted)) if counted else None
    return TickedFolder(path, label, leaves=leaves, kinds=kinds, figures=lines)


def _of(node: TickedFolder | TickedFile) -> tuple[TickedFile, ...]:
    return (node,) if isinstance(node, TickedFile) else node.leaves


def _is_folder(change: FileChange) -> bool:
    return "folder" in (change.before.kind, change.after.kind)


def _leaves(reading: OutcomeReading, root: str, left_by: Mapping[str, str]) -> Iterator[TickedFile]:
    """A folder that was made or deleted is a leaf of its own only if nothing else tells of it."""
    renamed = {change.renamed_from for change in reading.changes if change.renamed_from}
    told = folders_above(change.path for change in reading.changes)
    for change in reading.changes:
        before, after, path = change.before, change.after, change.path
        if path in renamed and after.kind == "absent":
            continue
        rights = before.kind == after.kind and (before.digest, before.target) == (after.digest, after.target)
        if _is_folder(change) and path in told and not rights:
            continue
        kind: WhatKind = "rights" if rights else "changed"
        detail = f"{before.mode:o} → {after.mode:o}" if rights else ""
        if change.renamed_from:
            kind, detail = "renamed", _label(change.renamed_from, root)
        elif before.kind == "absent":
            kind = "made"
        elif after.kind == "absent":
            kind = "deleted"
        if path in reading.saved_at and kind in ("made", "changed", "deleted"):
            saved = time.strftime("%H:%M:%S", time.localtime(reading.saved_at[path]))
            detail = f"{saved}, {_by(left_by[path])}" if path in left_by else f"saved at {saved}"
        is_text = path in reading.figures or rights or _is_folder(change) or change.renamed_from != ""
        meanwhile = bool({path, change.renamed_from} & reading.meanwhile)
        label = _label(path, root) + ("/" if _is_folder(change) else "")
        yield TickedFile(
            path,
            label,
            kind,
            change,
            (path, change.renamed_from) if change.renamed_from else (path,),
            reading.figures.get(path) if kind != "renamed" else None,
            is_text,
            meanwhile,
            detail,
            ticked=is_text and not meanwhile,
        )


def _by(agent: str) -> str:
    return f"by {agent}" if agent else "not by an agent"


def _label(path: str, root: str) -> str:
    return path.removeprefix(root.rstrip("/") + "/") if path != root else "."


def _fill(top: TickedFolder, leaves: list[TickedFile]) -> list[TickedFolder]:
    """Lay leaves into folders: those with several of them fold, a chain of folders is one row."""
    found, waiting = [], [(top, leaves)]
    while waiting:
        folder, inside = waiting.pop()
        start = folder.path.rstrip("/") + "/"
        parts: dict[str, list[TickedFile]] = {}
        for leaf in inside:
            begin = len(start) if leaf.path.startswith(start) else 1
            end = leaf.path.find("/", begin)
            parts.setdefault(leaf.path if end < 0 else leaf.path[:end], []).append(leaf)
        for path, own in parts.items():
            if len(own) < FOLDS_FROM or own[0].path == path:
                for leaf in own:
                    leaf.label = leaf.label if folder is top else leaf.path.removeprefix(start)
                folder.nodes += own
                continue
            deep = _common(own)
            made = _folder(deep, f"{deep.removeprefix(start)}/", tuple(own))
            folder.nodes.append(made)
            found.append(made)
            waiting.append((made, own))
    return found


def _common(leaves: list[TickedFile]) -> str:
    """The deepest folder that holds all of them."""
    first, last = min(leaf.path for leaf in leaves), max(leaf.path for leaf in leaves)
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: first.rfind("/", 0, same + 1)]


def _unfold(folders: tuple[TickedFolder, ...]) -> None:
    """Unfold what there is room for, small folders first, outer ones before inner ones."""
    top, *_ = folders
    room, waiting = ALL_OPEN - len(top.nodes), [node for node in top.nodes if isinstance(node, TickedFolder)]
    while waiting:
        folder = min(waiting, key=lambda one: len(one.nodes))
        room -= len(folder.nodes)
        if room < 0:
            return
        waiting.remove(folder)
        folder.unfolded = True
        waiting += [node for node in folder.nodes if isinstance(node, TickedFolder)]
