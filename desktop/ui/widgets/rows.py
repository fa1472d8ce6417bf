"""Lists: a delegate base that paints rows, and a list view set up for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from desktop.ui.theme import theme
from desktop.ui.theme.paint import row_background

Index = QModelIndex | QPersistentModelIndex


def tick(event: QEvent, model: QAbstractItemModel, index: Index, role: int, end: int) -> bool:
    """Turn the tick of a row, kept under ``role``, at a click on its box, which ends at the pixel ``end``, or at Space.
    Whether it did."""
    pressed = event.type() == QEvent.Type.MouseButtonRelease
    if pressed and cast("QMouseEvent", event).position().x() > end:
        return False
    if not pressed and event.type() != QEvent.Type.KeyPress:
        return False
    if not index.flags() & Qt.ItemFlag.ItemIsUserCheckable:
        return False
    on = Qt.CheckState(index.data(role)) == Qt.CheckState.Checked
    return model.setData(index, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked, role)


class RowDelegate(QStyledItemDelegate):
    """Paints the row's fill and ring, 8 px inset; subclasses draw the rest in ``draw``. ``height`` at 100 %."""

    height = 32
    inset = 8

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The size of a row: all are the same."""
        return QSize(theme().px(100), theme().px(self.height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the background, then the contents."""
        flags = option.state
        rect: QRect = option.rect
        inset = theme().px(self.inset)
        box = rect.adjusted(inset, 0, -inset, 0)
        selected = bool(flags & QStyle.StateFlag.State_Selected)
        hovered = bool(flags & QStyle.StateFlag.State_MouseOver)
        focused = bool(flags & QStyle.StateFlag.State_HasFocus) and bool(
            flags & QStyle.StateFlag.State_KeyboardFocusChange
        )
        row_background(painter, box, selected=selected, hovered=hovered, focused=focused)
        painter.save()
        self.draw(painter, box, index, selected=selected, hovered=hovered)
        painter.restore()

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw what stands in the row."""
        raise NotImplementedError


class RowList(QListView):
    """A list view with hover, uniform rows and no frame. Return activates."""

    def __init__(self, name: str, delegate: RowDelegate) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        delegate.setParent(self)
        self.setItemDelegate(delegate)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return means open, on every platform."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


def search_took(event: QKeyEvent, field: QLineEdit, rows: QAbstractItemView) -> bool:
    """Down goes from the search over a list to its rows, Escape empties it. Whether the key was one of them."""
    if event.key() == Qt.Key.Key_Down and field.hasFocus():
        rows.setFocus()
        if not rows.currentIndex().isValid() and rows.model().rowCount():
            rows.setCurrentIndex(rows.model().index(0, 0))
        return True
    if event.key() == Qt.Key.Key_Escape and field.text():
        field.clear()
        return True
    return False


class LinesModel(QAbstractListModel):
    """Lines that are brought up to date as a whole; those that stay keep their places in the view."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Any] = []

    def reset(self, lines: list[Any]) -> None:
        """Show other lines altogether."""
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def follow(self, fresh: list[Any], alike: Callable[[list[Any], list[Any]], int]) -> None:
        """Show the lines as they are now. ``alike``: how many lines of two lists are the same from the beginning."""
        old = self.lines
        head = alike(old, fresh)
        tail = alike(old[head:][::-1], fresh[head:][::-1])
        if len(old) > head + tail:
            self.beginRemoveRows(QModelIndex(), head, len(old) - tail - 1)
            self.lines = old[:head] + old[len(old) - tail :]
            self.endRemoveRows()
        if len(fresh) > head + tail:
            self.beginInsertRows(QModelIndex(), head, len(fresh) - tail - 1)
            self.lines = fresh
            self.endInsertRows()
        self.lines = fresh

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many lines show."""
        return 0 if parent.isValid() else len(self.lines)
