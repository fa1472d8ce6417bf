"""The rows of what a command did: folders that fold, files with ticks."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from desktop.domain.files.outcomes import LineFigures
from desktop.presenter.approvals.outcome_row_words import kinds_words, spoken
from desktop.presenter.approvals.outcome_rows import OutcomeRow, OutcomeRows, TickedFile, TickedFolder
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, outline
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, LinesModel, RowDelegate, tick
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

ROW = Qt.ItemDataRole.UserRole
TICKED = Qt.ItemDataRole.CheckStateRole
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)
_GLYPHS = {"made": "new", "changed": "write", "deleted": "delete", "renamed": "swap", "rights": "lock"}
_WORD = 64
"""Pixels at 100 % for the word of what was done."""
_STATES = {"all": Qt.CheckState.Checked, "some": Qt.CheckState.PartiallyChecked, "none": Qt.CheckState.Unchecked}


class OutcomeModel(LinesModel):
    """The rows of an outcome for Qt."""

    def __init__(self, rows: OutcomeRows) -> None:
        super().__init__()
        self.rows = rows
        self.reset(rows.rows)
        rows.changed.connect(self._ticked)
        rows.reset.connect(lambda: self.follow(rows.rows, _alike))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The row, its box, or what a screen reader says."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        row: OutcomeRow = self.lines[index.row()]
        node = row.node
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return node if isinstance(node, str) else shown_line(node.label)
        if role == TICKED and not isinstance(node, str):
            return state_of(node)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return shown_line(spoken(node))
        if role == Qt.ItemDataRole.ToolTipRole and not isinstance(node, str):
            return plain_tip(shown_line(node.path[:600]))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings are only read; what has to be opened first has no box to turn."""
        row = self.data(index, ROW)
        if row is None or isinstance(row.node, str):
            return Qt.ItemFlag.ItemIsEnabled
        base = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        waits = isinstance(row.node, TickedFile) and row.node.waits
        return base if waits else base | Qt.ItemFlag.ItemIsUserCheckable

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Tick, or untick."""
        row = self.data(index, ROW)
        if role != TICKED or row is None or isinstance(row.node, str):
            return False
        self.rows.tick(row.node, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def _ticked(self) -> None:
        if self.lines:
            self.dataChanged.emit(self.index(0), self.index(len(self.lines) - 1), [TICKED])


class OutcomeDelegate(RowDelegate):
    """Draws a row."""

    height = 28
    inset = 0

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """The box, the glyph and the word of what was done, the path, the lines."""
        t = theme()
        row: OutcomeRow = index.data(ROW)
        if isinstance(row.node, str):
            _text(painter, box.adjusted(t.px(12), 0, -t.px(8), 0), row.node, "small", "text-3")
            return
        left, right = box.x() + t.px(12) + row.depth * t.px(18), box.right() - t.px(10)
        tick_box(painter, QRect(left, box.y(), t.px(16), box.height()), state_of(row.node))
        left += t.px(26)
        right -= self._figures(painter, QRect(left, box.y(), right - left, box.height()), row.node)
        if isinstance(row.node, TickedFolder):
            self._folder(painter, QRect(left, box.y(), right - left, box.height()), row.node, selected)
        else:
            self._leaf(painter, QRect(left, box.y(), right - left, box.height()), row.node, selected)

    @staticmethod
    def _folder(painter: QPainter, line: QRect, folder: TickedFolder, selected: bool) -> None:
        t = theme()
        side = t.px(14)
        place = QRect(line.x() - t.px(2), line.y(), side, line.height())
        glyph(painter, place, "down" if folder.unfolded else "right", "text-2", side)
        words = kinds_words(folder.kinds)
        width = _width(painter, words, "small")
        room = line.adjusted(t.px(20), 0, -t.px(8), 0)
        if room.width() - width > t.px(80):
            _text(painter, room, words, "small", "text-2", _RIGHT)
            room.adjust(0, 0, -width - t.px(10), 0)
        _text(painter, room, shown_line(folder.label), "code", "text", weight=500 if selected else None)

    @staticmethod
    def _leaf(painter: QPainter, line: QRect, leaf: TickedFile, selected: bool) -> None:
        t = theme()
        side = t.px(14)
        gone = leaf.kind == "deleted"
        name, token = ("retry", "info") if leaf.meanwhile else (_GLYPHS[leaf.kind], "deny" if gone else "text-2")
        glyph(painter, QRect(line.x() - t.px(2), line.y(), side, line.height()), name, token, side)
        room = line.adjusted(t.px(18), 0, -t.px(8), 0)
        if not leaf.meanwhile and room.width() > t.px(_WORD + 90):
            _text(painter, room, leaf.kind, "small", token if gone else "text-2")
            room.adjust(t.px(_WORD), 0, 0, 0)
        label = shown_line(leaf.label)
        if leaf.kind == "renamed":
            label = f"{shown_line(leaf.detail)} → {label}"
        elif leaf.detail and not leaf.meanwhile:
            label = f"{label}  {leaf.detail}"
        _text(painter, room, label, "code", "text" if leaf.ticked else "text-2", weight=500 if selected else None)

    @staticmethod
    def _figures(painter: QPainter, line: QRect, node: TickedFolder | TickedFile) -> int:
        """The lines at the right, or that it has to be opened; the width that they take."""
        t = theme()
        if isinstance(node, TickedFile) and node.waits and not node.meanwhile:
            _text(painter, line, "open it first", "small", "ask", _RIGHT)
            return _width(painter, "open it first", "small") + t.px(8)
        if isinstance(node, TickedFile) and node.meanwhile and node.detail:
            _text(painter, line, node.detail, "small", "text-2", _RIGHT)
            return _width(painter, node.detail, "small") + t.px(8)
        taken = 0
        for words, token in reversed(figures_words(node.figures)):
            _text(painter, line.adjusted(0, 0, -taken, 0), words, "small", token, _RIGHT)
            taken += _width(painter, words, "small") + t.px(6)
        return taken

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the box, or Space, ticks."""
        row = index.data(ROW)
        depth = row.depth if isinstance(row, OutcomeRow) else 0
        return tick(event, model, index, TICKED, option.rect.x() + theme().px(34 + 18 * depth))


class OutcomeList(FixedRows):
    """The list. ``opened`` carries the row that is the current one, a folder or a leaf; arrows to the sides fold."""

    opened = Signal(object)

    def __init__(self, rows: OutcomeRows) -> None:
        super().__init__("What it did: Space ticks, left and right fold", OutcomeDelegate())
        self._outcome = OutcomeModel(rows)
        self.setModel(self._outcome)
        self.selectionModel().currentChanged.connect(self._current)
        self.doubleClicked.connect(self._turn)

    def show_first(self) -> None:
        """Open the first thing that was done."""
        for at, row in enumerate(self._outcome.lines):
            if isinstance(row.node, TickedFile):
                self.setCurrentIndex(self._outcome.index(at))
                return
        if self._outcome.lines:
            self.setCurrentIndex(self._outcome.index(0))

    def _current(self, now: Index, _before: Index) -> None:
        row = now.data(ROW)
        if isinstance(row, OutcomeRow) and not isinstance(row.node, str):
            self.opened.emit(row.node)

    def _turn(self, index: Index) -> None:
        row = index.data(ROW)
        if isinstance(row, OutcomeRow) and isinstance(row.node, TickedFolder):
            self._outcome.rows.unfold(row.node, not row.node.unfolded)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the arrow folds."""
        index = self.indexAt(event.position().toPoint())
        row = index.data(ROW)
        if isinstance(row, OutcomeRow) and isinstance(row.node, TickedFolder):
            t, begin = theme(), theme().px(34 + 18 * row.depth)
            if begin < event.position().x() - self.visualRect(index).x() < begin + t.px(22):
                self._outcome.rows.unfold(row.node, not row.node.unfolded)
                event.accept()
                return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right fold, Space ticks."""
        row = self.currentIndex().data(ROW)
        key, node = event.key(), row.node if isinstance(row, OutcomeRow) else ""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()  # it answers the request
            return
        if isinstance(node, TickedFolder) and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._outcome.rows.unfold(node, key == Qt.Key.Key_Right)
        elif key == Qt.Key.Key_Space and not isinstance(node, str):
            index = self.currentIndex()
            on = cast("Qt.CheckState", self._outcome.data(index, TICKED)) is Qt.CheckState.Checked
            self._outcome.setData(index, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked, TICKED)
        else:
            super().keyPressEvent(event)


def state_of(node: TickedFolder | TickedFile) -> Qt.CheckState:
    """The tick of a row."""
    if isinstance(node, TickedFolder):
        return _STATES[node.ticked]
    return Qt.CheckState.Checked if node.ticked else Qt.CheckState.Unchecked


def figures_words(figures: LineFigures | None) -> list[tuple[str, str]]:
    """The words and their colours."""
    if figures is None:
        return []
    shown = [(f"+{figures.added:,}", "diff-add")] if figures.added else []
    return [*shown, *([(f"−{figures.removed:,}", "diff-del")] if figures.removed else [])]


def tick_box(painter: QPainter, line: QRect, state: Qt.CheckState) -> None:
    """A box with a tick, a dash, or nothing in it."""
    t = theme()
    side = t.px(16)
    mark = QRect(line.x(), line.y() + (line.height() - side) // 2, side, side)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if state == Qt.CheckState.Unchecked:
        outline(painter, mark.toRectF(), t.px(4), t.color("control-border"))
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(t.color("accent"))
    painter.drawRoundedRect(mark, t.px(4), t.px(4))
    if state == Qt.CheckState.Checked:
        glyph(painter, mark, "allow", "on-accent", t.px(14))
    else:
        painter.fillRect(
            QRect(mark.x() + t.px(4), mark.center().y(), side - 2 * t.px(4), t.px(2)), t.color("on-accent")
        )


def _text(
    painter: QPainter, room: QRect, words: str, role: str, token: str, flags: int = _LEFT, weight: int | None = None
) -> None:
    painter.setFont(theme().font(role, weight))
    painter.setPen(theme().color(token))
    painter.drawText(room, flags, elided(words, role, room.width(), weight=weight, middle=role == "code"))


def _width(painter: QPainter, words: str, role: str) -> int:
    painter.setFont(theme().font(role))
    return painter.fontMetrics().horizontalAdvance(words)


def _alike(one: list[Any], other: list[Any]) -> int:
    """How many rows are the same from the beginning."""
    pairs = zip(one, other, strict=False)
    return next(
        (at for at, (a, b) in enumerate(pairs) if a.node is not b.node or a.depth != b.depth), min(len(one), len(other))
    )
