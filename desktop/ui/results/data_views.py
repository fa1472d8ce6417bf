"""A table and a tree: rows that come as they are looked at. What stands in them is text, whatever it begins with."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTreeView,
)

from desktop.presenter.results.rows import TableRows, TreeRows
from desktop.ui.theme import theme

Index = QModelIndex | QPersistentModelIndex
ROW, LINE, WIDE, WIDEST = 28, 24, 120, 420
FITTED, SEEN = 40, 30
"""Columns whose width is made to fit, and the rows that they are made to fit for."""
_KINDS = {"text": "code-string", "number": "code-number", "word": "code-keyword"}


class _Cells(QStyledItemDelegate):
    """A cell on one line, in the fonts and colours of the app."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw it."""
        t, rect = theme(), QRect(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or self.is_filled:
            painter.fillRect(rect, t.color("selected" if chosen else "surface"))
            painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), t.color("border"))
        painter.setFont(t.font("small") if not self.is_mono else t.font("code"))
        painter.setPen(t.color(self.ink(index)))
        inner = rect.adjusted(t.px(8), 0, -t.px(8), 0)
        side = index.data(Qt.ItemDataRole.TextAlignmentRole) or int(Qt.AlignmentFlag.AlignLeft)
        flags = int(side) | int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
        text = painter.fontMetrics().elidedText(
            str(index.data() or ""), Qt.TextElideMode.ElideRight, max(0, inner.width())
        )
        painter.drawText(inner, flags, text)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(t.color("focus"))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))

    is_mono, is_filled = False, True

    def ink(self, index: Index) -> str:
        """The colour of its letters."""
        del index
        return "text"


class TablePage(QTableView):
    """``copy_wanted`` carries rows and columns as ranges."""

    copy_wanted = Signal(object, object)

    def __init__(self, rows: TableRows) -> None:
        super().__init__()
        self.setModel(rows)
        self.setAccessibleName("Table")
        self.setItemDelegate(_Cells(self))
        self.setShowGrid(False)
        self.setSortingEnabled(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        heads = self.horizontalHeader()
        heads.setSectionsClickable(True)
        heads.setHighlightSections(False)
        heads.setStretchLastSection(True)
        heads.sectionClicked.connect(self._sort)
        heads.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setHighlightSections(False)
        self._order: tuple[int, bool] = (-1, False)
        self._fit = False
        rows.modelReset.connect(self._begin)
        rows.dataChanged.connect(self._came)
        self._dress()
        theme().changed.connect(self._dress)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy what is chosen, with all that stands in it; sort by the column where the keys are with Ctrl+Return."""
        chosen = self.selectionModel().selection()
        if event.matches(QKeySequence.StandardKey.Copy):
            if not chosen.isEmpty():
                rows = range(chosen.first().top(), chosen.first().bottom() + 1)
                self.copy_wanted.emit(rows, range(chosen.first().left(), chosen.first().right() + 1))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._sort(self.currentIndex().column())
        else:
            super().keyPressEvent(event)

    def _sort(self, column: int) -> None:
        """Up, down, and as it is written again."""
        if column < 0:
            return
        was, down = self._order
        self._order = (column, False) if was != column else (column, True) if not down else (-1, False)
        column, down = self._order
        order = Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicatorShown(column >= 0)
        if column >= 0:
            self.horizontalHeader().setSortIndicator(column, order)
        self.model().sort(column, order)

    def _begin(self) -> None:
        self._order, self._fit = (-1, False), True
        self.horizontalHeader().setSortIndicatorShown(False)
        self.scrollToTop()

    def _came(self) -> None:
        """The first rows say how wide the columns are."""
        if not self._fit or not self.model().index(0, 0).data():
            return
        self._fit = False
        rows, px, letters = self.model(), theme().px, QFontMetricsF(theme().font("small", 500))
        seen = range(min(SEEN, rows.rowCount()))
        for column in range(min(FITTED, rows.columnCount())):
            head = str(rows.headerData(column, Qt.Orientation.Horizontal) or "")
            cells = [str(rows.index(row, column).data() or "")[:WIDEST] for row in seen]
            wide = round(letters.horizontalAdvance(max((*cells, f"{head}   "), key=len))) + px(28)
            self.setColumnWidth(column, max(px(56), min(px(WIDEST), wide)))

    def _dress(self) -> None:
        t = theme()
        self.setFont(t.font("small"))
        self.verticalHeader().setDefaultSectionSize(t.px(ROW))
        self.verticalHeader().setMinimumWidth(t.px(48))
        self.horizontalHeader().setDefaultSectionSize(t.px(WIDE))
        self.horizontalHeader().setFixedHeight(t.px(32))
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setFont(t.font("caption"))


class _Values(_Cells):
    """A name, or a value in the colour of its kind."""

    is_mono, is_filled = True, False

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Rows as high as those of other lists of text."""
        return QSize(super().sizeHint(option, index).width(), theme().px(LINE))

    def ink(self, index: Index) -> str:
        """By what kind it is."""
        rows = index.model()
        kind = rows.kind(index) if isinstance(rows, TreeRows) else ""
        return "text" if index.column() == 0 else _KINDS.get(kind, "text-3")


class TreePage(QTreeView):
    """Values that are opened one by one. Ctrl+C copies what a value says."""

    copied = Signal(str)

    def __init__(self, rows: TreeRows) -> None:
        super().__init__()
        self.setModel(rows)
        self.setAccessibleName("Values")
        self.setItemDelegate(_Values(self))
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.header().setStretchLastSection(True)
        rows.modelReset.connect(lambda: self.expand(rows.index(0, 0)))
        self._dress()
        theme().changed.connect(self._dress)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the value where the keys are."""
        if event.matches(QKeySequence.StandardKey.Copy):
            words = str(self.currentIndex().siblingAtColumn(1).data() or "")
            QGuiApplication.clipboard().setText(words)
            self.copied.emit("Value copied")
        else:
            super().keyPressEvent(event)

    def _dress(self) -> None:
        t = theme()
        self.setFont(t.font("code"))
        self.setIndentation(t.px(18))
        self.header().resizeSection(0, t.px(220))
