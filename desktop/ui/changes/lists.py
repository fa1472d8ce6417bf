"""The two lists of the Changes panel: the files against the beginning, and the calls, the oldest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter

from desktop.presenter.changes.rows import ChangeRow, FileRow
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge, badge_size, elided, glyph
from desktop.ui.widgets.fixed_rows import FixedRows
from desktop.ui.widgets.rows import Index, LinesModel, RowDelegate
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

LINE = int(Qt.ItemDataRole.UserRole)
SHOWN = 300
"""Characters of a path that are drawn at most."""
FOLD = 18
"""Pixels for the arrow of a row that stands for several calls, and by which theirs begin further right."""
FIGURES = 96
"""Pixels at the right for lines that came and went."""
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


def figures(added: int, removed: int) -> list[tuple[str, str]]:
    """``+19``, ``−9``, each with its colour; what is 0 is left out."""
    found = ((f"+{added:,}", "diff-add", added), (f"−{removed:,}", "diff-del", removed))
    return [(text, token) for text, token, count in found if count]


def draw_figures(painter: QPainter, room: QRect, added: int, removed: int) -> int:
    """At the right of a row; returns the width."""
    t = theme()
    font = t.font("small", 500)
    font.setFeature(QFont.Tag("tnum"), 1)
    painter.setFont(font)
    right = room.right() + 1
    for text, token in reversed(figures(added, removed)):
        width = QFontMetrics(font).horizontalAdvance(text)
        painter.setPen(t.color(token))
        painter.drawText(QRect(right - width, room.y(), width, room.height()), _RIGHT, text)
        right -= width + t.px(7)
    return room.right() + 1 - right


class _Dimming(RowDelegate):
    """Rows that have nothing to do with what is chosen in the other list are quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.dims: frozenset[str] | None = None
        """What is chosen; None: nothing, and no row is dimmed."""

    def is_dim(self, touched: frozenset[str]) -> bool:
        """Whether a row is quiet."""
        return self.dims is not None and not touched & self.dims


class FileDelegate(_Dimming):
    """Glyph, name over who changed it, what became of it, figures."""

    height = 44

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one file."""
        t, row = theme(), index.data(LINE)
        px = t.px
        dim = self.is_dim(row.change_ids)
        gone = row.word == "deleted"
        token = "text-3" if dim else "admin" if gone else "text-2"
        glyph(painter, QRect(box.x() + px(8), box.y(), px(16), box.height()), row.icon, token, px(16))
        right = self._draw_end(painter, box.adjusted(0, 0, -px(8), 0), row, dim=dim)
        words = QRect(box.x() + px(34), box.y() + px(4), right - px(10) - box.x() - px(34), px(20))
        self._draw_name(painter, words, row, dim=dim, selected=selected)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-3" if dim else "text-2"))
        said = elided(shown_line(row.who[:SHOWN]), "small", words.width())
        painter.drawText(words.adjusted(0, px(18), 0, px(16)), _LEFT, said)

    def _draw_name(self, painter: QPainter, room: QRect, row: FileRow, *, dim: bool, selected: bool) -> None:
        t = theme()
        quiet = dim or row.icon == "undo"
        font = t.font("code", 500 if selected else None)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        painter.setPen(t.color("text-3" if dim else "text-2" if quiet else "text"))
        more = metrics.horizontalAdvance(row.more)
        name = metrics.elidedText(
            shown_line(row.name[-SHOWN:]), Qt.TextElideMode.ElideMiddle, max(0, room.width() - more)
        )
        painter.drawText(room, _LEFT, name)
        if row.more:
            painter.setPen(t.color("text-3" if dim else "text-2"))
            painter.drawText(room.adjusted(metrics.horizontalAdvance(name), 0, 0, 0), _LEFT, row.more)

    def _draw_end(self, painter: QPainter, box: QRect, row: FileRow, *, dim: bool) -> int:
        """The word and the figures; where they begin."""
        t = theme()
        draw_figures(painter, box, row.added, row.removed)
        right = box.right() + 1
        if row.added or row.removed:
            right -= t.px(FIGURES)
        if row.word == "changed since":
            width = badge_size("changed since").width()
            badge(painter, QRect(right - width, box.y(), width, box.height()), "changed since")
            return right - width
        font = t.font("small", 500 if row.word == "deleted" else None)
        painter.setFont(font)
        painter.setPen(t.color("text-3" if dim else "admin" if row.word == "deleted" else "text-2"))
        width = QFontMetrics(font).horizontalAdvance(row.word)
        painter.drawText(QRect(right - width, box.y(), width, box.height()), _RIGHT, row.word)
        return right - width


class CallDelegate(_Dimming):
    """Time, glyph, who, which files, figures. ``is_unfolded`` says of a row whether its calls are below it."""

    height = 32

    def __init__(self) -> None:
        super().__init__()
        self.is_unfolded: Callable[[ChangeRow], bool] = lambda _row: False

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one call."""
        t, row = theme(), index.data(LINE)
        px = t.px
        dim = self.is_dim(row.paths) or bool(row.note)
        small = t.font("small")
        small.setFeature(QFont.Tag("tnum"), 1)
        painter.setFont(small)
        painter.setPen(t.color("text-3" if self.is_dim(row.paths) else "text-2"))
        painter.drawText(box.adjusted(px(8), 0, 0, 0), _LEFT, row.time)
        token = "info" if row.icon == "retry" else "text-3" if dim else "text-2"
        glyph(painter, QRect(box.x() + px(54), box.y(), px(16), box.height()), row.icon, token, px(16))
        right = self._draw_end(painter, box.adjusted(0, 0, -px(8), 0), row)
        left = box.x() + px(80 + (FOLD if row.is_inner else 0))
        if row.inner:
            place = QRect(left - px(4), box.y(), px(14), box.height())
            glyph(painter, place, "down" if self.is_unfolded(row) else "right", "text-2", px(14))
            left += px(FOLD - 4)
        room = max(0, right - px(10) - left)
        font = t.font("body", 500 if selected else None)
        said = elided(shown_line(row.who[:SHOWN]), "body", room * 7 // 10, weight=500 if selected else None)
        painter.setFont(font)
        painter.setPen(t.color("text-2" if dim else "text"))
        painter.drawText(QRect(left, box.y(), room, box.height()), _LEFT, said)
        taken = QFontMetrics(font).horizontalAdvance(said) + px(8)
        code = t.font("code")
        painter.setFont(code)
        painter.setPen(t.color("text-3" if self.is_dim(row.paths) else "text-2"))
        what = QFontMetrics(code).elidedText(
            shown_line(row.what[:SHOWN]), Qt.TextElideMode.ElideMiddle, max(0, room - taken)
        )
        painter.drawText(QRect(left + taken, box.y(), max(0, room - taken), box.height()), _LEFT, what)

    def _draw_end(self, painter: QPainter, box: QRect, row: ChangeRow) -> int:
        t = theme()
        if not row.note:
            return box.right() + 1 - draw_figures(painter, box, row.added, row.removed)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        painter.drawText(box, _RIGHT, row.note)
        return box.right() + 1 - QFontMetrics(t.font("small")).horizontalAdvance(row.note)


class _Rows(LinesModel):
    def __init__(self) -> None:
        super().__init__()
        self.is_unfolded: Callable[[ChangeRow], bool] = lambda _row: False

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.lines[index.row()]
        if role == LINE:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            fold = (", unfolded" if self.is_unfolded(line) else ", folded") if getattr(line, "inner", ()) else ""
            return spoken(line) + fold
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(spoken(line))
        return None


def spoken(line: FileRow | ChangeRow) -> str:
    """A row, read aloud."""
    numbers = ", ".join(text for text, _ in figures(line.added, line.removed))
    parts: tuple[str, ...]
    if isinstance(line, FileRow):
        parts = (f"{line.name}{line.more}", line.word, numbers, line.who)
    else:
        parts = (line.time, line.who, line.what, line.note or numbers)
    return shown_line(", ".join(part for part in parts if part)[: 2 * SHOWN])


class ChangeRows(FixedRows):
    """``chosen``: another row has the keys. ``undo_wanted``: Return or Delete on it. ``fold_wanted``: a row that stands
    for several, and whether they are to have rows; arrows to the sides, or a click on its arrow."""

    chosen = Signal(object)
    fold_wanted = Signal(object, bool)
    undo_wanted = Signal(object)

    def __init__(self, name: str, delegate: _Dimming) -> None:
        super().__init__(name, delegate)
        self._painted = delegate
        self.rows = _Rows()
        self.rows.setParent(self)
        self.setModel(self.rows)
        self.selectionModel().currentChanged.connect(self._moved)
        self.activated.connect(lambda index: self.undo_wanted.emit(index.data(LINE)))

    def tell_folds(self, is_unfolded: Callable[[ChangeRow], bool]) -> None:
        """``is_unfolded`` says of a row whether its calls are below it."""
        self.rows.is_unfolded = is_unfolded
        if isinstance(self._painted, CallDelegate):
            self._painted.is_unfolded = is_unfolded

    @property
    def current(self) -> Any:
        """The row that has the keys, or None."""
        index = self.currentIndex()
        return index.data(LINE) if index.isValid() else None

    def show_rows(self, lines: list[Any], key: str) -> None:
        """Show these; the one chosen stays so, if it is still there. ``key``: the field by which it is known."""
        current = self.current
        wanted = getattr(current, key) if current is not None else None
        self.rows.reset(lines)
        row = next((at for at, line in enumerate(lines) if getattr(line, key) == wanted), -1) if current else -1
        self.select(row)
        self.updateGeometries()

    def select(self, row: int) -> None:
        """Choose a row; -1: none."""
        index = self.rows.index(row) if row >= 0 else QModelIndex()
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def dim_but(self, touched: frozenset[str] | None) -> None:
        """Quiet the rows that have nothing to do with these; None: none."""
        self._painted.dims = touched
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right fold; left on one of several goes to the row that stands for them."""
        row, key = self.current, event.key()
        if isinstance(row, ChangeRow) and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            if row.inner:
                self.fold_wanted.emit(row, key == Qt.Key.Key_Right)
            elif row.is_inner and key == Qt.Key.Key_Left:
                self.select(max(at for at in range(self.currentIndex().row()) if self.rows.lines[at].inner))
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the arrow folds."""
        row = self.indexAt(event.position().toPoint()).data(LINE)
        begin = theme().px(self._painted.inset + 76)
        if isinstance(row, ChangeRow) and row.inner and begin <= event.position().x() < begin + theme().px(FOLD):
            self.fold_wanted.emit(row, not self.rows.is_unfolded(row))
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        self.chosen.emit(now.data(LINE) if now.isValid() else None)
