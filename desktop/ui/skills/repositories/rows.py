"""The rows of what a repository brings: a box to tick, the name and its kind, what it does, and how it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from desktop.presenter.skills.repositories import Item
from desktop.presenter.skills.repository_words import KINDS, chip_of, line_of, spoken
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge, badge_size, elided, glyph, outline
from desktop.ui.widgets.rows import Index, LinesModel, RowDelegate, RowList, tick
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

ITEM = Qt.ItemDataRole.UserRole
TICKED = Qt.ItemDataRole.CheckStateRole
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


class ItemsModel(LinesModel):
    """The items as lines; ``tick`` is asked to tick one."""

    def __init__(self, ticked: Callable[[Item], bool], tick: Callable[[Item, bool], None]) -> None:
        super().__init__()
        self._ticked, self._tick = ticked, tick

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The item, its box, or what a screen reader says."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        item: Item = self.lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_line(item.name)
        if role == ITEM:
            return item
        if role == TICKED:
            return Qt.CheckState.Checked if self._ticked(item) else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return shown_line(spoken(item, ticked=self._ticked(item)))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(shown_line(f"{item.rel}: {line_of(item)[0]}"[:600]))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A box only where there is something to tick."""
        base = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        item = self.data(index, ITEM)
        usable = item is not None and (item.takeable or item.taken is not None)
        return base | Qt.ItemFlag.ItemIsUserCheckable if usable else base

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Tick, or untick."""
        item = self.data(index, ITEM)
        if role != TICKED or item is None:
            return False
        self._tick(item, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def tell(self) -> None:
        """The boxes are others."""
        if self.lines:
            self.dataChanged.emit(self.index(0), self.index(len(self.lines) - 1), [TICKED])


class ItemDelegate(RowDelegate):
    """Draws an item."""

    height = 52

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Boxes with 2 between."""
        option.rect = option.rect.adjusted(0, 0, 0, -theme().px(2))
        super().paint(painter, option, index)

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """The box, two lines, and the chip at the right of both."""
        t = theme()
        item: Item = index.data(ITEM)
        usable = bool(index.flags() & Qt.ItemFlag.ItemIsUserCheckable)
        self._tick_box(painter, box, Qt.CheckState(index.data(TICKED)) == Qt.CheckState.Checked, usable)
        left, right = box.x() + t.px(36), box.right() - t.px(8)
        right -= self._chip(painter, QRect(left, box.y(), right - left, box.height()), item)
        top = QRect(left, box.y() + t.px(5), right - left, t.px(20))
        below = QRect(left, box.y() + t.px(25), right - left, t.px(18))
        weight = 500 if selected else None
        painter.setFont(t.font("code", weight))
        painter.setPen(t.color("text" if usable else "text-2"))
        kind = KINDS.get(item.kind, "")
        name = elided(shown_line(item.name), "code", top.width(), weight=weight)
        width = painter.fontMetrics().horizontalAdvance(name)
        painter.drawText(top, _LEFT, name)
        rest = top.adjusted(width + t.px(8), 0, 0, 0)
        if kind and rest.width() > t.px(24):
            painter.setFont(t.font("small"))
            painter.setPen(t.color("text-3"))
            painter.drawText(rest, _LEFT, elided(kind, "small", rest.width()))
        words, tone = line_of(item)
        painter.setFont(t.font("small"))
        painter.setPen(t.color(tone))
        painter.drawText(below, _LEFT, elided(shown_line(words[:300]), "small", below.width()))

    @staticmethod
    def _tick_box(painter: QPainter, box: QRect, ticked: bool, usable: bool) -> None:
        t = theme()
        side = t.px(16)
        mark = QRect(box.x() + t.px(8), box.y() + (box.height() - side) // 2, side, side)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if ticked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("accent"))
            painter.drawRoundedRect(mark, t.px(4), t.px(4))
            glyph(painter, mark, "allow", "on-accent", t.px(14))
        else:
            outline(painter, mark.toRectF(), t.px(4), t.color("control-border" if usable else "border-strong"))

    @staticmethod
    def _chip(painter: QPainter, line: QRect, item: Item) -> int:
        """How it stands, at the right; the width that it takes."""
        name, words = chip_of(item)
        if name:
            width = badge_size(name).width()
            badge(painter, QRect(line.right() + 1 - width, line.y(), width, line.height()), name)
            return width + theme().px(8)
        painter.setFont(theme().font("small"))
        painter.setPen(theme().color("text-3"))
        painter.drawText(line, _RIGHT, words)
        return painter.fontMetrics().horizontalAdvance(words) + theme().px(8)

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the box, or Space, ticks."""
        return tick(event, model, index, TICKED, option.rect.x() + theme().px(42))


class ItemRows(RowList):
    """The list; ``looked_at`` carries the item that is the current one."""

    looked_at = Signal(object)

    def __init__(self, ticked: Callable[[Item], bool], tick: Callable[[Item, bool], None]) -> None:
        super().__init__("What it has: Space ticks", ItemDelegate())
        self.items = ItemsModel(ticked, tick)
        self.setModel(self.items)
        self._telling = True
        self.selectionModel().currentChanged.connect(self._current)

    def _current(self, now: Index, _before: Index) -> None:
        if self._telling and now.isValid():
            self.looked_at.emit(now.data(ITEM))

    def show_items(self, items: Sequence[Item], key: tuple[str, str] | None) -> None:
        """Show these, with one of them as the current one."""
        self._telling = False
        if list(items) != self.items.lines:
            at = self.verticalScrollBar().value()
            self.items.reset(list(items))
            self.verticalScrollBar().setValue(at)
        row = next((number for number, one in enumerate(items) if one.key == key), -1)
        if row >= 0:
            self.setCurrentIndex(self.items.index(row))
        self._telling = True
