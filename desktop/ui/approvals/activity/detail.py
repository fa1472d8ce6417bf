"""One entry of the activity log in full, beside the list, with what can be done from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.domain.approval.audit import AuditRow
from desktop.domain.approval.audit_chain import ChainReport
from desktop.presenter.approvals.call_words import call_words
from desktop.ui.approvals.activity.words import EntryFact, about_chain, as_text, decision_word, facts, rule_of
from desktop.ui.approvals.rules.panel import BarScroller
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import PaneHeader, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

WIDTH, BAR = 384, 12


class ActivityDetail(QFrame):
    """One entry in full. ``show_row`` fills it. ``thread_wanted`` and ``rule_wanted`` (its id or pattern) lead on;
    ``closed`` by the person."""

    thread_wanted = Signal(object)
    rule_wanted = Signal(str)
    said = Signal(str)
    closed = Signal()

    def __init__(self, thread_title: Callable[[str], str], titles: Mapping[str, str]) -> None:
        super().__init__()
        self.setProperty("pane", "side")
        self._thread_title, self._titles = thread_title, titles
        self._row: AuditRow | None = None
        self._found: list[EntryFact] = []
        column = Column(self, spacing=0)
        self._head = PaneHeader("", left=24, right=12)
        self.close_button = IconButton("close", "Close the entry", shortcut="Esc")
        self.close_button.clicked.connect(self.closed)
        self._head.add(self.close_button)
        column.addWidget(self._head)
        self._scroller = BarScroller(margins=(24, 16, max(24, BAR), 16), spacing=12)
        self._scroller.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._scroller.setAccessibleName("All details of the entry")
        column.addWidget(self._scroller, 1)
        foot = pane("footer")
        row = Row(foot, margins=(24, 12, 24, 12), spacing=8)
        self.open_thread = Button("Open chat", icon="chats", shrinks=True, tip="Go where the call was made")
        self.rule = Button("Show rule", "quiet", icon="rules", shrinks=True, tip="The rule that decided")
        self.copy_button = IconButton("copy", "Copy the entry", shortcut="Ctrl+C")
        row.addWidget(self.open_thread)
        row.addWidget(self.rule)
        row.addStretch(1)
        row.addWidget(self.copy_button)
        column.addWidget(foot)
        self.open_thread.clicked.connect(lambda: self.thread_wanted.emit(self._row))
        self.rule.clicked.connect(self._show_rule)
        self.copy_button.clicked.connect(self.copy)

    @property
    def row(self) -> AuditRow | None:
        """The entry of the log whose details are on the screen, or None."""
        return self._row

    def show_row(self, row: AuditRow) -> None:
        """Fill in an entry; the same one again is left as it is scrolled."""
        if row == self._row:
            return
        same = self._row is not None and self._row.number == row.number
        self._row = row
        entry = row.entry
        title = f"{decision_word(entry)}: {call_words(entry, self._titles).tool}" if not row.note else "About the log"
        self._found = facts(row, self._thread_title(entry.thread_id) if entry.thread_id else "", self._titles)
        self._fill(title, self._found, same=same)
        self.open_thread.setVisible(bool(entry.thread_id) and not row.note)
        self.rule.setVisible(bool(rule_of(entry)))

    def show_report(self, report: ChainReport) -> None:
        """What a check of the log found."""
        self._row = None
        self._found = about_chain(report)
        self._fill("About the log", self._found, same=False)
        self.open_thread.hide()
        self.rule.hide()

    def _fill(self, title: str, found: list[EntryFact], *, same: bool) -> None:
        shown_title = shown_line(title[:80])
        self._head.title.setText(shown_title[:1].upper() + shown_title[1:])
        column = self._scroller.column
        clear(column)
        for fact in found:
            column.addLayout(_line(fact))
        column.addStretch(1)
        if not same:
            self._scroller.verticalScrollBar().setValue(0)

    def copy(self) -> None:
        """Copy the whole entry, as it is shown."""
        if self._found:
            QGuiApplication.clipboard().setText(as_text(self._found))
            self.said.emit("The entry is copied" if self._row is not None else "What was found is copied")

    def _show_rule(self) -> None:
        if self._row is not None:
            self.rule_wanted.emit(rule_of(self._row.entry))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


def _line(fact: EntryFact) -> Column:
    """One fact: its name, and its text below."""
    column = Column(spacing=2)
    if fact.name:
        column.addWidget(Text(fact.name, "caption", "2"))
    value = Paragraph(((fact.text, "mono" if fact.machine else ""),), "small")
    value.setAccessibleName(f"{fact.name}: {fact.text}")
    column.addWidget(value)
    return column
