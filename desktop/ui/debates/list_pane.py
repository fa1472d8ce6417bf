"""The list of debates beside the open one: by day, searched, renamed, deleted with undo."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QMenu, QStackedLayout, QStyleOptionViewItem, QWidget

from desktop.presenter.chat.threads import ThreadRole
from desktop.presenter.debates.page import DebatesViewModel
from desktop.ui.chat.threads.delegate import STATE_GLYPHS
from desktop.ui.chat.threads.pane import SEARCH_DELAY
from desktop.ui.chat.threads.rows import LEFT, RIGHT, ThreadRowDelegate, ThreadRows
from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.layout.containers import EmptyState, PaneHeader
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index
from desktop.ui.widgets.scaling import Column, Row, sized

GLYPHS = {**STATE_GLYPHS, "paused": ("pause", "text-2")}
"""State of a debate -> (icon, colour token). Paused stands beside the time, and says also one that was interrupted."""


class DebateDelegate(ThreadRowDelegate):
    """A group's name, or a title with its time or the glyph of what it does; a fork says on a second line of what."""

    fork_height = 48

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A fork has two lines."""
        return QSize(theme().px(100), theme().px(self.fork_height if index.data(ThreadRole.NOTE) else self.height))

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Title, then the tail."""
        note = str(index.data(ThreadRole.NOTE) or "")
        if note:
            box = self._fork(painter, box, note)
        t, state = theme(), index.data(ThreadRole.STATE)
        side = t.metric("icon-small")
        room = 0
        if state in GLYPHS:
            icon, token = GLYPHS[state]
            spot = QRect(box.right() - t.px(8) - side, box.y(), side, box.height())
            glyph(painter, spot, icon, token, side, self.angle if state == "running" else 0.0)
            room = side + t.px(8)
        if state not in STATE_GLYPHS:
            painter.setFont(t.font("caption", 400))
            painter.setPen(t.color("text-3"))
            text = str(index.data(ThreadRole.TIME) or "")
            painter.drawText(box.adjusted(0, 0, -t.px(8) - room, 0), RIGHT, text)
            room += painter.fontMetrics().horizontalAdvance(text) + t.px(12)
        self.title(painter, box, index, room, selected)

    @staticmethod
    def _fork(painter: QPainter, box: QRect, note: str) -> QRect:
        """Draws the second line; returns the room of the first."""
        t = theme()
        low = QRect(box.x() + t.px(8), box.y() + t.px(25), box.width() - t.px(16), t.px(18))
        glyph(painter, QRect(low.x(), low.y(), t.px(14), low.height()), "branch", "text-3", t.px(14))
        painter.setFont(t.font("caption", 400))
        painter.setPen(t.color("text-3"))
        painter.drawText(low.adjusted(t.px(20), 0, 0, 0), LEFT, note)
        return QRect(box.x(), box.y() + t.px(3), box.width(), t.px(24))


class DebateList(QFrame):
    """The list of debates, 264 pixels wide."""

    new_debate = Signal()
    opened = Signal(str, str)
    rename_wanted = Signal(str)

    def __init__(self, debates: DebatesViewModel) -> None:
        super().__init__()
        self._debates = debates
        self._model = debates.model()
        self.setProperty("pane", "list")
        sized(self, width=264)
        self.delegate = DebateDelegate()
        self.rows = ThreadRows("Debates", self.delegate, self._model)
        self.rows.setUniformItemSizes(False)
        self.field = Field("Search debates: titles and what was said", hint="Search debates", icon="search")
        self.new_button = Button("New debate", "quiet", icon="new")
        self._later = QTimer(self, singleShot=True, interval=SEARCH_DELAY)
        self._lay_out()
        self._connect()
        self._rearranged()

    def _lay_out(self) -> None:
        column = Column(self, spacing=0)
        head = PaneHeader("Debates", left=16, right=8)
        head.setProperty("pane", "plain")
        self._search = IconButton("search", "Search debates")
        self._new = IconButton("new", "New debate", shortcut="Ctrl+Shift+D")
        for button in (self._search, HelpIcon(), self._new):
            head.add(button)
        column.addWidget(head)
        self._search_box = pane("plain")
        Row(self._search_box, margins=(8, 0, 8, 8)).addWidget(self.field)
        self._search_box.setVisible(False)
        column.addWidget(self._search_box)
        row = Row(margins=(8, 4, 8, 0))
        row.addWidget(self.new_button)
        row.addStretch(1)
        column.addLayout(row)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._empty = EmptyState("debates", "No debates yet", "Two agents take sides, and you watch and steer.")
        self._stack.addWidget(self.rows)
        self._stack.addWidget(self._empty)
        column.addWidget(holder, 1)

    def _connect(self) -> None:
        self._search.clicked.connect(self.toggle_search)
        self._new.clicked.connect(self.new_debate)
        self.new_button.clicked.connect(self.new_debate)
        self._later.timeout.connect(lambda: self._debates.search(self.field.text()))
        self.field.textChanged.connect(lambda _: self._later.start())
        self.rows.clicked.connect(self._open)
        self.rows.activated.connect(self._open)
        self.rows.rename_wanted.connect(self.rename_wanted)
        self.rows.delete_wanted.connect(self._debates.delete)
        self.rows.customContextMenuRequested.connect(self._context_menu)
        self._debates.rearranged.connect(self._rearranged)

    def _open(self, index: QModelIndex) -> None:
        thread_id = index.data(ThreadRole.ID)
        if thread_id:
            self.opened.emit(thread_id, self._debates.hit(thread_id))

    def select(self, thread_id: str) -> None:
        """Mark the open debate, now or as soon as it is listed."""
        self.rows.select(thread_id)

    def _rearranged(self) -> None:
        self.rows.rearranged()
        searched = self.searching and self.field.text().strip()
        self._empty.say(*(("Nothing found", "No debate has these words.") if searched else EMPTY))
        self._stack.setCurrentWidget(self.rows if self._model.rowCount() else self._empty)

    def _context_menu(self, spot: QPoint) -> None:
        thread_id = self.rows.indexAt(spot).data(ThreadRole.ID)
        if not thread_id:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Rename\tF2").triggered.connect(lambda: self.rename_wanted.emit(thread_id))
        menu.addAction("Delete\tDel").triggered.connect(lambda: self._debates.delete(thread_id))
        menu.popup(self.rows.viewport().mapToGlobal(spot))

    @property
    def searching(self) -> bool:
        """Whether the search field is shown."""
        return not self._search_box.isHidden()

    def toggle_search(self) -> None:
        """Show the field and put the keys there, or put it away."""
        self._search_box.setVisible(not self.searching)
        if self.searching:
            self.field.setFocus()
        else:
            self.field.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape puts the search away; Down goes to the rows."""
        if event.key() == Qt.Key.Key_Escape and self.searching:
            self.toggle_search()
        elif event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.rows.setFocus()
        else:
            super().keyPressEvent(event)


EMPTY = ("No debates yet", "Two agents take sides, and you watch and steer.")
