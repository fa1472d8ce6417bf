"""The Chats page: threads at the left, the open thread with its composer at the right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.common.exporting import file_name
from desktop.ui.chat.changes import ChangesBeside
from desktop.ui.chat.composer.view import Composer
from desktop.ui.chat.documents import DocumentBeside
from desktop.ui.chat.edge import EdgeChip
from desktop.ui.chat.header import ThreadHeader
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.projects import ProjectChip
from desktop.ui.chat.side import AGENTS, CHANGES, DOCUMENT, RESULT, TRACE, SidePanels
from desktop.ui.chat.thread_pane import ThreadPane
from desktop.ui.chat.threads.pane import ThreadList
from desktop.ui.chat.variables import Variables
from desktop.ui.theme import theme
from desktop.ui.transcript.view import TranscriptView
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.scaling import Row

if TYPE_CHECKING:
    from desktop.ui.chat import context_card, context_popover
    from desktop.ui.trace.panel import TracePanel
else:
    context_card = lazy_module("desktop.ui.chat.context_card")
    context_popover = lazy_module("desktop.ui.chat.context_popover")

HELP_BESIDE = {AGENTS: "runs", CHANGES: "changes", DOCUMENT: "documents", RESULT: "results", TRACE: "runs"}
"""Pages of help, by what stands beside the thread."""
NARROW = 840
"""Below this width of the page (at 100 %) the list of threads folds away."""


class ChatParts:
    """What of the page takes longest to make. A start makes each in a turn of its own, to not hold the window up."""

    def __init__(self, threads: ThreadsViewModel) -> None:
        self._threads = threads

    @cached_property
    def threads(self) -> ThreadList:
        """The list at the left."""
        return ThreadList(self._threads)

    @cached_property
    def header(self) -> ThreadHeader:
        """The head of the open thread."""
        return ThreadHeader()

    @cached_property
    def transcript(self) -> TranscriptView:
        """The messages of the open thread."""
        return TranscriptView(theme())

    @cached_property
    def composer(self) -> Composer:
        """Where a person writes."""
        return Composer()

    def made_in_turns(self) -> Iterator[QWidget]:
        """Make the parts of the page one after the other, for the start to do so in turns."""
        yield self.threads
        yield self.header
        yield self.transcript
        yield self.composer


class ChatPage(QWidget):
    """Puts the two panes together; what they do is in the view-models."""

    request_wanted = Signal(str)
    inbox_wanted = Signal(str)
    """a request of another thread"""
    side_changed = Signal(str)
    topic_changed = Signal()
    activity_wanted = Signal(str, str)
    """thread, tool"""
    debate_wanted = Signal(str, str)
    """thread, message"""
    thread_wanted = Signal(str)
    """a chat or a debate"""
    job_wanted = Signal(str)

    def __init__(self, models: ChatModels, *, parts: ChatParts | None = None) -> None:
        super().__init__()
        self._models = models
        parts = parts or ChatParts(models.threads)
        self._narrow = False
        self._was_open = ("", "")
        self.setProperty("pane", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.threads = parts.threads
        self.pane = ThreadPane(models, self, parts.header, parts.transcript, parts.composer)
        self.toast = Toast(self.pane, above=self.pane.foot.composer)
        row = Row(self, spacing=0)
        row.addWidget(self.threads)
        row.addWidget(self.pane, 1)
        self._room = QWidget()
        self._room.hide()
        row.addWidget(self._room)
        self.side = SidePanels(self, models.trace, models.run_tree, self.first_focus, changes=models.changes)
        self._changes = ChangesBeside(models.changes, self.side, self.toast)
        self._documents = DocumentBeside(models, self.side, self.toast)
        self.pane.foot.installEventFilter(self)
        self._connect()

    @property
    def foot_in_use(self) -> QWidget:
        """The foot of the page, which no toast may cover."""
        return self.pane.foot.composer

    def _connect(self) -> None:
        models, chat = self._models, self._models.chat
        chat.opened.connect(self.threads.select)
        chat.exported.connect(self._save_export)
        models.threads.open_requested.connect(self.open)
        chat.announced.connect(self.toast.say)
        for said in (models.attaching.refused, models.threads.said, models.modes.refused):
            said.connect(self.toast.say)
        self.threads.opened.connect(self.open)
        self.threads.keys_left.connect(lambda: self.pane.foot.composer.text.setFocus(Qt.FocusReason.MouseFocusReason))
        self.threads.debate_wanted.connect(self.debate_wanted)
        self.threads.new_chat.connect(self.new_chat)
        self.threads.new_chat_in.connect(self._new_chat_in)
        self._project = ProjectChip(self, models, self.pane)
        models.projects.said.connect(self.toast.say)
        self._edge = EdgeChip(self, models.edge, self.pane.header, self.toast)
        self.threads.rename_wanted.connect(self._rename)
        self._variables = Variables(self, models, self.toast)
        if models.approvals.grants is not None:
            models.approvals.grants.said.connect(self.toast.say)
        models.threads.left.connect(self._left)
        models.threads.came_back.connect(self._came_back)
        self.pane.header.fold.clicked.connect(self._toggle_list)
        self.pane.new_chat.connect(self.new_chat)
        self.pane.job_wanted.connect(self.job_wanted)
        self.threads.job_wanted.connect(self.job_wanted)
        self.pane.said.connect(self.toast.say)
        self.pane.request_wanted.connect(self.request_wanted)
        self._connect_side()
        chat.opened.connect(models.trace.open_thread)
        chat.opened.connect(models.run_tree.open_thread)
        chat.opened.connect(models.changes.open_thread)
        chat.opened.connect(models.context.open_thread)
        models.context.said.connect(self.toast.say)
        figures = self.pane.header.meters
        self.pane.header.context_wanted.connect(
            lambda: context_popover.open_below(figures, self, models, self.show_context)
        )

    def _connect_side(self) -> None:
        side, header = self.side, self.pane.header
        header.trace.clicked.connect(self.toggle_trace)
        header.agents.clicked.connect(self.toggle_agents)
        header.changes.clicked.connect(self.toggle_changes)
        side.changed.connect(self._side_changed)
        side.said.connect(self.toast.say)
        side.card_wanted.connect(self._show_card)
        side.activity_wanted.connect(lambda tool: self.activity_wanted.emit(self._models.chat.thread_id, tool))
        side.request_wanted.connect(self._show_request)
        side.thread_wanted.connect(self.thread_wanted)

    def first_focus(self) -> QWidget:
        """Keys go to the composer."""
        return self.pane.foot.composer.text

    def help_topic(self) -> str:
        """The page of help for what stands beside the thread, or for chats."""
        return HELP_BESIDE.get(self.side.shown, "chats")

    def take_typed(self, text: str) -> None:
        """Take in what was typed before there was a page."""
        self.pane.foot.composer.text.insertPlainText(text)

    @property
    def trace(self) -> TracePanel | None:
        """The trace panel, once it was wanted; None before."""
        return self.side.trace

    # -- from the shell ---------------------------------------------------------------------------------------------

    def open(self, thread_id: str, message_id: str = "") -> None:
        """Show a thread, at a message if one is named."""
        if thread_id != self._models.chat.thread_id:
            self._show(thread_id)
        if message_id:
            self.pane.jump(message_id)
        if self._narrow:
            self.threads.setVisible(False)

    def open_call(self, thread_id: str, call_id: str) -> None:
        """Show a thread, at the card of a call."""
        again = thread_id == self._models.chat.thread_id
        self.open(thread_id)
        if again and self.pane.jump_to_call(call_id):
            return
        if again:
            self._show(thread_id)
        self.pane.await_call(call_id)

    def show_context(self) -> None:
        """Show what the model reads of the open thread."""
        card = context_card.ContextCard(self.window(), self._models.context, self._models.chat)
        card.jump_wanted.connect(self.pane.jump)
        card.open()

    def new_chat(self) -> None:
        """An empty chat, with the keys in its composer."""
        self.pane.foot.keep_draft()
        self._models.chat.new_thread()
        self.pane.foot.composer.text.setFocus()

    def _new_chat_in(self, project: str) -> None:
        self.new_chat()
        self._models.projects.use(project)

    def begin_find(self) -> None:
        """Search the page, or the trace or the document while the keys are there (Ctrl+F)."""
        if not self.side.begin_find():
            self.pane.find_bar.begin()

    def toggle_trace(self) -> None:
        """Show or hide the trace (Ctrl+Shift+T); on an answer that has the keys, its run is shown."""
        answer = self.pane.current_message
        self.side.toggle(TRACE)
        if answer and self.side.shown == TRACE:
            self._models.trace.choose_message(answer)

    def toggle_agents(self) -> None:
        """Show or hide the agents of the run (Ctrl+Shift+A)."""
        self.side.toggle(AGENTS)

    def toggle_changes(self) -> None:
        """Show or hide what was changed in this thread (Ctrl+Shift+G)."""
        self.side.toggle(CHANGES)

    def undo(self) -> None:
        """Show what was changed, with the newest call that can be undone."""
        self._changes.choose_last()

    def show_trace(self, is_open: bool) -> None:
        """The trace beside the thread, or nothing."""
        self.show_side(TRACE if is_open else "")

    def show_side(self, name: str) -> None:
        """``trace``, ``agents``, ``changes`` or nothing beside the thread."""
        if not self.side.show(name):
            self.pane.header.show_side(name)

    def _side_changed(self, name: str) -> None:
        self.pane.header.show_side(name)
        self._place()
        self.side_changed.emit(name)
        self.topic_changed.emit()

    def _show_card(self, call_id: str) -> None:
        if self.side.is_over:
            self.show_side("")
        self.open_call(self._models.chat.thread_id, call_id)

    def _show_request(self, request: PermissionRequest) -> None:
        own = request.thread_id == self._models.chat.thread_id
        (self.request_wanted if own else self.inbox_wanted).emit(request.request_id)

    def search_threads(self) -> None:
        """Move the keys to the search of the threads (Ctrl+Shift+F)."""
        self.threads.setVisible(True)
        if not self.threads.searching:
            self.threads.toggle_search()
        self.threads.field.setFocus()

    def choose_project(self) -> None:
        """Choose the folder that this chat works in (Ctrl+Shift+O)."""
        self._project.choose()

    # -- inside -----------------------------------------------------------------------------------------------------

    def _rename(self, thread_id: str) -> None:
        self.open(thread_id)
        self.pane.header.edit_title()

    def _left(self, thread_ids: tuple[str, ...], beside: str) -> None:
        """One or several left the list: of the open one its neighbour is shown."""
        was = self._models.chat.thread_id
        if was not in thread_ids:
            return
        self._was_open = (was, beside)
        self._show(beside)
        if not beside:  # the list has nothing left to keep the keys
            self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def _came_back(self, thread_ids: tuple[str, ...]) -> None:
        """The open one was among them, and nothing else was opened since."""
        if self._was_open[0] in thread_ids and self._models.chat.thread_id == self._was_open[1]:
            self._show(self._was_open[0])

    def _show(self, thread_id: str) -> None:
        """Open another chat; the draft stays with the one it was typed in."""
        self.pane.foot.keep_draft()
        self._models.chat.open_thread(thread_id)

    def _save_export(self, fmt: str, data: bytes) -> None:
        dialog = FileDialog(self, "Export this chat")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(fmt)
        dialog.selectFile(f"{file_name(self._models.chat.title)}.{fmt}")
        dialog.fileSelected.connect(lambda path: self._models.chat.save_export(path, data))
        dialog.open()

    def _toggle_list(self) -> None:
        self.threads.setVisible(not self.threads.isVisible())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold the list of threads away where the page is narrow."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """What is beside the thread, or over it; the list where there is room."""
        beside = self.side.place(self.pane.foot)
        narrow = self.width() - beside < theme().px(NARROW)
        folds, self._narrow = narrow != self._narrow, narrow
        if folds:
            self.pane.header.fold.setVisible(narrow)
        if folds and narrow:
            self.threads.setVisible(False)
        self._room.setFixedWidth(beside)  # what is shown is laid out at once, with the thread: the list goes before it
        self._room.setVisible(beside > 0)
        if folds and not narrow:
            self.threads.setVisible(True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The message field grew or shrank: what lies above it follows."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.side.is_over:
            self._place()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes what is on top: find, editing, search. It never answers a request."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.pane.find_bar.isVisible():
            self.pane.find_bar.put_away()
        elif self.pane.foot.editing.isVisible():
            self.pane.foot.editing.cancel()
        elif self.threads.searching:
            self.threads.close_search()
        elif self.side.is_over and self.side.shown:
            self.side.show("", keys=True)
        else:
            super().keyPressEvent(event)
