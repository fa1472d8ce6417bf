"""The list of the activity log: painted rows of one height; older ones are read as one scrolls down to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPainter

from desktop.domain.approval.audit import AuditRow
from desktop.domain.approval.judgement import Category
from desktop.presenter.approvals.call_words import CallWords, call_words, outcome_shown, spoken_words
from desktop.ui.approvals.activity.words import NOTES, decision_word, facts, spoken, when, who
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge, elided, glyph, state
from desktop.ui.widgets.layout.column_heads import Heads
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

ROW = int(Qt.ItemDataRole.UserRole)
CALL = ROW + 1
INSET, EDGE = 12, 12
TIME, DECISION, TOOL, CATEGORY, OUTCOME, WHO = 104, 92, 124, 84, 128, 120
MINIMUM = 180
"""Pixels at 100 % that *What* keeps before columns beside it give way."""
TIP = 10
"""Facts that a tooltip tells."""
SHOWN = 300
"""Characters of a summary that a row lays out."""
CATEGORIES = frozenset(Category)
STATES = {"allowed": "allow", "refused": "deny", "denied": "deny"}
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


class ActivityColumns(NamedTuple):
    """Where the columns of a box are; a width of 0: there is no room for it."""

    time: QRect
    decision: QRect
    tool: QRect
    category: QRect
    what: QRect
    outcome: QRect
    who: QRect


def columns(box: QRect) -> ActivityColumns:
    """The same for the heads and for each row; who decided goes first, then the category, the outcome, the tool."""
    px = theme().px
    room = box.width() - px(EDGE + TIME + DECISION + MINIMUM)
    kept = {"tool": 0, "outcome": 0, "category": 0, "who": 0}
    for name, width in (("tool", TOOL), ("outcome", OUTCOME), ("category", CATEGORY), ("who", WHO)):
        if room < px(width):
            break
        kept[name] = px(width)
        room -= px(width)
    widths = (
        px(TIME),
        px(DECISION),
        kept["tool"],
        kept["category"],
        px(MINIMUM) + max(0, room),
        kept["outcome"],
        kept["who"],
    )
    x, rects = box.x() + px(EDGE), []
    for width in widths:
        rects.append(QRect(x, box.y(), width, box.height()))
        x += width
    return ActivityColumns(*rects)


class ActivityModel(QAbstractListModel):
    """The rows of the list, newest first. ``titles`` are what a person reads of agents, by their names."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        super().__init__()
        self._titles = titles
        self._rows: list[AuditRow] = []

    def replace(self, rows: Sequence[AuditRow]) -> None:
        """Show other rows; rows that stay in their places stay selected."""
        if [row.number for row in rows] == [row.number for row in self._rows]:
            changed = [at for at, (old, new) in enumerate(zip(self._rows, rows, strict=True)) if old != new]
            self._rows = list(rows)
            for at in changed:
                self.dataChanged.emit(self.index(at), self.index(at))
            return
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def add(self, rows: Sequence[AuditRow], gone: int, *, newer: bool) -> None:
        """Rows at one end; so many at the other go."""
        if rows:
            at = 0 if newer else len(self._rows)
            self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
            self._rows[at:at] = rows
            self.endInsertRows()
        if gone:
            first = len(self._rows) - gone if newer else 0
            self.beginRemoveRows(QModelIndex(), first, first + gone - 1)
            del self._rows[first : first + gone]
            self.endRemoveRows()

    def place(self, number: int) -> int:
        """The place of a line, or -1."""
        return next((at for at, row in enumerate(self._rows) if row.number == number), -1)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many are read."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The record under ``ROW``, the words of its call under ``CALL``."""
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role == CALL:
            return call_words(row.entry, self._titles)
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_line(row.note) if row.note else spoken_words(row.entry, self._titles)[:SHOWN]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row, self._titles)
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = (f"{fact.name}: {shown_line(fact.text[:SHOWN])}" for fact in facts(row, "", self._titles)[:TIP])
            return plain_tip("\n".join(lines))
        return None


def heads(box: QRect) -> Heads:
    """The names of the columns."""
    names = ("Time", "Decision", "Tool", "Category", "What", "Outcome", "By")
    return ((rect, name, Qt.AlignmentFlag.AlignLeft) for rect, name in zip(columns(box), names, strict=True))


class ActivityDelegate(RowDelegate):
    """Time, decision, tool, category, what, what came of it, who."""

    height = 36
    inset = INSET

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """One line of columns."""
        row: AuditRow = index.data(ROW)
        entry, at, px = row.entry, columns(box), theme().px
        gap = px(8)
        _write(painter, at.time.adjusted(0, 0, -gap, 0), when(entry.at), "small", "text-2")
        if row.note:
            rest = QRect(at.decision.x(), box.y(), box.right() - at.decision.x() - gap, box.height())
            width = _note(painter, rest, row.kind)
            _write(painter, rest.adjusted(width + px(12), 0, 0, 0), row.note, "small", "text-2")
            return
        word = decision_word(entry)
        known = word in STATES or word == "edited"
        if known:
            state(painter, at.decision, STATES.get(word, word), word)
        else:
            _write(painter, at.decision.adjusted(0, 0, -gap, 0), shown_line(word[:80]), "small", "text-2", 500)
        call: CallWords = index.data(CALL)
        what, tool = shown_line(call.what[:SHOWN]), shown_line(call.tool[:80])
        font = "small" if call.plain else "code"
        if at.tool.width():
            _write(painter, at.tool.adjusted(0, 0, -gap, 0), tool, font, "text", 500)
        else:
            what = f"{tool} {what}"
        if at.category.width() and entry.category in CATEGORIES:
            badge(painter, at.category, entry.category)
        _write(painter, at.what.adjusted(0, 0, -gap, 0), what, font, "text-2")
        outcome = shown_line(outcome_shown(entry)[:80])
        failed = "failed" in (outcome[:6], outcome[-6:])
        _write(painter, at.outcome.adjusted(0, 0, -gap, 0), outcome, "small", "failed" if failed else "text-2")
        _write(painter, at.who.adjusted(0, 0, -gap, 0), who(entry), "small", "text-2")


def _note(painter: QPainter, rest: QRect, kind: str) -> int:
    """What a line about the log itself is; only what is wrong has the sign of something wrong."""
    words, side = NOTES.get(kind, ""), theme().px(16)
    if kind == "break":
        return state(painter, rest, "failed", words)
    glyph(painter, QRect(rest.x(), rest.y(), side, rest.height()), "link", "text-2", side)
    left = side + theme().px(5)
    _write(painter, rest.adjusted(left, 0, 0, 0), words, "small", "text", 500)
    return left + QFontMetrics(theme().font("small", 500)).horizontalAdvance(words)


def _write(painter: QPainter, rect: QRect, text: str, role: str, token: str, weight: int | None = None) -> None:
    if rect.width() <= 0:
        return
    painter.setFont(theme().font(role, weight))
    painter.setPen(theme().color(token))
    painter.drawText(rect, _LEFT, elided(text, role, rect.width(), weight=weight))


class ActivityRows(RowList):
    """The list of entries. Return or a click shows one in full; near the end older ones are wanted; typing goes to the
    search."""

    shown = Signal(object)
    older_wanted = Signal()
    newer_wanted = Signal()
    top_wanted = Signal()
    copy_wanted = Signal()
    search_wanted = Signal()
    left = Signal()

    def __init__(self, model: ActivityModel) -> None:
        super().__init__("Activity", ActivityDelegate())
        self.setModel(model)
        self.activated.connect(lambda index: self.shown.emit(index.data(ROW)))
        self.clicked.connect(lambda index: self.shown.emit(index.data(ROW)))
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(lambda _: self._near_an_end())
        bar.rangeChanged.connect(lambda *_: self._near_an_end())
        self._adding = False

    def add(self, rows: Sequence[AuditRow], gone: int, *, newer: bool) -> None:
        """Rows at one end, some less at the other; what is seen stays where it is."""
        model, bar, current = self.model(), self.verticalScrollBar(), self.currentIndex().row()
        assert isinstance(model, ActivityModel)
        left = range(model.rowCount() - gone + len(rows), model.rowCount() + len(rows)) if newer else range(gone)
        if current >= 0 and current + (len(rows) if newer else 0) in left:
            self.setCurrentIndex(QModelIndex())  # else another one would become the current one
        self._adding = True
        place, height = bar.value(), self.sizeHintForRow(0)
        model.add(rows, gone, newer=newer)
        self.doItemsLayout()
        bar.setValue(place + (len(rows) if newer else -gone) * height)
        self._adding = False
        self._near_an_end()

    @property
    def at_top(self) -> bool:
        """Whether the newest row is in sight."""
        return self.verticalScrollBar().value() == 0

    @property
    def current(self) -> AuditRow | None:
        """The row that has the keys, or None."""
        index = self.currentIndex()
        return index.data(ROW) if index.isValid() else None

    def _near_an_end(self) -> None:
        bar, near = self.verticalScrollBar(), 3 * self.viewport().height()
        if self._adding or not self.isVisible():
            return
        if bar.maximum() - bar.value() < near:
            self.older_wanted.emit()
        elif bar.value() < near:
            self.newer_wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What a key means on a row."""
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if self.currentIndex().isValid() and event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif plain and event.key() == Qt.Key.Key_Slash:
            self.search_wanted.emit()
        elif plain and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() == Qt.Key.Key_Home:
            self.top_wanted.emit()
            super().keyPressEvent(event)
        else:
            super().keyPressEvent(event)
