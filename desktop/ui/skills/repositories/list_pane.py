"""The middle pane for one repository: address, how new it is, what it has with ticks, and what is done with them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy, QStackedLayout, QWidget

from desktop.presenter.skills.repositories import Item, Repositories
from desktop.presenter.skills.repository_words import count_line, head_words, notes_of
from desktop.ui.skills.repositories.adding import ask_remove
from desktop.ui.skills.repositories.foot_keys import FootKeys
from desktop.ui.skills.repositories.rows import ItemRows
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import EmptyState, Notice
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

WIDTH = 380


class RepositoryList(QFrame):
    """``opened`` when a row shall be looked at closely: a click, or Return."""

    opened = Signal()

    def __init__(self, repositories: Repositories) -> None:
        super().__init__()
        self._repositories = repositories
        self.setProperty("pane", "surface-list")
        column = Column(self, spacing=0)
        column.addWidget(self._make_head())
        column.addWidget(self._make_line())
        column.addWidget(self._make_body(), 1)
        self.wrong = Notice("failed", "", banner=True)
        self.wrong.hide()
        column.addWidget(self.wrong)
        column.addWidget(self._make_foot())
        repositories.opened.connect(self.refresh)
        repositories.listed.connect(self.refresh)
        repositories.ticked.connect(self._ticked)
        repositories.picked.connect(self._picked)
        repositories.progressed.connect(self._progressed)

    def _make_head(self) -> QWidget:
        head = pane("header")
        inside = Column(head, margins=(16, 10, 8, 10), spacing=2)
        row = Row(spacing=8)
        self.head = row
        self._name = Text("", "title", elide="right")
        self._name.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.look = Button("Look for changes", "quiet", icon="retry", small=True)
        self.look.setToolTip("Ask the repository for its newest commit; nothing that you took changes")
        self.look.clicked.connect(self._look)
        row.addWidget(self._name, 1)
        row.addWidget(self.look)
        inside.addLayout(row)
        self._address = Text("", "code", "2", elide="middle")
        inside.addWidget(self._address)
        self._facts = Paragraph("", "small", "2")
        inside.addWidget(self._facts)
        self.state = StateLabel()
        self.state.hide()
        inside.addWidget(self.state)
        return head

    def _make_line(self) -> QWidget:
        line = sized(QWidget(), height=36)
        row = Row(line, margins=(16, 4, 8, 0))
        self._count = Text("", "small", "2")
        row.addWidget(self._count)
        row.addStretch(1)
        self.all = Button("Tick all that are in order", "quiet", small=True)
        self.all.setToolTip("Not what has a problem, a name that is taken, or is a server")
        self.all.clicked.connect(self._repositories.tick_all)
        row.addWidget(self.all)
        return line

    def _make_body(self) -> QWidget:
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self.rows = ItemRows(self._repositories.is_ticked, self._tick)
        self.rows.looked_at.connect(lambda item: self._repositories.pick(item.key))
        self.rows.clicked.connect(lambda _: self.opened.emit())
        self.rows.activated.connect(lambda _: self.opened.emit())
        again = Button("Look again", icon="retry")
        again.clicked.connect(self._repositories.look)
        sentence = "Look again: what it brings is listed here then."
        self._nothing = EmptyState("branch", "Nothing is known of it", sentence, (again,))
        for widget in (self.rows, self._nothing):
            self._stack.addWidget(widget)
        return holder

    def _make_foot(self) -> QWidget:
        foot = sized(pane("footer"), height=56)
        row = Row(foot, margins=(8, 0, 16, 0), spacing=8)
        self.remove = Button("Remove…", "danger")
        self.remove.clicked.connect(self._remove)
        self.back = Button("Put back", "quiet", icon="undo")
        self.back.setToolTip(plain_tip("Put back what you had of it before your last change"))
        self.back.clicked.connect(self._put_back)
        self.act = Button("", "normal", shrinks=True)
        self.act.clicked.connect(self._repositories.take_planned)
        row.addWidget(self.remove)
        row.addWidget(self.back)
        row.addStretch(1)
        row.addWidget(self.act)
        return foot

    def _tick(self, item: Item, on: bool) -> None:
        self._repositories.tick(item.key, on)

    def _look(self) -> None:
        self._repositories.cancel() if self._repositories.busy else self._repositories.look()

    def _put_back(self) -> None:
        view = self._repositories.view
        if view is not None:
            self._repositories.put_back()

    def _remove(self) -> None:
        view = self._repositories.view
        if view is not None:
            ask_remove(self.window(), view, self._repositories)

    def refresh(self) -> None:
        """Show the repository that is open."""
        view = self._repositories.view
        if view is None:
            return
        self._name.setText(view.source.name)
        self._address.setText(shown_line(view.source.address))
        note = notes_of(view)
        pieces = head_words(view)
        self._facts.set_pieces((*pieces, (f" {note}", "")) if note else pieces)
        self._count.setText(count_line(view))
        self._count.updateGeometry()
        self.all.setVisible(any(item.in_order for item in view.items))
        self.rows.show_items(view.items, self._repositories.key)
        self._stack.setCurrentWidget(self.rows if view.items else self._nothing)
        self.wrong.setVisible(bool(self._repositories.problem))
        self.wrong.say(shown(self._repositories.problem))
        self._ticked()
        self._progressed()

    def _picked(self) -> None:
        view = self._repositories.view
        self.rows.show_items(view.items if view is not None else (), self._repositories.key)

    def _ticked(self) -> None:
        self.rows.items.tell()
        words, view = self._repositories.plan.words, self._repositories.view
        keys = FootKeys(self, self.act, self.back)
        self.act.setVisible(bool(words))
        self.back.setVisible(view is not None and view.can_go_back)
        if keys.lost:
            self.take_keys()
        self.act.set_label(words)
        self.act.set_kind("primary" if self._repositories.ticks else "normal")
        self.act.setEnabled(not self._repositories.busy)

    def _progressed(self) -> None:
        words = self._repositories.progress
        self.state.set_state("running" if words else "", shown_line(words[:1].upper() + words[1:]))
        self.state.setVisible(bool(words))
        self.look.set_label("Stop" if words else "Look for changes")
        self.look.set_icon("stop" if words else "retry")
        self.remove.setEnabled(not words)
        self.back.setEnabled(not words)
        self.act.setEnabled(not words)

    def take_keys(self) -> None:
        """Keys go to the rows."""
        self.rows.setFocus(Qt.FocusReason.OtherFocusReason)
