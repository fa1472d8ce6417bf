"""The tree of the reach explorer, laid out flat: 100,000 names in a folder cost no more than a hundred.

A folder keeps its names as it got them, and only the ones that are open below it. A row of the flat list is found by
walking down the open folders, so opening a folder is one insertion whatever its size. What a row means is asked for
when it is seen, never before.
"""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from desktop.domain.approval.reach import Level, NodeKind, ReachRow
from desktop.domain.loading.lazy_dataclass import dataclass

ROW = int(Qt.ItemDataRole.UserRole)
COMMANDS = {
    (True, True): "can read and write it.",
    (True, False): "can read it, not write it.",
    (False, False): "can neither read nor write it.",
    (False, True): "can write it.",
}
KINDS = {"dir": "folder", "file": "file", "link": "link", "special": "special file"}
Index = QModelIndex | QPersistentModelIndex


class ShownRow(NamedTuple):
    """One row as it is drawn. ``note`` stands instead of a path ("Reading…"); ``opened`` None: it cannot be opened."""

    name: str
    path: str
    kind: NodeKind
    depth: int
    opened: bool | None
    judged: ReachRow | None
    note: str = ""


@dataclass(eq=False, slots=True)
class Folder:
    """An open folder."""

    path: str
    """The folder."""
    depth: int
    """How far below the root."""
    above: Folder | None = None
    """The folder that holds it."""
    at: int = 0
    """Its place in that folder."""
    names: Sequence[str] = ()
    """The names in it."""
    kinds: Sequence[NodeKind] = ()
    """What each of them is."""
    folders: int = 0
    """How many of them are folders, which come first."""
    note: str = "Reading…"
    """The row that stands in place of names, or ""."""
    opened: dict[int, Folder] = field(default_factory=dict)
    """The open folders in it, by place."""
    order: list[int] = field(default_factory=list)
    """The places of those, in order."""
    judged: dict[int, ReachRow] = field(default_factory=dict)
    """The judgements of rows, by place."""
    fresh: set[int] = field(default_factory=set)
    """The places whose judgements are not outdated."""
    size: int = 1
    """How many rows it takes, those of open folders in it included."""

    def path_of(self, at: int) -> str:
        """The path of one of its entries."""
        return os.path.join(self.path, self.names[at]) if self.path else self.names[at]

    def own(self) -> int:
        """Rows of its own: the names, and a note."""
        return len(self.names) + bool(self.note)


class RowPlace(NamedTuple):
    """The place of a row: the ``at``-th of a folder; ``at`` equal to the number of names is the note."""

    folder: Folder
    at: int


class ReachTree(QAbstractListModel):
    """The tree as a flat list of rows. It touches no disk: whoever reads folders tells it what to open and fill."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Folder("", -1, note="")
        self.root.size = 0

    # -- what there is ------------------------------------------------------------------------------------------------

    def set_roots(self, roots: Sequence[str]) -> None:
        """Begin anew with these folders, closed."""
        self.beginResetModel()
        kinds: list[NodeKind] = ["dir" for _ in roots]
        self.root = Folder("", -1, names=tuple(roots), kinds=kinds, folders=len(roots), note="")
        self.root.size = len(roots)
        self.endResetModel()

    def open(self, place: RowPlace) -> Folder | None:
        """Make room for a folder's content, which is to be read; None where it is open already."""
        folder, at = place
        if at in folder.opened or at >= len(folder.names):
            return None
        made = Folder(folder.path_of(at), folder.depth + 1, folder, at)
        row = self.row_of(place)
        self.beginInsertRows(QModelIndex(), row + 1, row + 1)
        folder.opened[at] = made
        insort(folder.order, at)
        self._grow(folder, 1)
        self.endInsertRows()
        self._tell(row)
        return made

    def close(self, place: RowPlace) -> None:
        """Forget a folder's content."""
        folder, at = place
        gone = folder.opened.get(at)
        if gone is None:
            return
        row = self.row_of(place)
        self.beginRemoveRows(QModelIndex(), row + 1, row + gone.size)
        del folder.opened[at]
        folder.order.remove(at)
        self._grow(folder, -gone.size)
        self.endRemoveRows()
        self._tell(row)

    def fill(self, folder: Folder, level: Level) -> None:
        """Fill a folder with what was read. A folder that was closed meanwhile is left alone."""
        if not self.holds(folder):
            return
        first = self._first_row(folder)
        if folder.size:
            self.beginRemoveRows(QModelIndex(), first, first + folder.size - 1)
            self._grow(folder, -folder.size)
            folder.names, folder.note = (), ""
            folder.opened.clear()
            folder.order.clear()
            folder.judged.clear()
            folder.fresh.clear()
            self.endRemoveRows()
        note = _note(level)
        rows = len(level.names) + bool(note)
        self.beginInsertRows(QModelIndex(), first, first + rows - 1)
        folder.names, folder.kinds, folder.folders, folder.note = level.names, level.kinds, level.folders, note
        self._grow(folder, rows)
        self.endInsertRows()

    def judged(self, rows: Sequence[tuple[Folder, int, ReachRow]]) -> None:
        """Take in the judgements of some rows."""
        for folder, at, row in rows:
            if self.holds(folder) and at < len(folder.names) and folder.path_of(at) == row.path:
                folder.judged[at] = row
                folder.fresh.add(at)
                self._tell(self.row_of(RowPlace(folder, at)))

    def outdate(self) -> None:
        """Lists or rules changed: what is seen is asked about again, and stays as it was until then."""
        for folder in self._all(self.root):
            folder.fresh.clear()
        if self.root.size:
            self.dataChanged.emit(self.index(0), self.index(self.root.size - 1))

    def wanted(self, first: int, last: int) -> list[RowPlace]:
        """The rows in sight that nobody has asked about yet."""
        found = (self.place(row) for row in range(max(0, first), min(last + 1, self.root.size)))
        return [place for place in found if place.at < len(place.folder.names) and place.at not in place.folder.fresh]

    # -- where it is --------------------------------------------------------------------------------------------------

    def place(self, row: int) -> RowPlace:
        """The folder and entry that stand in a row of the whole tree."""
        folder = self.root
        while True:
            inner, row = _step(folder, row)
            if inner is None:
                return RowPlace(folder, row)
            folder = inner

    def row_of(self, place: RowPlace) -> int:
        """The row of the whole tree in which an entry stands."""
        folder, at = place
        before = sum(folder.opened[other].size for other in folder.order if other < at)
        return self._first_row(folder) + before + at

    def _first_row(self, folder: Folder) -> int:
        return 0 if folder.above is None else self.row_of(RowPlace(folder.above, folder.at)) + 1

    def holds(self, folder: Folder) -> bool:
        """Whether this folder is still open in the tree."""
        while folder.above is not None:
            if folder.above.opened.get(folder.at) is not folder:
                return False
            folder = folder.above
        return folder is self.root

    def above(self, row: int) -> int:
        """The row of the folder that holds this one, or -1."""
        folder = self.place(row).folder
        return -1 if folder.above is None else self.row_of(RowPlace(folder.above, folder.at))

    def child(self, folder: Folder, name: str) -> int:
        """The place of a name in a folder, or -1."""
        try:
            return folder.names.index(name)
        except ValueError:
            return -1

    def begins_with(self, text: str, row: int, *, onward: bool) -> int:
        """The next row whose name begins so, or -1: first beside ``row`` (after it where ``onward``), then in the other
        open folders. Names are sorted, so none is looked at in vain."""
        wanted = text.casefold()
        here = self.place(row) if 0 <= row < self.root.size else RowPlace(self.root, -1)
        start = here.at + (1 if onward else 0)
        others = [folder for folder in self._all(self.root) if folder is not here.folder]
        for folder, lowest in ((here.folder, max(0, start)), *((folder, 0) for folder in others), (here.folder, 0)):
            at = _starting(folder, wanted, lowest)
            if at >= 0:
                return self.row_of(RowPlace(folder, at))
        return -1

    # -- Qt -----------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """The rows of all open folders."""
        return 0 if parent.isValid() else self.root.size

    def shown(self, row: int) -> ShownRow:
        """The row at this place."""
        folder, at = self.place(row)
        depth = folder.depth + 1
        if at >= len(folder.names):
            return ShownRow("", folder.path, "file", depth, None, None, folder.note)
        found, kind = folder.judged.get(at), folder.kinds[at]
        opens = kind == "dir" or (found is not None and found.opens)
        return ShownRow(
            folder.names[at], folder.path_of(at), kind, depth, at in folder.opened if opens else None, found
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The row under ``ROW``; its words for those who hear them."""
        if role not in _ROLES or not 0 <= index.row() < self.root.size:
            return None
        row = self.shown(index.row())
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.note or row.name
        return spoken(row) if role == Qt.ItemDataRole.AccessibleTextRole else why(row)

    def _tell(self, row: int) -> None:
        self.dataChanged.emit(self.index(row), self.index(row))

    def _grow(self, folder: Folder | None, by: int) -> None:
        while folder is not None:
            folder.size += by
            folder = folder.above

    def _all(self, folder: Folder) -> Iterator[Folder]:
        yield folder
        for at in folder.order:
            yield from self._all(folder.opened[at])


_ROLES = frozenset(
    (ROW, int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.AccessibleTextRole), int(Qt.ItemDataRole.ToolTipRole))
)


def spoken(row: ShownRow) -> str:
    """A row as it is read aloud: name, what it is, whether it is open, what can be done with it."""
    if row.note:
        return row.note
    parts = [row.name, KINDS[row.kind]]
    if row.judged is not None and row.judged.target:
        parts.append(f"leads to {row.judged.resolved or row.judged.target}")
    if row.opened is not None:
        parts.append("open" if row.opened else "closed")
    words = row.judged.words if row.judged is not None else "being looked at"
    return f"{', '.join(parts)}, level {row.depth + 1}: {words}"


def why(row: ShownRow) -> str:
    """The reasons for the judgement of a row."""
    if row.judged is None:
        return row.note
    found = row.judged
    lines = [row.path, *([f"leads to {found.resolved or found.target}"] if found.target else [])]
    lines.append(f"Reading: {found.read.sentence}")
    if found.write.sentence != found.read.sentence:
        lines.append(f"Writing: {found.write.sentence}")
    if found.commands is not None:
        lines.append(f"Commands: {COMMANDS[found.commands]}")
    return "\n".join(lines)


def _note(level: Level) -> str:
    """The last line of a folder: why it cannot be read, how many entries are not listed, or that it is empty."""
    if level.problem:
        return f"Cannot be read: {level.problem}"
    if level.left_out:
        return f"{level.left_out:,} more are not listed"
    return "" if level.names else "Empty"


def _step(folder: Folder, row: int) -> tuple[Folder | None, int]:
    """Into which open folder a row of this one falls and where there, or None and its own place."""
    for at in folder.order:
        if row <= at:
            return None, row
        inner = folder.opened[at]
        if row <= at + inner.size:
            return inner, row - at - 1
        row -= inner.size
    return None, row


def _starting(folder: Folder, text: str, lowest: int) -> int:
    """The first name from ``lowest`` on that begins so, or -1."""
    for start, end in ((0, folder.folders), (folder.folders, len(folder.names))):
        low = max(start, lowest)
        if low < end:
            at = bisect_left(folder.names, text, low, end, key=str.casefold)
            if at < end and folder.names[at].casefold().startswith(text):
                return at
    return -1
