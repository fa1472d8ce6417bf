"""A list whose rows are all of one height: whatever is inserted, nothing is laid out but what is seen.

Qt's own list asks the model about each of 10,000 rows when one is added; this one asks about none.
"""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyleOptionViewItem

from desktop.ui.theme import theme
from desktop.ui.widgets.rows import RowDelegate, RowList

Index = QModelIndex | QPersistentModelIndex
Action = QAbstractItemView.CursorAction
Hint = QAbstractItemView.ScrollHint


class FixedRows(RowList):
    """A ``RowList`` that places its rows by arithmetic. ``lead`` pixels at 100 % stand over the first row."""

    _delegate: RowDelegate | None = None  # Qt asks before there is one; what fails then cannot be caught
    _lead = 0

    def __init__(self, name: str, delegate: RowDelegate, *, lead: int = 0) -> None:
        super().__init__(name, delegate)
        self._delegate, self._lead = delegate, lead
        theme().changed.connect(self._dress)

    def _dress(self) -> None:
        self.updateGeometries()
        self.viewport().update()

    @property
    def row_height(self) -> int:
        """In pixels as they are now."""
        return theme().px(self._delegate.height if self._delegate is not None else RowDelegate.height)

    @property
    def content_height(self) -> int:
        """The height of all rows in pixels."""
        return self._count() * self.row_height + 2 * theme().px(self._lead)

    @property
    def at_end(self) -> bool:
        """Whether the last row is seen."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - self.row_height

    def _count(self) -> int:
        model = self.model()
        return model.rowCount() if model is not None else 0

    def rows_in_sight(self) -> range:
        """The rows that are on the screen."""
        height, top = self.row_height, self.verticalOffset() - theme().px(self._lead)
        first = max(0, top // height)
        return range(first, min(self._count(), (top + self.viewport().height()) // height + 1))

    # -- Qt's questions -----------------------------------------------------------------------------------------------

    def doItemsLayout(self) -> None:
        """There is nothing to lay out."""
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        """How far one can scroll."""
        room = self.viewport().height()
        bar = self.verticalScrollBar()
        bar.setSingleStep(self.row_height)
        bar.setPageStep(room)
        bar.setRange(0, max(0, self.content_height - room))

    def verticalOffset(self) -> int:
        """How much of the rows is scrolled away above."""
        return self.verticalScrollBar().value()

    def horizontalOffset(self) -> int:
        """Rows never scroll sideways: 0."""
        return 0

    def isIndexHidden(self, index: Index) -> bool:
        """No row is ever hidden."""
        return False

    def visualRect(self, index: Index) -> QRect:
        """Where a row is on the screen."""
        if not index.isValid():
            return QRect()
        top = index.row() * self.row_height + theme().px(self._lead) - self.verticalOffset()
        return QRect(0, top, self.viewport().width(), self.row_height)

    def indexAt(self, point: QPoint) -> QModelIndex:
        """The row at a place."""
        row = (point.y() + self.verticalOffset() - theme().px(self._lead)) // self.row_height
        return self.model().index(row, 0) if 0 <= row < self._count() else QModelIndex()

    def scrollTo(self, index: Index, hint: Hint = Hint.EnsureVisible) -> None:
        """Bring a row onto the screen."""
        rect, bar, room = self.visualRect(index), self.verticalScrollBar(), self.viewport().height()
        if hint == Hint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - room // 2)
        elif rect.top() < 0 or hint == Hint.PositionAtTop:
            bar.setValue(bar.value() + rect.top())
        elif rect.bottom() >= room:
            bar.setValue(bar.value() + rect.bottom() + 1 - room)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """All that is seen is painted anew."""
        self.viewport().update()

    def moveCursor(self, action: Action, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Up, down, pages, ends."""
        count, row = self._count(), self.currentIndex().row()
        page = max(1, self.viewport().height() // self.row_height - 1)
        steps = {
            Action.MoveUp: -1,
            Action.MovePrevious: -1,
            Action.MoveDown: 1,
            Action.MoveNext: 1,
            Action.MovePageUp: -page,
            Action.MovePageDown: page,
            Action.MoveHome: -count,
            Action.MoveEnd: count,
        }
        if not count:
            return QModelIndex()
        wanted = row + steps.get(action, 0) if row >= 0 else 0
        return self.model().index(max(0, min(count - 1, wanted)), 0)

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """The row that was pressed."""
        index = self.indexAt(rect.center())
        self.selectionModel().select(QItemSelection(index, index) if index.isValid() else QItemSelection(), command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """Where the selected rows are."""
        return QRegion(self.viewport().rect())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows that are seen."""
        painter = QPainter(self.viewport())
        model, current, hovered = self.model(), self.currentIndex().row(), self._hovered()
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        plain = option.state & ~(QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus)
        for row in self.rows_in_sight():
            index = model.index(row, 0)
            option.rect = self.visualRect(index)
            flags = plain
            if row == current:
                flags |= QStyle.StateFlag.State_Selected
                if self.hasFocus():
                    flags |= QStyle.StateFlag.State_HasFocus
            if row == hovered:
                flags |= QStyle.StateFlag.State_MouseOver
            option.state = flags
            self.itemDelegate().paint(painter, option, index)

    def _hovered(self) -> int:
        viewport = self.viewport()
        return self.indexAt(viewport.mapFromGlobal(viewport.cursor().pos())).row() if viewport.underMouse() else -1
