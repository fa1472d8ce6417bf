"""The tree of what can be reached: painted rows, each with its tint, a bar, a glyph and words.

Qt's own lists lay every row out and ask the model about each; here a row's place is its number, so a folder of 100,000
names costs what is in sight.
"""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyleOptionViewItem

from desktop.presenter.settings.reach_tree import ROW, ReachTree, ShownRow
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, focus_ring, glyph, outline
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.shown import shown_line

HEIGHT = 29
"""Pixels at 100 %: 28 of row and the line below it."""
INDENT, EDGE, BAR = 18, 18, 4
LOOK_AFTER = 25
"""Milliseconds of rest after scrolling before what is in sight is judged."""
TYPED_WITHIN = 900
"""Milliseconds within which letters belong to one word."""
LOOKS = {
    "rule": ("allow", "allow"),
    "asks": ("ask", "ask"),
    "read_only": ("read", "read"),
    "denied": ("deny", "deny"),
    "protected": ("deny", "deny"),
    "special": ("deny", "deny"),
}
"""State -> (icon, token); what cannot be reached has none."""
ICONS = {"dir": "folder", "file": "file", "link": "link", "special": "unknown"}
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_STEPS = {
    QAbstractItemView.CursorAction.MoveUp: -1,
    QAbstractItemView.CursorAction.MovePrevious: -1,
    QAbstractItemView.CursorAction.MoveDown: 1,
    QAbstractItemView.CursorAction.MoveNext: 1,
}


class ReachDelegate(RowDelegate):
    """Draws a row of the tree: bar, chevron, icon, name, and at the right the glyph and words of its state."""

    height = HEIGHT

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The tint over the whole row; where keys go, a ring."""
        row: ShownRow | None = index.data(ROW)
        if row is None:
            return
        t = theme()
        box: QRect = option.rect.adjusted(0, 0, 0, -1)
        _, token = LOOKS.get(row.judged.state if row.judged is not None else "", ("", ""))
        painter.save()
        if token:
            painter.fillRect(box, t.color(f"{token}-soft"))
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if not token and (selected or option.state & QStyle.StateFlag.State_MouseOver):
            painter.fillRect(box, t.color("selected" if selected else "hover"))
        painter.fillRect(QRect(box.x(), box.bottom() + 1, box.width(), 1), t.color("surface"))
        painter.fillRect(QRect(box.x(), box.y(), t.px(BAR), box.height()), t.color(token or "border-strong"))
        self._draw(painter, box, row, token, selected)
        if option.state & QStyle.StateFlag.State_HasFocus:
            focus_ring(painter, box.toRectF(), 0)
        elif selected:
            outline(painter, box.toRectF(), 0, t.color("control-border"))
        painter.restore()

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """``paint`` does it all."""

    def _draw(self, painter: QPainter, box: QRect, row: ShownRow, token: str, selected: bool) -> None:
        t = theme()
        x = box.x() + t.px(EDGE) + row.depth * t.px(INDENT)
        if row.note:
            _text(painter, box.adjusted(x - box.x() + t.px(40), 0, -t.px(8), 0), row.note, "small", "text-2")
            return
        if row.opened is not None:
            side = t.px(14)
            place = QRect(x, box.y(), t.px(20), box.height())
            glyph(painter, place, "down" if row.opened else "right", "text" if token else "text-2", side)
        side = t.px(16)
        ink = "text" if token else "text-2"
        glyph(painter, QRect(x + t.px(22), box.y(), side, box.height()), ICONS[row.kind], ink, side)
        left = x + t.px(44)
        right = box.right() - t.px(8)
        used = self._words(painter, QRect(left, box.y(), right - left, box.height()), row, token)
        room = QRect(left, box.y(), right - left - used - t.px(12), box.height())
        _text(painter, room, shown_line(row.name), "code", ink, 500 if selected else None)
        taken = QFontMetrics(t.font("code")).horizontalAdvance(row.name) + t.px(10)
        if row.judged is not None and row.judged.target and taken < room.width() - t.px(60):
            leads = f"leads to {shown_line(row.judged.resolved or row.judged.target)}"
            _text(painter, room.adjusted(taken, 0, 0, 0), leads, "small", "text-2")

    @staticmethod
    def _words(painter: QPainter, box: QRect, row: ShownRow, token: str) -> int:
        """Glyph and words at the right; returns their width."""
        t = theme()
        if row.judged is None:
            return 0
        weight = 500 if token else None
        words = elided(row.judged.words, "small", box.width() * 3 // 5, weight=weight)
        width = QFontMetrics(t.font("small", weight)).horizontalAdvance(words) + 1
        place = QRect(box.right() + 1 - width, box.y(), width, box.height())
        _text(painter, place, words, "small", token or "text-2", weight)
        icon, _ = LOOKS.get(row.judged.state, ("", ""))
        if not icon:
            return width
        side = t.px(14)
        glyph(painter, QRect(place.x() - side - t.px(5), box.y(), side, box.height()), icon, token, side)
        return width + side + t.px(5)


def _timer(owner: RowList, milliseconds: int) -> QTimer:
    made = QTimer(owner)
    made.setSingleShot(True)
    made.setInterval(milliseconds)
    return made


def _text(painter: QPainter, rect: QRect, text: str, role: str, token: str, weight: int | None = None) -> None:
    if rect.width() > 0:
        painter.setFont(theme().font(role, weight))
        painter.setPen(theme().color(token))
        painter.drawText(rect, _LEFT, elided(text, role, rect.width() + 1, weight=weight, middle=role == "code"))


class ReachList(RowList):
    """``opening(row)``, ``closing(row)``: the person wants that; ``seen(first, last)``: these rows are in sight;
    ``chosen(row)``: another one is current; ``menu_wanted(row, point)``."""

    opening = Signal(int)
    closing = Signal(int)
    seen = Signal(int, int)
    chosen = Signal(int)
    again = Signal(int)
    menu_wanted = Signal(int, QPoint)

    def __init__(self, tree: ReachTree) -> None:
        self._tree = tree  # before anything: Qt asks where rows are while the list is being made
        super().__init__("What can be reached", ReachDelegate())
        self._look, self._pause = _timer(self, LOOK_AFTER), _timer(self, TYPED_WITHIN)
        self._look.timeout.connect(self._tell_seen)
        self._typed = ""
        self.setModel(tree)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        theme().changed.connect(self._dress)

    def _dress(self) -> None:
        self.updateGeometries()
        self.viewport().update()

    # -- where rows are -----------------------------------------------------------------------------------------------

    def _pitch(self) -> int:
        return max(1, theme().px(HEIGHT))

    def rows_in_sight(self) -> tuple[int, int]:
        """The first and the last."""
        pitch, top = self._pitch(), self.verticalScrollBar().value()
        last = (top + self.viewport().height() - 1) // pitch
        return top // pitch, min(last, self._tree.rowCount() - 1)

    def doItemsLayout(self) -> None:
        """Nothing is laid out: only the height of it all changes."""
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        """The scroll bar's range."""
        QAbstractItemView.updateGeometries(self)
        if self.model() is None:  # while it is being made
            return
        pitch, height = self._pitch(), self.viewport().height()
        bar = self.verticalScrollBar()
        bar.setSingleStep(pitch)
        bar.setPageStep(max(pitch, height - pitch))
        bar.setRange(0, max(0, self._tree.rowCount() * pitch - height))
        self._look.start()

    def visualRect(self, index: Index) -> QRect:
        """Where a row is in the viewport."""
        if not index.isValid():
            return QRect()
        return QRect(0, index.row() * self._pitch() - self.verticalOffset(), self.viewport().width(), self._pitch())

    def indexAt(self, point: QPoint) -> QModelIndex:
        """The row at a point of the viewport."""
        row = (point.y() + self.verticalOffset()) // self._pitch()
        if self.model() is None:
            return QModelIndex()
        return self._tree.index(row) if 0 <= row < self._tree.rowCount() else QModelIndex()

    def verticalOffset(self) -> int:
        """The number of pixels scrolled."""
        return self.verticalScrollBar().value()

    def horizontalOffset(self) -> int:
        """Always 0: nothing scrolls sideways."""
        return 0

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        """Bring a row into sight."""
        rect, bar, height = self.visualRect(index), self.verticalScrollBar(), self.viewport().height()
        if hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - height // 2)
        elif rect.top() < 0:
            bar.setValue(bar.value() + rect.top())
        elif rect.bottom() >= height:
            bar.setValue(bar.value() + rect.bottom() - height + 1)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Emit the row that became current."""
        super().currentChanged(current, previous)
        self.chosen.emit(current.row())

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Draw the rows that came into view."""
        self.viewport().update()
        self._look.start()

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """One row at a time."""
        self.selectionModel().select(self.indexAt(rect.topLeft()), command)

    def visualRegionForSelection(self, selection: object) -> QRegion:
        """What to paint anew when that changes."""
        return QRegion(self.viewport().rect())

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """The row that a key leads to: up and down, a page, the ends."""
        count, at = self._tree.rowCount(), self.currentIndex().row()
        page = max(1, self.viewport().height() // self._pitch() - 1)
        steps = {
            **_STEPS,
            QAbstractItemView.CursorAction.MovePageUp: -page,
            QAbstractItemView.CursorAction.MovePageDown: page,
            QAbstractItemView.CursorAction.MoveHome: -count,
            QAbstractItemView.CursorAction.MoveEnd: count,
        }
        return self._tree.index(min(count - 1, max(0, at + steps.get(action, 0))))

    # -- painting -----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows in sight."""
        painter = QPainter(self.viewport())
        first, last = self.rows_in_sight()
        current, hovered = self.currentIndex().row(), self._hovered()
        for row in range(first, last + 1):
            index = self._tree.index(row)
            option = QStyleOptionViewItem()
            self.initViewItemOption(option)
            option.rect = self.visualRect(index)
            state = QStyle.StateFlag.State_Enabled
            if row == current:
                state |= QStyle.StateFlag.State_Selected
                state |= QStyle.StateFlag.State_HasFocus if self.hasFocus() else QStyle.StateFlag.State_None
            elif row == hovered:
                state |= QStyle.StateFlag.State_MouseOver
            option.state = state
            self.itemDelegate().paint(painter, option, index)

    def _hovered(self) -> int:
        if not self.viewport().underMouse():
            return -1
        return self.indexAt(self.viewport().mapFromGlobal(self.cursor().pos())).row()

    def _tell_seen(self) -> None:
        if self.isVisible():
            self.seen.emit(*self.rows_in_sight())

    # -- acting -------------------------------------------------------------------------------------------------------

    def _toggle(self, row: int) -> None:
        found = self._tree.shown(row)
        if found.opened is not None:
            (self.closing if found.opened else self.opening).emit(row)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the chevron opens or closes."""
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.button() == Qt.MouseButton.LeftButton:
            left = theme().px(EDGE) + self._tree.shown(index.row()).depth * theme().px(INDENT)
            if left - theme().px(4) <= event.position().x() < left + theme().px(22):
                self._toggle(index.row())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Anywhere on the row."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self._toggle(index.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Right opens and goes in, Left closes and goes up, Return and Space do either; F5 reads anew."""
        row = self.currentIndex().row()
        key = event.key()
        if row < 0:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Right:
            self._inward(row)
        elif key == Qt.Key.Key_Left:
            self._outward(row)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._toggle(row)
        elif key == Qt.Key.Key_F5:
            self.again.emit(row)
        else:
            super().keyPressEvent(event)

    def _inward(self, row: int) -> None:
        opened = self._tree.shown(row).opened
        if opened is False:
            self.opening.emit(row)
        elif opened and row + 1 < self._tree.rowCount():
            self.go_to(row + 1)

    def _outward(self, row: int) -> None:
        if self._tree.shown(row).opened:
            self.closing.emit(row)
        elif (above := self._tree.above(row)) >= 0:
            self.go_to(above)

    def go_to(self, row: int) -> None:
        """Make a row the current one, in sight."""
        index = self._tree.index(row)
        self.setCurrentIndex(index)
        self.scrollTo(index)

    def keyboardSearch(self, search: str) -> None:
        """Type to find: what is typed quickly is one word; the same letter again goes on to the next."""
        now = self._typed + search if self._pause.isActive() else search
        self._pause.start()
        again = len(now) > 1 and len(set(now)) == 1
        self._typed = now
        row = self._tree.begins_with(now, self.currentIndex().row(), onward=len(now) == 1)
        if row < 0 and again:
            row = self._tree.begins_with(now[0], self.currentIndex().row(), onward=True)
        if row >= 0:
            self.go_to(row)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """For the row under the pointer, or the current one."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            self.setCurrentIndex(index)
            point = self.visualRect(index).center() if by_key else event.pos()
            self.menu_wanted.emit(index.row(), self.viewport().mapToGlobal(point))
