"""The list of threads beside the transcript, and what a search over all of them found."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPoint, QRect, QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QMenu, QStackedLayout, QWidget

from desktop.domain.threads import SearchHit
from desktop.presenter.chat.thread_lines import PROJECT, job_key
from desktop.presenter.chat.threads import ThreadRole, ThreadsViewModel
from desktop.ui.chat.threads.delegate import ThreadDelegate
from desktop.ui.chat.threads.rows import ThreadRows
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, marked_text
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import EmptyState, PaneHeader
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text

_SELECTING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
SEARCH_DELAY = 120
"""Milliseconds after the last key before the search runs."""


class HitDelegate(RowDelegate):
    """Draws a search hit in two lines: the thread's title with the day, and the found text with its matches
    underlined."""

    height = 52

    def __init__(self) -> None:
        super().__init__()
        self.hits: tuple[SearchHit, ...] = ()

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw the two lines of a hit."""
        t = theme()
        hit = self.hits[index.row()]
        day = time.strftime("%d %b", time.localtime(hit.created_at))
        painter.setFont(t.font("caption", 400))
        painter.setPen(t.color("text-3"))
        width = painter.fontMetrics().horizontalAdvance(day)
        right = QRect(box.right() - t.px(8) - width, box.y() + t.px(6), width + 1, t.px(20))
        painter.drawText(right, int(Qt.AlignmentFlag.AlignVCenter), day)
        painter.setFont(t.font("body", 500))
        painter.setPen(t.color("text"))
        mark = t.px(22) if hit.debate else 0
        room = box.width() - t.px(28) - width - mark
        left = QRect(box.x() + t.px(8) + mark, box.y() + t.px(6), room, t.px(20))
        if hit.debate:
            spot = QRect(box.x() + t.px(8), left.y(), t.px(16), left.height())
            glyph(painter, spot, "debates", "text-2", t.px(16))
        title = elided(" ".join((hit.title or "New chat").split()), "body", room, weight=500)
        painter.drawText(left, int(Qt.AlignmentFlag.AlignVCenter), title)
        painter.setClipRect(box.adjusted(t.px(8), 0, -t.px(8), 0))
        marked_text(painter, box.x() + t.px(8), box.y() + t.px(42), hit.snippet, hit.ranges, "small", "text-2")


class ThreadList(QFrame):
    """The list of threads, 264 pixels wide: head with search and new chat, then threads, or what a search found."""

    new_chat = Signal()
    new_chat_in = Signal(str)
    """a folder"""
    opened = Signal(str, str)
    keys_left = Signal()
    debate_wanted = Signal(str, str)
    rename_wanted = Signal(str)
    job_wanted = Signal(str)

    def __init__(self, threads: ThreadsViewModel) -> None:
        super().__init__()
        self._threads = threads
        self.setProperty("pane", "list")
        sized(self, width=264)
        self._model = threads.model()
        self.delegate = ThreadDelegate()
        self.rows = ThreadRows("Chats", self.delegate, self._model, several=True)
        self.field = Field("Search all chats", hint="Search all chats", icon="search")
        self._hit_delegate = HitDelegate()
        self._hit_model = QStringListModel(self)
        self.hits = RowList("Search results", self._hit_delegate)
        self.hits.setModel(self._hit_model)
        self._found = Text("", "small", "3")
        self._later = QTimer(self, singleShot=True, interval=SEARCH_DELAY)
        self._lay_out()
        self._connect()
        self._rearranged()

    def _lay_out(self) -> None:
        column = Column(self, spacing=0)
        head = PaneHeader("Chats", left=16, right=8)
        head.setProperty("pane", "plain")
        self._search = IconButton("search", "Search all chats", shortcut="Ctrl+Shift+F")
        self._new = IconButton("new", "New chat", shortcut="Ctrl+N")
        for button in (self._search, HelpIcon(), self._new):
            head.add(button)
        column.addWidget(head)
        self._search_box = pane("plain")
        row = Column(self._search_box, margins=(8, 0, 8, 8), spacing=6)
        row.addWidget(self.field)
        under = Row(margins=(8, 0, 8, 0))
        under.addWidget(self._found)
        row.addLayout(under)
        self._search_box.setVisible(False)
        column.addWidget(self._search_box)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._empty = EmptyState("chats", "No chats yet", "What you write to an agent is kept here.")
        for widget in (self.rows, self.hits, self._empty):
            self._stack.addWidget(widget)
        column.addWidget(holder, 1)
        self._foot = pane("plain")
        self.news = Button("", "quiet", small=True, icon="retry", shrinks=True)
        foot = Row(self._foot, margins=(8, 4, 8, 8))
        foot.addWidget(self.news)
        foot.addStretch(1)
        column.addWidget(self._foot)
        self._say_news(self._threads.news)

    def _say_news(self, words: str) -> None:
        self.news.set_label(words)
        self._foot.setVisible(bool(words))

    def _connect(self) -> None:
        self._search.clicked.connect(self.toggle_search)
        self._new.clicked.connect(self.new_chat)
        self.rows.clicked.connect(self._clicked)
        self.rows.activated.connect(self._open_row)
        self.rows.customContextMenuRequested.connect(self._context_menu)
        self.rows.rename_wanted.connect(self.rename_wanted)
        self.rows.delete_wanted.connect(self._threads.delete)
        self.rows.unfold_wanted.connect(self._unfold)
        self.rows.several_wanted.connect(self._threads.act)
        self.delegate.menu_requested.connect(self._menu_below)
        self.delegate.pin_toggled.connect(self._threads.pin)
        self.hits.clicked.connect(self._open_hit)
        self.hits.activated.connect(self._open_hit)
        self.field.textChanged.connect(lambda _: self._later.start())
        self._later.timeout.connect(lambda: self._threads.search(self.field.text()))
        self._threads.hits_changed.connect(self._show_hits)
        self._threads.rearranged.connect(self._rearranged)
        self._threads.news_changed.connect(self._say_news)
        self.news.clicked.connect(self._threads.news_wanted)

    # -- threads ----------------------------------------------------------------------------------------------------

    def select(self, thread_id: str) -> None:
        """Mark the open thread, now or as soon as it is listed."""
        self.rows.select(thread_id)

    def _rearranged(self) -> None:
        self.rows.rearranged()
        self._show_stack()

    def _show_stack(self) -> None:
        if self.searching and self.field.text().strip():
            self._stack.setCurrentWidget(self.hits)
        else:
            none = self._threads.loaded and not self._model.rowCount()
            self._stack.setCurrentWidget(self._empty if none else self.rows)

    def _open_row(self, index: QModelIndex) -> None:
        """Open the thread of a row, unless several are being selected."""
        held = QGuiApplication.keyboardModifiers() & _SELECTING
        if held or self.rows.chosen:
            return
        thread_id = index.data(ThreadRole.ID)
        if thread_id:
            self.opened.emit(thread_id, "")
        elif index.data(ThreadRole.JOB):
            self._unfold(index.data(ThreadRole.JOB), not index.data(ThreadRole.UNFOLDED))

    def _clicked(self, index: QModelIndex) -> None:
        """Open it. Whoever clicks goes on to write, so the list lets go of the keys: there F2 and Del act on chats."""
        self._open_row(index)
        held = QGuiApplication.keyboardModifiers() & _SELECTING
        if index.data(ThreadRole.ID) and not held and not self.rows.chosen:
            self.keys_left.emit()

    def _unfold(self, job_id: str, is_open: bool) -> None:
        """The keys stay at the job's row."""
        self._threads.unfold(job_id, is_open)
        self.rows.setCurrentIndex(self._model.index(self._model.place(job_key(job_id))))

    def _context_menu(self, spot: QPoint) -> None:
        index = self.rows.indexAt(spot)
        if index.data(ThreadRole.JOB):
            self._job_menu(index).popup(self.rows.viewport().mapToGlobal(spot))
        elif index.data(ThreadRole.ID) in self.rows.chosen:
            self._menu_of_several(self.rows.chosen).popup(self.rows.viewport().mapToGlobal(spot))
        elif index.data(ThreadRole.ID):
            self._menu(index.data(ThreadRole.ID)).popup(self.rows.viewport().mapToGlobal(spot))

    def _menu_below(self, thread_id: str, rect: QRect) -> None:
        self._menu(thread_id).popup(self.rows.viewport().mapToGlobal(rect.bottomLeft()))

    def _menu(self, thread_id: str) -> QMenu:
        pinned = bool(self._model.index(self._model.place(thread_id)).data(ThreadRole.PINNED))
        job = self._threads.job_of(thread_id)
        away = self._threads.is_archived(thread_id)
        put = "restore" if away else "archive"
        return self._menu_of(
            ("Unpin" if pinned else "Pin", "", lambda: self._threads.pin(thread_id, not pinned)),
            ("Rename", "F2", lambda: self.rename_wanted.emit(thread_id)),
            ("Take out of the archive" if away else "Archive", "", lambda: self._threads.act(put, (thread_id,))),
            ("Delete", "Del", lambda: self._threads.delete(thread_id)),
            *([("Open its job", "", lambda: self.job_wanted.emit(job.job_id))] if job and not job.deleted else []),
        )

    def _menu_of_several(self, chosen: tuple[str, ...]) -> QMenu:
        """What can be done with all that are selected; each can be undone."""
        away, act = all(map(self._threads.is_archived, chosen)), self._threads.act
        pinned = all(self._model.index(self._model.place(one)).data(ThreadRole.PINNED) for one in chosen)
        pin, put = "unpin" if pinned else "pin", "restore" if away else "archive"
        words = f"{len(chosen):,} chats"
        return self._menu_of(
            (f"{'Unpin' if pinned else 'Pin'} {words}", "", lambda: act(pin, chosen)),
            (f"Take {words} out of the archive" if away else f"Archive {words}", "", lambda: act(put, chosen)),
            (f"Export {words}…", "", lambda: self._export(chosen)),
            (f"Delete {words}", "Del", lambda: act("delete", chosen)),
        )

    def _export(self, thread_ids: tuple[str, ...]) -> None:
        dialog = FileDialog(self, "Export these chats")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("zip")
        dialog.selectFile("chats.zip")
        dialog.fileSelected.connect(lambda path: self._threads.export(thread_ids, path))
        dialog.open()

    def _job_menu(self, index: QModelIndex) -> QMenu:
        job_id, is_open = index.data(ThreadRole.JOB), bool(index.data(ThreadRole.UNFOLDED))
        project = job_id.removeprefix(PROJECT) if job_id.startswith(PROJECT) else ""
        return self._menu_of(
            *([("New chat in this folder", "", lambda: self.new_chat_in.emit(project))] if project else []),
            ("Hide its chats" if is_open else "Show its chats", "", lambda: self._unfold(job_id, not is_open)),
            *([("Open the job", "", lambda: self.job_wanted.emit(job_id))] if self._threads.has_job(job_id) else []),
        )

    def _menu_of(self, *lines: tuple[str, str, Callable[[], None]]) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, keys, act in lines:
            action = QAction(f"{text}\t{keys}" if keys else text, menu)
            action.triggered.connect(lambda _=False, act=act: act())
            menu.addAction(action)
        return menu

    # -- search -----------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether the search field is shown."""
        return not self._search_box.isHidden()

    def toggle_search(self) -> None:
        """Show the field and put the keys there, or put it away."""
        if self.searching:
            self.close_search()
        else:
            self._search_box.setVisible(True)
            self.field.setFocus()

    def close_search(self) -> None:
        """Back to the list; the words are forgotten."""
        self.field.clear()
        self._search_box.setVisible(False)
        self._show_stack()

    def _show_hits(self, text: str, hits: tuple[SearchHit, ...]) -> None:
        self._hit_delegate.hits = hits
        self._hit_model.setStringList([f"{'Debate ' if hit.debate else ''}{hit.title}: {hit.snippet}" for hit in hits])
        words = "" if not text.strip() else f"{len(hits)} found" if hits else "Nothing found"
        self._found.setText(words)
        self._found.updateGeometry()
        self._show_stack()

    def _open_hit(self, index: QModelIndex) -> None:
        hit = self._hit_delegate.hits[index.row()]
        (self.debate_wanted if hit.debate else self.opened).emit(hit.thread_id, hit.message_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape puts the search away; Down goes from the field to what was found."""
        if event.key() == Qt.Key.Key_Escape and self.searching:
            self.close_search()
        elif event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.hits.setFocus()
        else:
            super().keyPressEvent(event)
