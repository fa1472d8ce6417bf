"""The table of rules: painted rows of one height, so that thousands of them cost what the visible ones cost."""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyleOptionViewItem, QTableView, QToolTip

from desktop.domain.approval.rules import RuleView
from desktop.presenter.approvals.rules_list import DRAFT, RuleRole
from desktop.presenter.approvals.rules_words import (
    NEVER,
    NOT_SAVED,
    decision_word,
    from_words,
    last_used,
    split_pattern,
)
from desktop.ui.approvals.rules.text import pattern_line, tip
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, state
from desktop.ui.widgets.layout.column_heads import Heads
from desktop.ui.widgets.rows import Index, RowDelegate
from desktop.ui.widgets.shown import shown_line

INSET, EDGE, DECISION = 12, 12, 80
FROM, LAST, USED, MENU = 160, 100, 52, 48
MINIMUM = 200
"""Pixels at 100 % that a pattern keeps before columns beside it give way."""
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


class RuleColumns(NamedTuple):
    """Where the columns of a box are; a width of 0: there is no room for it."""

    decision: QRect
    pattern: QRect
    origin: QRect
    last: QRect
    used: QRect
    menu: QRect


def columns(box: QRect) -> RuleColumns:
    """Where the columns stand, for the heads as for each row."""
    px = theme().px
    room = box.width() - px(EDGE + DECISION + USED + MENU)
    origin = px(FROM) if room - px(FROM) >= px(MINIMUM) else 0
    last = px(LAST) if room - origin - px(LAST) >= px(MINIMUM) else 0
    x = box.x() + px(EDGE)
    rects = []
    for width in (px(DECISION), room - origin - last, origin, last, px(USED), px(MENU)):
        rects.append(QRect(x, box.y(), width, box.height()))
        x += width
    return RuleColumns(*rects)


def heads(box: QRect) -> Heads:
    """The names of the columns."""
    at, left = columns(box), Qt.AlignmentFlag.AlignLeft
    yield at.decision, "Decision", left
    yield at.pattern, "Pattern", left
    yield at.origin, "From", left
    yield at.last, "Last used", left
    yield at.used, "Used", Qt.AlignmentFlag.AlignRight


class RuleDelegate(RowDelegate):
    """Glyph and word of the decision, the tool and its constraints, where from, when and how often used, the menu."""

    height = 36
    inset = INSET

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """One line of columns."""
        t = theme()
        rule: RuleView = index.data(RuleRole.RULE)
        draft = rule.rule_id == DRAFT
        at = columns(box)
        state(painter, at.decision, rule.decision, decision_word(rule.decision))
        _draw_pattern(painter, at.pattern.adjusted(0, 0, -t.px(12), 0), rule)
        origin = f"You, {NOT_SAVED}" if draft else from_words(rule)
        painter.setFont(t.font("body"))
        painter.setPen(t.color("text-2"))
        if at.origin.width():
            gap = 0 if draft else t.px(8)
            room = at.origin.adjusted(0, 0, at.last.width() - gap if draft else -gap, 0)
            painter.drawText(room, _LEFT, elided(shown_line(origin), "body", room.width()))
        if not draft:
            if at.last.width():
                painter.setPen(t.color("text-2"))
                painter.drawText(at.last, _LEFT, last_used(rule.last_used_at, time.time()))
            painter.drawText(at.used, _RIGHT, f"{rule.uses:,}")
        open_here = bool(index.data(RuleRole.OPEN))
        spot = QRect(at.menu.right() - t.px(24), box.y(), t.px(16), box.height())
        glyph(painter, spot, "write" if open_here else "more", "text" if open_here else "text-2", t.px(16))

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """All of a row, as plain text."""
        rule = index.data(RuleRole.RULE) if index.isValid() else None
        if event.type() != QEvent.Type.ToolTip or rule is None:
            return super().helpEvent(event, view, option, index)
        QToolTip.showText(event.globalPos(), tip(*about(rule)), view)
        return True


def _draw_pattern(painter: QPainter, rect: QRect, rule: RuleView) -> None:
    """The tool in ink, its constraints quieter; before it a mark where the rule counts for nothing."""
    t = theme()
    if rule.problem:
        glyph(painter, QRect(rect.x(), rect.y(), t.px(16), rect.height()), "failed", "failed", t.px(16))
        rect = rect.adjusted(t.px(22), 0, 0, 0)
    tool, constraints = split_pattern(pattern_line(rule.pattern))
    painter.setFont(t.font("code", 500))
    painter.setPen(t.color("text"))
    word = elided(tool, "code", rect.width(), weight=500)
    painter.drawText(rect, _LEFT, word)
    rect = rect.adjusted(QFontMetrics(t.font("code", 500)).horizontalAdvance(word), 0, 0, 0)
    if constraints and rect.width() > 0:
        painter.setFont(t.font("code"))
        painter.setPen(t.color("text-2"))
        painter.drawText(rect, _LEFT, elided(constraints, "code", rect.width()))


def about(rule: RuleView) -> tuple[str, ...]:
    """Everything that is known of a rule, a line each."""
    made = time.strftime("Written on %d %B %Y", time.localtime(rule.created_at)) if rule.created_at else ""
    used = last_used(rule.last_used_at, time.time())
    times = f"Used {rule.uses:,} times, last: {used}" if used != NEVER else "Never used"
    problem = f"Not used: {rule.problem}" if rule.problem else ""
    return rule.pattern, problem, f"{from_words(rule)}. {rule.detail}" if rule.detail else from_words(rule), made, times


class RuleRows(QTableView):
    """The rows: a table of one column, because a list view lays out each of its thousands of rows anew whenever its
    width changes. Return edits, Delete revokes, the menu key and a click on the dots open the menu, typing goes to the
    search. ``wanted`` carries edit | revoke | duplicate | copy for the current row."""

    wanted = Signal(str)
    menu_wanted = Signal(QPoint)
    search_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Rules")
        self.setItemDelegate(RuleDelegate(self))
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setMinimumSectionSize(1)
            header.hide()
        self._measure()
        theme().changed.connect(self._measure)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._context)
        self.activated.connect(lambda _: self.wanted.emit("edit"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What a key means on a row."""
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        here = self.currentIndex().isValid()
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: self.model().rowCount() - 1}
        key = Qt.Key(event.key())
        if plain and key in ends:
            self.setCurrentIndex(self.model().index(ends[key], 0))
        elif here and plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated.emit(self.currentIndex())
        elif here and event.matches(QKeySequence.StandardKey.Copy):
            self.wanted.emit("copy")
        elif here and plain and key == Qt.Key.Key_Delete:
            self.wanted.emit("revoke")
        elif plain and key == Qt.Key.Key_Slash:
            self.search_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _measure(self) -> None:
        """Rows as high as the text scale wants."""
        self.verticalHeader().setDefaultSectionSize(theme().px(RuleDelegate.height))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the dots opens the menu there; on the pencil it goes to what is being written."""
        super().mouseReleaseEvent(event)
        spot = event.position().toPoint()
        index = self.indexAt(spot)
        if event.button() is not Qt.MouseButton.LeftButton or not index.isValid():
            return
        box = self.visualRect(index)
        if spot.x() >= box.right() - theme().px(INSET + MENU):
            if index.data(RuleRole.OPEN):
                self.wanted.emit("edit")
            else:
                self.menu_wanted.emit(self.viewport().mapToGlobal(QPoint(spot.x(), box.bottom())))

    def _context(self, spot: QPoint) -> None:
        """By the menu key at the current row, by the mouse where it is."""
        index = self.indexAt(spot)
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            spot = self.visualRect(self.currentIndex()).bottomLeft()
        if self.currentIndex().isValid():
            self.menu_wanted.emit(self.viewport().mapToGlobal(spot))
