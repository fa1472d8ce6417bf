"""The rows of the command palette: a model of groups and rows, and their painting with matches underlined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from desktop.presenter.shell.window import PaletteRow
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, keycap, keycap_width, marked_text
from desktop.ui.widgets.marks import split_keys
from desktop.ui.widgets.rows import Index, RowDelegate

ROW = int(Qt.ItemDataRole.UserRole)
_SHORTCUT = re.compile(r"(Ctrl|Alt|Shift|Meta|F\d)\b")
HEADER_HEIGHT = 28
ROW_HEIGHT = 36


class PaletteModel(QAbstractListModel):
    """Rows in the order of their best match, gathered under their group's heading."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[PaletteRow | str] = []

    def show(self, rows: Sequence[PaletteRow], group: str = "") -> None:
        """Show other rows; ``group`` narrows to one kind."""
        grouped: dict[str, list[PaletteRow]] = {}
        for row in rows:
            if not group or row.group == group:
                grouped.setdefault(row.group, []).append(row)
        self.beginResetModel()
        self._entries = []
        for name, members in grouped.items():
            self._entries += [name, *members]
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """The number of groups and rows."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The title, or the record under ``ROW``."""
        entry = self._entries[index.row()]
        if role == ROW:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry if isinstance(entry, str) else entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(entry, PaletteRow):
            return ", ".join(filter(None, (entry.title, entry.detail, entry.group)))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if isinstance(self._entries[index.row()], str):
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def step(self, row: int, delta: int) -> int:
        """The next row that can be chosen, going round; -1 when there is none."""
        total = len(self._entries)
        for distance in range(1, total + 1):
            at = (row + delta * distance) % total
            if isinstance(self._entries[at], PaletteRow):
                return at
        return -1

    def height(self) -> int:
        """Pixels at 100 % that all entries take."""
        return sum(HEADER_HEIGHT if isinstance(entry, str) else ROW_HEIGHT for entry in self._entries)


class PaletteDelegate(RowDelegate):
    """Icon, title, detail, keys."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The size of a row; headings are lower."""
        heading = isinstance(index.data(ROW), str)
        return QSize(theme().px(100), theme().px(HEADER_HEIGHT if heading else ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A heading has no fill."""
        entry = index.data(ROW)
        if not isinstance(entry, str):
            super().paint(painter, option, index)
            return
        t = theme()
        rect: QRect = option.rect
        painter.setFont(t.font("caption"))
        painter.setPen(t.color("text-3"))
        painter.drawText(rect.adjusted(t.px(20), t.px(4), 0, 0), int(Qt.AlignmentFlag.AlignVCenter), entry)

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one row."""
        t = theme()
        row: PaletteRow = index.data(ROW)
        side = t.px(18)
        if row.icon:
            glyph(painter, QRect(box.x() + t.px(13), box.y(), side, box.height()), row.icon, "text-2", side)
        right = box.right() - t.px(12)
        detail = row.detail
        if _SHORTCUT.match(detail):
            right, detail = self._keys(painter, box, right, detail), ""
        x = box.x() + t.px(44)
        role = "code" if row.mono else "body"
        baseline = box.y() + (box.height() + QFontMetrics(t.font("body")).capHeight()) // 2
        title = elided(row.title, role, right - x, weight=600)
        x += marked_text(painter, x, baseline, title, row.ranges, role, "text")
        if detail and right - x > t.px(60):
            font = t.font("small")
            painter.setFont(font)
            painter.setPen(t.color("text-3"))
            painter.drawText(x + t.px(12), baseline, elided(detail, "small", right - x - t.px(12)))

    def _keys(self, painter: QPainter, box: QRect, right: int, shortcut: str) -> int:
        t = theme()
        for key in reversed(split_keys(shortcut)):
            right -= keycap_width(key)
            keycap(painter, QRect(right, box.y(), 200, box.height()), key)
            right -= t.px(4)
        return right
