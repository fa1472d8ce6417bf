"""The page of one debate: head, meters, its turns in lanes or as a side sees them, and the foot to steer it with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QStackedLayout, QWidget

from desktop.domain.debates import DebateState
from desktop.domain.definitions import SideName
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.debates.items import TurnItem
from desktop.presenter.debates.page import DebateModels
from desktop.presenter.debates.words import label_of
from desktop.presenter.transcript.items import READ_AS
from desktop.ui.chat.cards import open_link
from desktop.ui.chat.thread_pane import card_of
from desktop.ui.debates.finding import DebateFinding
from desktop.ui.debates.footer import DebateFooter
from desktop.ui.debates.forking import Comparison, ForkDialog
from desktop.ui.debates.header import DebateHeader, MeterStrip
from desktop.ui.debates.lanes import debate_view
from desktop.ui.debates.side_view import SideView
from desktop.ui.model_picker.popup import ModelPopup
from desktop.ui.theme import theme
from desktop.ui.transcript.pictures.acting import act_on_media
from desktop.ui.transcript.pieces.rich_body import LINK
from desktop.ui.transcript.view import TranscriptView
from desktop.ui.widgets.layout.side_room import SideRoom
from desktop.ui.widgets.scaling import Column

if TYPE_CHECKING:
    from desktop.ui.approvals.request import outside as outside_texts
else:
    outside_texts = lazy_module("desktop.ui.approvals.request.outside")

NARROW = 900


class RunningPage(QFrame):
    """Shows what the view-model says and hands on what a person does."""

    request_wanted = Signal(str)
    said = Signal(str)
    export_wanted = Signal(str)
    open_wanted = Signal(str)
    command_wanted = Signal(str)

    def __init__(self, models: DebateModels) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self._models, self._debates = models, models.debates
        self.header, self.meters, self.footer = DebateHeader(), MeterStrip(), DebateFooter()
        self.view, self.side_view = debate_view(), SideView()
        self.comparison = Comparison(models.debates)
        views = (self.view, self.comparison.fork.view, self.side_view.view)
        self.finding = DebateFinding(models.debates.open, views, lambda: self._searched, self._show_turns)
        self.fork_dialog: ForkDialog | None = None
        self._compare = ""
        column = Column(self, spacing=0)
        for strip in (self.header, self.meters, self.finding.bar):
            column.addWidget(strip)
        holder = QWidget()
        holder.setMinimumHeight(1)  # what does not show just now takes no room from the buttons below
        self._stack = QStackedLayout(holder)
        for widget in (self.view, self.side_view, self.comparison):
            self._stack.addWidget(widget)
        self.conversation = SideRoom(holder)
        column.addWidget(self.conversation, 1)
        column.addWidget(self.footer)
        self._connect()

    def _connect(self) -> None:
        debates, opened, foot = self._debates, self._debates.open, self.footer
        opened.opened.connect(self._opened)
        opened.state_changed.connect(self._show_state)
        opened.items_reset.connect(self.view.set_items)
        opened.items_prepended.connect(self.view.prepend_items)
        opened.item_added.connect(self.view.add_item)
        opened.item_changed.connect(self.view.change_item)
        opened.text_appended.connect(self.view.append_text)
        self.finding.said.connect(self.said)
        self.finding.follow()
        debates.side_read.connect(self._side_read)
        debates.forked.connect(self._forked)
        foot.paused.connect(debates.pause)
        foot.resumed.connect(debates.go_on)
        foot.stepped.connect(debates.step)
        foot.stopped.connect(debates.stop)
        foot.spoke.connect(debates.speak)
        foot.taken_back.connect(debates.take_back)
        self.header.views.chosen.connect(self.show_view)
        self.header.renamed.connect(lambda title: debates.rename(opened.thread_id, title))
        self.header.more.clicked.connect(self._show_menu)
        self.comparison.closed.connect(lambda: self.show_view("lanes"))
        self.comparison.opened.connect(self.open_wanted)
        for view in (self.view, self.comparison.origin.view, self.comparison.fork.view):
            if self._models.fences is not None:
                view.colours.set_source(self._models.fences)
                view.drawings.set_source(self._models.fences)
            view.action.connect(self._act)
            view.tool_answer.connect(self._answer)
            view.overlays.follow(self._models.approvals.last_answer)
            self.conversation.uncovered.connect(view.overlays.uncovered)
            view.link_activated.connect(open_link)
            view.code_copied.connect(lambda _: self.said.emit("Code copied"))

    # -- what is shown ------------------------------------------------------------------------------------------------

    @property
    def _searched(self) -> TranscriptView:
        """The view that the search goes through: of two branches, the fork."""
        views = {self.comparison: self.comparison.fork.view, self.side_view: self.side_view.view}
        return views.get(self._stack.currentWidget(), self.view)  # type: ignore[call-overload,no-any-return]

    def _show_turns(self) -> None:
        """In place of what a side sees, and of two branches."""
        if self._stack.currentWidget() is not self.view:
            self.show_view("lanes")

    def _opened(self, thread_id: str) -> None:
        if self._compare and self._compare == thread_id:
            return
        self._compare = ""
        value = self.header.views.value
        self.show_view(value if value in ("lanes", "column") else "lanes")

    def _show_state(self, state: DebateState) -> None:
        self.header.show_state(state)
        self.meters.show_state(state)
        self.footer.show_state(state)
        if self._compare == state.thread_id and self._stack.currentWidget() is not self.comparison:
            self._show_comparison(state)
        value = self.header.views.value
        live = any(meter.round for meter in state.meters.values())
        if value in ("a", "b") and self._stack.currentWidget() is self.side_view and not live:
            self._debates.read_side(value)  # type: ignore[arg-type]

    def _show_comparison(self, state: DebateState) -> None:
        self._stack.setCurrentWidget(self.comparison)
        self.comparison.compare(state)
        self.comparison.fork.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def compare(self) -> None:
        """The open fork beside its origin."""
        state = self._debates.state
        if state is not None and state.forked_from:
            self._compare = state.thread_id
            self._show_comparison(state)

    def show_view(self, value: str) -> None:
        """Lanes, one column, or what a side sees."""
        self.header.views.set_value(value)
        self._compare = ""
        if value in ("a", "b"):
            self._stack.setCurrentWidget(self.side_view)
            self._debates.read_side(value)  # type: ignore[arg-type]
        else:
            self._stack.setCurrentWidget(self.view)
            self.view.set_arrangement("lanes" if value == "lanes" else "column")

    def _side_read(self, side: SideName, system: str, messages: object) -> None:
        state = self._debates.state
        if state is not None and self.header.views.value == side:
            self.side_view.show_side(side, label_of(state.setup.side(side), side), system, messages)  # type: ignore[arg-type]

    def _forked(self, origin: str, made: str) -> None:
        if origin == self._debates.open.thread_id:
            self._compare = made
            self.open_wanted.emit(made)

    # -- what is done -------------------------------------------------------------------------------------------------

    def _act(self, message_id: str, action: str) -> None:
        item = self._debates.open.items.get(message_id)
        acts: dict[str, Callable[[], None]] = {
            "branch": lambda: self.begin_fork(item.number if isinstance(item, TurnItem) else 0),
            "fork": self.begin_fork,
            "judge": lambda: self.ask_judge(message_id),
            "more-turns": self._debates.more_turns,
            **dict.fromkeys(("retry", "continue"), self._debates.go_on),
        }
        if action in acts:
            acts[action]()
        elif action.startswith(LINK):
            open_link(action.removeprefix(LINK))
        elif action.startswith(READ_AS):
            outside_texts.show_card_as_read(self.window(), item, action)
        elif act_on_media(self, item, action, self._debates.save_file, self.said.emit):
            return
        elif action not in ("copy", "new-chat"):
            self.command_wanted.emit(action)

    def ask_judge(self, message_id: str = "") -> None:
        """Ask which model judges, in a menu beside the button that was pressed."""
        state, setup = self._debates.state, self._models.models
        if state is None or not state.turn or state.judging:
            self.said.emit("A judge needs at least one finished turn.")
            return
        judges = ModelPopup(self, setup, setup.default_model)
        judges.setAccessibleName("Choose a judge")
        judges.chosen.connect(self._judge_chosen)
        pressed = self.view.pointer.rect_of(message_id, "judge") if self._searched is self.view else None
        judges.open_at(self.view.viewport() if pressed else self.header.more, part=pressed)

    def _judge_chosen(self, model: str) -> None:
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._debates.judge(model)

    def begin_fork(self, turn: int = -1) -> None:
        """Ask from where and with what."""
        state, setup = self._debates.state, self._models.models
        if state is None:
            return
        done = len(self._debates.open.turns)
        at = done if turn < 0 else min(turn, done)
        models: list[tuple[str, object]] = [(model.title, str(model.ref)) for model in setup.models]
        dialog = ForkDialog(self.window(), state, at, models, self._models.setup)
        dialog.answered.connect(lambda value: self._fork_answered(value, dialog))
        self.fork_dialog = dialog
        dialog.open(dialog.model_box)

    def _fork_answered(self, value: str, dialog: ForkDialog) -> None:
        self.fork_dialog = None
        if value == "fork":
            self._debates.fork(dialog.turn, dialog.setup)

    def _answer(self, request_id: str, choice: str) -> None:
        approvals = self._models.approvals
        request = approvals.request(request_id)
        shown = (self._debates.open.thread_id, self._debates.beside.thread_id)
        if request is None or request.thread_id not in shown:
            return
        if choice == "open":
            self.request_wanted.emit(request_id)
        elif choice in ("deny", "allow_once"):
            approvals.answer(request_id, choice, digest=request.digest)  # type: ignore[arg-type]

    def show_call(self, call_id: str) -> bool:
        """Scroll to the card of a call; False if there is none."""
        card = card_of(self._debates.open.items.values(), call_id)
        if card is not None:
            self.view.scroll_to_card(*card)
        return card is not None

    def _show_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        state = self._debates.state
        rows: list[tuple[str, Callable[[], None]]] = [
            ("Rename\tF2", self.header.edit_title),
            ("Fork…", self.begin_fork),
            ("Ask a judge", self.ask_judge),
            ("Export as Markdown", lambda: self.export_wanted.emit("md")),
            ("Export as a web page", lambda: self.export_wanted.emit("html")),
            ("Export as JSON", lambda: self.export_wanted.emit("json")),
            ("Delete", lambda: self._debates.delete(self._debates.open.thread_id)),
        ]
        if state is not None and state.forked_from:
            rows.insert(2, ("Compare with its origin", self.compare))
        for text, act in rows:
            menu.addAction(text).triggered.connect(lambda _=False, act=act: act())
        corner = self.header.more.mapToGlobal(self.header.more.rect().bottomRight())
        menu.popup(corner - QPoint(menu.sizeHint().width(), 0))

    def toggle_pause(self) -> None:
        """Pause after this turn, or go on (Space)."""
        state = self._debates.state
        if (
            state is None
            or state.status == "pausing"
            or not (self.footer.pause.isEnabled() or self.footer.resume.isEnabled())
        ):
            return
        (self._debates.pause if state.status == "running" else self._debates.go_on)()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space pauses and resumes, S steps, F2 renames: wherever the keys are but in a field or on a button."""
        state = self._debates.state
        if event.key() == Qt.Key.Key_Space:
            self.toggle_pause()
        elif event.key() == Qt.Key.Key_S and not event.modifiers() and state and state.status in ("ready", "paused"):
            self._debates.step()
        elif event.key() == Qt.Key.Key_F2:
            self.header.edit_title()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the pips in the header give way where the page is narrow."""
        super().resizeEvent(event)
        self.header.show_narrow(self.width() < theme().px(NARROW))
        if self.width() >= theme().px(NARROW) and self._debates.state is not None:
            self.header.show_state(self._debates.state)
