"""The tree of what can be reached: painted rows, each with its tint, a bar, a glyph and words.

Qt's own lists lay every row out and ask the model about each; here a row's place is its number, so a folder of 100,000
names costs what is in sight.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from desktop.presenter.settings.reach_tree import ROW, ReachTree, ShownRow
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, focus_ring, glyph, outline
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, RowDelegate
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


def _text(painter: QPainter, rect: QRect, text: str, role: str, token: str, weight: int | None = None) -> None:
    if rect.width() > 0:
        painter.setFont(theme().font(role, weight))
        painter.setPen(theme().color(token))
        painter.drawText(rect, _LEFT, elided(text, role, rect.width() + 1, weight=weight, middle=role == "code"))


class ReachList(FixedRows):
    """``opening(row)``, ``closing(row)``: the person wants that; ``seen(first, last)``: these rows are in sight;
    ``chosen(row)``: another one is current; ``menu_wanted(row, point)``."""

    opening = Signal(int)
    closing = Signal(int)
    seen = Signal(int, int)
    chosen = Signal(int)
    again = Signal(int)
    menu_wanted = Signal(int, QPoint)

    _look: QTimer | None = None  # Qt asks where rows are while the list is being made

    def __init__(self, tree: ReachTree) -> None:
        super().__init__("What can be reached", ReachDelegate())
        self._tree = tree
        self._look = QTimer(self, singleShot=True, interval=LOOK_AFTER)
        self._pause = QTimer(self, singleShot=True, interval=TYPED_WITHIN)
        self._look.timeout.connect(self._tell_seen)
        self._typed = ""
        self.setModel(tree)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

    # -- where rows are -----------------------------------------------------------------------------------------------

    def updateGeometries(self) -> None:
        """A page ends with the row with which the next one begins."""
        super().updateGeometries()
        self.verticalScrollBar().setPageStep(max(self.row_height, self.viewport().height() - self.row_height))
        if self._look is not None:
            self._look.start()

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Emit the row that became current."""
        super().currentChanged(current, previous)
        self.chosen.emit(current.row())

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Other rows came into view."""
        super().scrollContentsBy(dx, dy)
        if self._look is not None:
            self._look.start()

    def _tell_seen(self) -> None:
        if self.isVisible():
            rows = self.rows_in_sight()
            self.seen.emit(rows.start, rows.stop - 1)

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
