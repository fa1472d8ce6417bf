"""Rows of a table and values of a tree for Qt's views: told by the process that has them, a window at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.domain.files.results import ResultValue
from desktop.presenter.common.shown import shown_line

Index = QModelIndex | QPersistentModelIndex
WINDOW = 200
"""Rows, or values, that are asked for at once."""
KEPT = 60
"""Windows that are held."""
TIP = 2_000
_ROOT = QModelIndex()
_SIDE = Qt.ItemDataRole.TextAlignmentRole
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class TableRows(QAbstractTableModel):
    """``wanted`` asks for rows from one on; ``sorted_by`` for another order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._names: Sequence[str] = ()
        self._count = 0
        self._windows: OrderedDict[int, Sequence[Sequence[str]]] = OrderedDict()
        self._asked: set[int] = set()
        self.wanted: Callable[[int], None] = lambda _first: None
        self.sorted_by: Callable[[int, bool], None] = lambda _column, _descending: None

    def show_table(self, names: Sequence[str], count: int) -> None:
        """Another table."""
        self.beginResetModel()
        self._names, self._count = [shown_line(name) for name in names], count
        self._windows.clear()
        self._asked.clear()
        self.endResetModel()

    def take(self, first: int, rows: Sequence[Sequence[str]]) -> None:
        """Rows that came."""
        number = first // WINDOW
        self._asked.discard(number)
        self._windows[number] = [[shown_line(cell) for cell in row] for row in rows]
        while len(self._windows) > KEPT:
            self._windows.popitem(last=False)
        last = min(first + len(rows), self._count) - 1
        if rows and self._names:
            self.dataChanged.emit(self.index(first, 0), self.index(max(first, last), len(self._names) - 1))
            if not first:
                self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._names) - 1)

    def forget(self) -> None:
        """They stand in another order now."""
        self._windows.clear()
        self._asked.clear()
        if self._count and self._names:
            self.dataChanged.emit(self.index(0, 0), self.index(self._count - 1, len(self._names) - 1))

    def rowCount(self, parent: Index = _ROOT) -> int:
        """How many."""
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = _ROOT) -> int:
        """How many."""
        return 0 if parent.isValid() else len(self._names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell; empty until it came."""
        if role == _SIDE:
            return _RIGHT if _is_number(self._cell(index)) else _LEFT
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._cell(index)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The names of columns, and the numbers of rows."""
        if role == _SIDE:
            first = self._windows.get(0)
            row = first[0] if first else ()
            numeric = section < len(row) and _is_number(row[section])
            return _LEFT if orientation == Qt.Orientation.Horizontal and not numeric else _RIGHT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Horizontal:
            return self._names[section] if section < len(self._names) else ""
        return f"{section + 1:,}"

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Have them in another order; -1: as they are written."""
        self.sorted_by(column, order == Qt.SortOrder.DescendingOrder)

    def _cell(self, index: Index) -> str:
        number, at = divmod(index.row(), WINDOW)
        window = self._windows.get(number)
        if window is None:
            if number not in self._asked:
                self._asked.add(number)
                self.wanted(number * WINDOW)
            return ""
        row = window[at] if at < len(window) else ()
        return row[index.column()] if index.column() < len(row) else ""


def _is_number(cell: str) -> bool:
    return bool(cell) and cell[-1].isdigit() and cell.lstrip("+-")[:1].isdigit() and " " not in cell.strip()


class _Place:
    """A value in the tree, with what is known of what is inside."""

    __slots__ = ("above", "asked", "inside", "node", "row")

    def __init__(self, node: ResultValue, above: _Place | None, row: int) -> None:
        self.node, self.above, self.row = node, above, row
        self.inside: list[_Place] = []
        self.asked = False

    def path(self) -> list[int]:
        """The numbers that lead to it."""
        found, place = list[int](), self
        while place.above is not None:
            found.append(place.row)
            place = place.above
        return found[::-1]


class TreeRows(QAbstractItemModel):
    """Two columns: what a value is called, and what it says. ``wanted`` asks for what is inside one, from a number
    on."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root: _Place | None = None
        self._places: dict[tuple[int, ...], _Place] = {}
        self.wanted: Callable[[list[int], int], None] = lambda _path, _first: None

    def show_tree(self, root: ResultValue | None) -> None:
        """Another tree; the outermost value is its only row."""
        self.beginResetModel()
        self._root = _Place(root, None, 0) if root is not None else None
        self._places = {(): self._root} if self._root is not None else {}
        self.endResetModel()

    def take(self, path: Sequence[int], first: int, nodes: Sequence[ResultValue]) -> None:
        """What is inside a value, from a number on."""
        place = self._places.get(tuple(path))
        if place is None or first != len(place.inside):
            return
        place.asked = False
        if not nodes:
            return
        self.beginInsertRows(self._index(place), first, first + len(nodes) - 1)
        for at, node in enumerate(nodes, first):
            made = _Place(node, place, at)
            place.inside.append(made)
            self._places[(*path, at)] = made
        self.endInsertRows()

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """A row below another one."""
        if not parent.isValid():
            return self.createIndex(0, column, self._root) if self._root is not None and row == 0 else QModelIndex()
        place = _place(parent)
        return self.createIndex(row, column, place.inside[row]) if row < len(place.inside) else QModelIndex()

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]
        """The row above."""
        place = _place(index) if index.isValid() else None
        if place is None or place.above is None:
            return QModelIndex()
        return self._index(place.above)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """How many have come."""
        if not parent.isValid():
            return 1 if self._root is not None else 0
        return len(_place(parent).inside)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Two."""
        del parent
        return 2

    def hasChildren(self, parent: Index = _ROOT) -> bool:
        """Whether there is anything inside."""
        return _place(parent).node.rows > 0 if parent.isValid() else self._root is not None

    def canFetchMore(self, parent: Index) -> bool:
        """Whether some of it has not come yet."""
        return parent.isValid() and len(_place(parent).inside) < _place(parent).node.rows

    def fetchMore(self, parent: Index) -> None:
        """Ask for what is inside."""
        place = _place(parent) if parent.isValid() else None
        if place is not None and not place.asked:
            place.asked = True
            self.wanted(place.path(), len(place.inside))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a value is called, or what it says."""
        if not index.isValid() or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        node = _place(index).node
        if index.column() == 0:
            return shown_line(node.key) or "Everything"
        return words_of(node)

    def kind(self, index: Index) -> str:
        """What kind of value stands there."""
        return _place(index).node.kind if index.isValid() else ""

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The names of the two columns."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return ("Name", "Value")[section]
        return None

    def _index(self, place: _Place) -> QModelIndex:
        return self.createIndex(place.row, 0, place)


def _place(index: Index) -> _Place:
    found: _Place = index.internalPointer()
    return found


def words_of(node: ResultValue) -> str:
    """What a value says: ``"Quay 3"``, ``3 values``."""
    if node.kind == "part":
        return ""
    if node.kind in ("object", "list"):
        what = ("value", "values") if node.kind == "list" else ("entry", "entries")
        return f"{node.count:,} {what[node.count != 1]}"
    return f'"{shown_line(node.words)}"' if node.kind == "text" else shown_line(node.words)
