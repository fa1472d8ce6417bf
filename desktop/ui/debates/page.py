"""The Debates page: the list at the left; at the right a new debate, or the open one, with its agents beside it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.common.exporting import file_name
from desktop.presenter.debates.page import DebateModels
from desktop.ui.chat.side import AGENTS, SidePanels
from desktop.ui.debates.list_pane import DebateList
from desktop.ui.debates.running import RunningPage
from desktop.ui.debates.setup_page import SetupPage
from desktop.ui.theme import theme
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.scaling import Row

NARROW = 1000
"""Below this width of the page (at 100 %) the list folds away."""
BESIDE = 1160
"""Below this width of the window the agents lie over the debate: two lanes need room."""


class DebatesPage(QWidget):
    """Puts the panes together; what they do is in the view-models."""

    request_wanted = Signal(str)
    inbox_wanted = Signal(str)
    """a request of another thread"""
    command_wanted = Signal(str)
    opened = Signal(str)
    thread_wanted = Signal(str)
    agents_shown = Signal(bool)
    """the person opened or closed what stands beside the debate"""

    def __init__(self, models: DebateModels) -> None:
        super().__init__()
        self._models = models
        self._narrow = False
        self._folded: bool | None = None
        self._kept = ""
        self._beside = False
        self.setProperty("pane", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.list = DebateList(models.debates)
        self.setup = SetupPage(models.setup, models.models)
        self.running = RunningPage(models)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.setup)
        self._stack.addWidget(self.running)
        self.toast = Toast(holder, above=self.running.footer)
        row = Row(self, spacing=0)
        row.addWidget(self.list)
        row.addWidget(holder, 1)
        self._room = QWidget()
        self._room.hide()
        row.addWidget(self._room)
        self.side = SidePanels(self, None, models.run_tree, lambda: self.running.view, BESIDE)
        self.running.footer.installEventFilter(self)
        self._connect()
        self._connect_side()
        models.setup.default_model = models.models.default_model
        models.setup.load()
        models.debates.refresh()

    def _connect(self) -> None:
        debates, setup = self._models.debates, self._models.setup
        self.list.opened.connect(self.open)
        self.list.new_debate.connect(self.new_debate)
        self.list.rename_wanted.connect(self._rename)
        self.running.open_wanted.connect(self.open)
        self.running.request_wanted.connect(self.request_wanted)
        self.running.command_wanted.connect(self.command_wanted)
        self.running.export_wanted.connect(self.export)
        setup.created.connect(self._created)
        debates.deleted.connect(self._deleted)
        self.toast.undone.connect(debates.undo_delete)
        for source in (debates.said, setup.said, self.running.said):
            source.connect(self.toast.say)
        for button in (self.setup.fold, self.running.header.fold):
            button.clicked.connect(self._toggle_list)

    def _connect_side(self) -> None:
        side = self.side
        self._models.debates.open.opened.connect(self._models.run_tree.open_thread)
        self.running.header.agents.clicked.connect(self.toggle_agents)
        side.changed.connect(self._side_changed)
        side.said.connect(self.toast.say)
        side.request_wanted.connect(self._show_request)
        side.thread_wanted.connect(self.thread_wanted)

    def first_focus(self) -> QWidget:
        """Keys go to the topic, or to the turns."""
        return self.setup.topic if self._stack.currentWidget() is self.setup else self.running.view

    def showEvent(self, event: QShowEvent) -> None:
        """What happened elsewhere meanwhile is in the list."""
        super().showEvent(event)
        self._models.debates.refresh()
        self._models.setup.reload()

    # -- from the shell -----------------------------------------------------------------------------------------------

    def open(self, thread_id: str, message_id: str = "") -> None:
        """Show a debate, at a message if one is named."""
        self._kept = ""
        opened = self._models.debates.open
        again = thread_id == opened.thread_id
        if not (again and (not message_id or self.running.finding.jump(message_id))):
            self.running.finding.await_message(message_id)
            opened.open(thread_id)
        self._show(self.running)
        self.list.select(thread_id)
        self.running.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.opened.emit(thread_id)

    def restore(self, thread_id: str) -> None:
        """Show what was open when the app was closed, if it is still there and nothing else was asked for meanwhile."""
        self._kept = thread_id
        self._models.debates.rearranged.connect(self._restore)

    def _restore(self) -> None:
        self._models.debates.rearranged.disconnect(self._restore)
        if self._kept in self._models.debates.rows:
            self.open(self._kept)

    def open_call(self, thread_id: str, call_id: str) -> None:
        """Show a debate at the card of a call, if it is loaded."""
        self.open(thread_id)
        self.running.show_call(call_id)

    def new_debate(self) -> None:
        """The set-up, with the keys in its topic."""
        self._kept = ""
        self.opened.emit("")
        self._show(self.setup)
        self.list.select("")
        self.setup.topic.setFocus()

    def begin_with(self, agent: str) -> None:
        """The set-up with an agent of two sides."""
        self.new_debate()
        self._models.setup.choose_agent(agent)

    def export(self, form: str) -> None:
        """Ask where to save the export; the dialog does not block."""
        state = self._models.debates.state
        if state is None or self._stack.currentWidget() is not self.running:
            self.toast.say("Open a debate first.")
            return
        dialog = FileDialog(self, "Export this debate")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(form)
        dialog.selectFile(f"{file_name(state.title or state.setup.topic)}.{form}")
        dialog.fileSelected.connect(lambda path: self._models.debates.export(path, form))  # type: ignore[arg-type]
        dialog.open()

    def begin_find(self) -> None:
        """Search the turns of the open debate, else the list (Ctrl+F)."""
        if self._stack.currentWidget() is self.running:
            self.running.finding.begin()
            return
        self.list.setVisible(True)
        if not self.list.searching:
            self.list.toggle_search()

    def act(self, name: str) -> None:
        """A command of the palette: pause, step, stop, judge, fork, lanes …"""
        running, debates = self.running, self._models.debates
        if self._stack.currentWidget() is not running:
            self.toast.say("Open a debate first.")
            return
        acts = {
            "pause": running.toggle_pause,
            "step": debates.step,
            "stop": debates.stop,
            "judge": running.ask_judge,
            "fork": running.begin_fork,
            "compare": running.compare,
        }
        if name in acts:
            acts[name]()
        else:
            running.show_view(name)

    # -- the agents of the open debate --------------------------------------------------------------------------------

    def toggle_agents(self) -> None:
        """Show or hide the agents of the open debate (Ctrl+Shift+A)."""
        if self._stack.currentWidget() is not self.running:
            self.toast.say("Open a debate first.")
            return
        self.side.toggle(AGENTS)

    def show_agents(self, wanted: bool) -> None:
        """The agents beside the debate whenever one is open, or nothing."""
        self._beside = wanted
        self.side.show(AGENTS if wanted and self._stack.currentWidget() is self.running else "")
        self.running.header.show_agents(bool(self.side.shown))

    def _side_changed(self, name: str) -> None:
        self.running.header.show_agents(bool(name))
        if self._stack.currentWidget() is self.running and self._beside != bool(name):
            self._beside = bool(name)
            self.agents_shown.emit(self._beside)
        self._place()

    def _show_request(self, request: PermissionRequest) -> None:
        own = request.thread_id == self._models.debates.open.thread_id
        (self.request_wanted if own else self.inbox_wanted).emit(request.request_id)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _show(self, page: QWidget) -> None:
        self._stack.setCurrentWidget(page)
        self.toast.stand_above(self.running.footer if page is self.running else None)
        self.show_agents(self._beside)
        self._place()

    def _created(self, thread_id: str) -> None:
        self._models.debates.refresh()
        self.open(thread_id)

    def _rename(self, thread_id: str) -> None:
        self.open(thread_id)
        self.running.header.edit_title()

    def _deleted(self, thread_id: str, title: str) -> None:
        if thread_id == self._models.debates.open.thread_id:
            self._models.debates.open.open("")
            self.new_debate()
        self.toast.say(f"“{title[:60]}” deleted", thread_id)  # above the page that is shown now

    def _toggle_list(self) -> None:
        self._folded = not self.list.isHidden()
        self._show_list(not self._folded)

    def _show_list(self, shown: bool) -> None:
        """The way to help stands in its head, and without it in the head beside it."""
        self.list.setVisible(shown)
        for head in (self.setup, self.running.header):
            head.help.setVisible(not shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold the list of debates away where the page is narrow."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """The list beside the set-up where there is room; beside a debate only when the person asks for it."""
        narrow = self.width() < theme().px(NARROW)
        folded = narrow or self._stack.currentWidget() is self.running
        if self._folded is None or folded != self._narrow:
            self._narrow, self._folded = folded, folded
            self._show_list(not folded)
        self.setup.fold.setVisible(narrow)
        room = self.side.place(self.running.footer)
        self._room.setFixedWidth(room)
        self._room.setVisible(room > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The foot grew or shrank: what lies above it follows."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.side.is_over:
            self.side.place(self.running.footer)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes what is on top: find, then the search, then what lies over the debate."""
        if event.key() == Qt.Key.Key_Escape and self.running.finding.bar.isVisible():
            self.running.finding.bar.put_away()
        elif event.key() == Qt.Key.Key_Escape and self.list.searching:
            self.list.toggle_search()
        elif event.key() == Qt.Key.Key_Escape and self.side.is_over and self.side.shown:
            self.side.show("", keys=True)
        else:
            super().keyPressEvent(event)
