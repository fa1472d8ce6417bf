"""The Chats page: threads at the left, the open thread with its composer at the right."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from desktop.ui.chat.context_card import ContextCard
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.thread_list import ThreadList
from desktop.ui.chat.thread_pane import ThreadPane
from desktop.ui.theme import theme
from desktop.ui.trace.panel import WIDTH, TracePanel
from desktop.ui.widgets.files import FileDialog
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.toast import Toast

NARROW = 840
"""Below this width of the page (at 100 %) the list of threads folds away."""
BESIDE = 1040
"""Below this width of the window (at 100 %) the trace lies over the thread."""


class ChatPage(QWidget):
    """Puts the two panes together; what they do is in the view-models."""

    request_wanted = Signal(str)
    trace_toggled = Signal(bool)
    activity_wanted = Signal(str, str)
    """thread, tool"""
    debate_wanted = Signal(str, str)
    """thread, message"""

    def __init__(self, models: ChatModels, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models = models
        self._narrow = False
        self.setProperty("pane", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.threads = ThreadList(models.threads)
        self.pane = ThreadPane(models, self)
        self.toast = Toast(self.pane, above=self.pane.foot.composer)
        row = Row(self, spacing=0)
        row.addWidget(self.threads)
        row.addWidget(self.pane, 1)
        self._room = QWidget()
        self._room.hide()
        row.addWidget(self._room)
        self.trace: TracePanel | None = None
        self.pane.foot.installEventFilter(self)
        self._connect()

    @property
    def foot_in_use(self) -> QWidget:
        """What no toast may cover."""
        return self.pane.foot.composer

    def _connect(self) -> None:
        models, chat = self._models, self._models.chat
        chat.opened.connect(self.threads.select)
        chat.exported.connect(self._save_export)
        models.threads.deleted.connect(self._deleted)
        models.threads.open_requested.connect(self.open)
        chat.announced.connect(self.toast.say)
        models.attaching.refused.connect(self.toast.say)
        self.threads.opened.connect(self.open)
        self.threads.debate_wanted.connect(self.debate_wanted)
        self.threads.new_chat.connect(self.new_chat)
        self.threads.rename_wanted.connect(self._rename)
        self.toast.undone.connect(models.threads.undo_delete)
        self.pane.header.fold.clicked.connect(self._toggle_list)
        self.pane.new_chat.connect(self.new_chat)
        self.pane.said.connect(self.toast.say)
        models.modes.refused.connect(self.toast.say)
        self.pane.request_wanted.connect(self.request_wanted)
        self.pane.header.trace.clicked.connect(self.toggle_trace)
        chat.opened.connect(models.trace.open_thread)
        chat.opened.connect(models.context.open_thread)
        models.context.said.connect(self.toast.say)
        self.pane.header.context_wanted.connect(self.show_context)

    def first_focus(self) -> QWidget:
        """Keys go to the composer."""
        return self.pane.foot.composer.text

    # -- from the shell ---------------------------------------------------------------------------------------------

    def open(self, thread_id: str, message_id: str = "") -> None:
        """Show a thread, at a message if one is named."""
        self.pane.foot.keep_draft()
        if thread_id != self._models.chat.thread_id:
            self._models.chat.open_thread(thread_id)
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
            self._models.chat.open_thread(thread_id)
        self.pane.await_call(call_id)

    def show_context(self) -> None:
        """What the model reads of the open thread."""
        card = ContextCard(self.window(), self._models.context)
        card.jump_wanted.connect(self.pane.jump)
        card.open()

    def new_chat(self) -> None:
        """An empty chat, with the keys in its composer."""
        self.pane.foot.keep_draft()
        self._models.chat.new_thread()
        self.pane.foot.composer.text.setFocus()

    def begin_find(self) -> None:
        """Ctrl+F: in the trace while the keys are there."""
        trace, focus = self.trace, self.window().focusWidget()
        if trace is not None and trace.isVisible() and focus is not None and trace.isAncestorOf(focus):
            trace.begin_find()
        else:
            self.pane.find_bar.begin()

    def toggle_trace(self) -> None:
        """Ctrl+Shift+T; on an answer that the keys are at, its run shows."""
        answer = self.pane.current_message
        self.show_trace(self.trace is None or self.trace.isHidden(), keys=True)
        if answer and self.trace is not None and not self.trace.isHidden():
            self._models.trace.choose_message(answer)

    def show_trace(self, is_open: bool, *, keys: bool = False) -> None:
        """The panel beside the thread, or nothing; it is built when it is first wanted."""
        if is_open and self.trace is None:
            self.trace = TracePanel(self._models.trace, self)
            self.trace.closed.connect(lambda: self.show_trace(False, keys=True))
            self.trace.said.connect(self.toast.say)
            self.trace.card_wanted.connect(self._show_card)
            self.trace.activity_wanted.connect(
                lambda tool: self.activity_wanted.emit(self._models.chat.thread_id, tool)
            )
            self.trace.hide()
        self.pane.header.show_trace(is_open)
        if self.trace is None or self.trace.isHidden() != is_open:
            return
        self.trace.setVisible(is_open)
        self._place()
        if keys and is_open:
            self.trace.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)
        elif keys:
            self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)
        self.trace_toggled.emit(is_open)

    def _show_card(self, call_id: str) -> None:
        if self._over and self.trace is not None:
            self.show_trace(False)
        self.open_call(self._models.chat.thread_id, call_id)

    def search_threads(self) -> None:
        """Ctrl+Shift+F."""
        self.threads.setVisible(True)
        if not self.threads.searching:
            self.threads.toggle_search()
        self.threads.field.setFocus()

    def choose_model(self) -> None:
        """Ctrl+M."""
        self.pane.foot.choose_model()

    def choose_tool_mode(self) -> None:
        """How the agent of this thread calls its tools."""
        self.pane.foot.choose_tool_mode()

    # -- inside -----------------------------------------------------------------------------------------------------

    def _rename(self, thread_id: str) -> None:
        self.open(thread_id)
        self.pane.header.edit_title()

    def _deleted(self, thread_id: str, title: str) -> None:
        self.toast.say(f"“{title[:60]}” deleted", thread_id)
        if thread_id == self._models.chat.thread_id:
            self.pane.foot.keep_draft()
            self._models.chat.new_thread()

    def _save_export(self, fmt: str, data: bytes) -> None:
        dialog = FileDialog(self, "Export this thread")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(fmt)
        dialog.selectFile(f"{file_name(self._models.chat.title)}.{fmt}")
        dialog.fileSelected.connect(lambda path: self._models.chat.save_export(path, data))
        dialog.open()

    def _toggle_list(self) -> None:
        self.threads.setVisible(not self.threads.isVisible())

    @property
    def _over(self) -> bool:
        """Whether the trace lies over the thread, for want of room."""
        return self.window().width() < theme().px(BESIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow the list folds away."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """The trace beside the thread, or over it and never over Send and Stop; the list where there is room."""
        is_open = self.trace is not None and not self.trace.isHidden()
        side = min(theme().px(WIDTH), self.width()) if is_open else 0
        beside = side if not self._over else 0
        self._room.setFixedWidth(beside)
        self._room.setVisible(beside > 0)
        if self.trace is not None and is_open:
            foot = self.pane.foot
            free = foot.mapTo(self, QPoint()).y() if self._over and foot.isVisibleTo(self) else self.height()
            self.trace.setGeometry(self.width() - side, 0, side, free)
            self.trace.raise_()
        narrow = self.width() - beside < theme().px(NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            self.pane.header.fold.setVisible(narrow)
            self.threads.setVisible(not narrow)
            self.pane.header.show_narrow(narrow)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The message field grew or shrank: the trace that lies above it follows."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self._over:
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
        elif self._over and self.trace is not None and self.trace.isVisible():
            self.show_trace(False, keys=True)
        else:
            super().keyPressEvent(event)


def file_name(title: str) -> str:
    """A title as a file name: letters, digits, dashes; never a path."""
    kept = "".join(c if c.isalnum() or c in " -_" else " " for c in title)
    return "-".join(kept.split())[:80] or "thread"
