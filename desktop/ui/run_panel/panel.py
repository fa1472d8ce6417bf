"""The agents beside a thread: the live tree of its run, everything about the chosen one, and its budget."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QMenu, QStackedWidget, QWidget

from desktop.domain.text.words import count_words
from desktop.presenter.run_panel.budget import limit_lines
from desktop.presenter.run_panel.nodes import AgentLine
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.ui.run_panel.budget import BudgetForm
from desktop.ui.run_panel.detail import AgentDetail
from desktop.ui.run_panel.rows import AgentModel, AgentRows
from desktop.ui.theme import theme
from desktop.ui.trace.detail import separator
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.containers import EmptyState, Resizing, Scroller
from desktop.ui.widgets.layout.panel_head import RunHead
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line

MIN_BELOW, MIN_ABOVE = 220, 120
EMPTY = (
    "No agents yet",
    "When a run begins, its agent and those that it calls show here: what each does, what it has used, and what it may "
    "use.",
)
SETTLED = 200
"""Milliseconds in which a layout has come to rest."""
KEEP, CANCEL = "keep", "cancel"


class RunPanel(QFrame):
    """``closed`` by the person; ``request_wanted`` (PermissionRequest) and ``thread_wanted`` lead elsewhere."""

    closed = Signal()
    said = Signal(str)
    request_wanted = Signal(object)
    thread_wanted = Signal(str)

    def __init__(self, agents: RunTreeViewModel, parent: QWidget | None = None, *, alone: bool = False) -> None:
        super().__init__(parent)
        self._agents = agents
        self._path = ""
        self._sought: QWidget | None = None
        self._settled = QTimer(self, singleShot=True, interval=SETTLED)
        self.setProperty("pane", "side")
        self.setAccessibleName("Agents")
        self.head = RunHead(alone=alone)
        self.model = AgentModel()
        self.rows = AgentRows(self.model)
        self.detail = AgentDetail()
        self.budget = BudgetForm()
        self._lay_out()
        self._connect()
        self._shown()

    def _lay_out(self) -> None:
        column = Column(self, margins=(1, 0, 0, 0), spacing=0)
        column.addWidget(self.head)
        self._body = Resizing()
        self._body.resized.connect(self.place)
        self._empty = EmptyState("agent", *EMPTY)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._body)
        column.addWidget(self._pages, 1)
        self.rows.setParent(self._body)
        self._line = separator()
        self._line.setParent(self._body)
        self._scroller = Scroller(margins=(0, 0, 0, 0), spacing=0)
        self._scroller.setParent(self._body)
        self._scroller.setAccessibleName("The chosen agent in full, and its budget")
        for widget in (self.detail, separator(), self.budget):
            self._scroller.column.addWidget(widget)
        self._scroller.column.addStretch(1)

    def _connect(self) -> None:
        agents, rows, detail = self._agents, self.rows, self.detail
        agents.shown.connect(self._shown)
        agents.moved.connect(self._moved)
        agents.said.connect(self.said)
        agents.request_wanted.connect(self.request_wanted)
        agents.thread_wanted.connect(self.thread_wanted)
        self.head.close_button.clicked.connect(self.closed)
        rows.chosen.connect(self._chosen)
        rows.folded.connect(agents.fold)
        rows.go_wanted.connect(agents.go)
        rows.pause_wanted.connect(agents.toggle_pause)
        rows.cancel_wanted.connect(self.ask_cancel)
        rows.menu_wanted.connect(self._show_menu)
        detail.request_wanted.connect(lambda: agents.go(self._path))
        detail.thread_wanted.connect(lambda: agents.open_thread_of(self._path))
        detail.pause_wanted.connect(lambda: agents.toggle_pause(self._path))
        detail.cancel_wanted.connect(lambda: self.ask_cancel(self._path))
        self.budget.wanted.connect(self._change_budget)
        self.budget.wrong.connect(self._show_wrong)
        self._scroller.verticalScrollBar().rangeChanged.connect(self._seek)
        theme().changed.connect(self.place)

    def first_focus(self) -> QWidget:
        """Keys go to the list."""
        return self.rows if self.model.lines else self.head.close_button

    # -- what is shown ------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the run while the panel is on the screen."""
        super().showEvent(event)
        self._agents.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the run while the panel is hidden."""
        super().hideEvent(event)
        self._agents.watch(False)

    def _shown(self) -> None:
        """Show another run, or none; its own agent is chosen, or the one whose thread is open."""
        self._path = ""
        lines = self._agents.lines()
        self.model.reset(list(lines))
        self._scroller.verticalScrollBar().setValue(0)
        if lines:
            own = self._agents.own_path
            self.rows.select(own if self.model.row_of(own) >= 0 else lines[0].path)
        self._moved()
        self.rows.scrollTo(self.rows.currentIndex())

    def _moved(self) -> None:
        lines = self._agents.lines()
        waited = bool(lines) and self._pages.currentWidget() is self._empty and self.head.close_button.hasFocus()
        self._pages.setCurrentWidget(self._body if lines else self._empty)
        if waited:  # the keys were put there for want of anything else
            self.rows.setFocus(Qt.FocusReason.OtherFocusReason)
        self.rows.refresh(lines)
        if lines and self.rows.current is None:
            self.rows.select(self._nearest(lines[0].path))
        tree = self._agents.tree
        at_work = tree.at_work if tree is not None else 0
        words = f"{count_words(at_work, 'agent')} at work" if at_work else "the run is over" if lines else ""
        if self.head.count.text() != words:
            self.head.count.setText(words)
        self._refresh_below()

    def _nearest(self, top: str) -> str:
        """The one above the chosen one that shows: its branch was folded, or it was long over."""
        line = self._agents.line(self._path)
        while line is not None and self.model.row_of(line.path) < 0:
            line = self._agents.line(line.facts.parent)
        return line.path if line is not None else top

    def _refresh_below(self) -> None:
        line = self._agents.line(self._path)
        if line is None:
            return
        asks = self._agents.request_of(self._path) is not None
        self.detail.show_line(line, asks=asks, thread=bool(self._agents.thread_of(self._path)))
        above = self._agents.tree.above(self._path) if self._agents.tree is not None else ()
        limits = limit_lines(line.facts, above)
        self.budget.show_limits(self._path, limits, ended=line.facts.state.over, below=line.below > 0)
        self.place()

    def _chosen(self, path: str) -> None:
        if path != self._path:
            self._path = path
            self._scroller.verticalScrollBar().setValue(0)
            self._refresh_below()

    # -- what is done -------------------------------------------------------------------------------------------------

    def ask_cancel(self, path: str) -> None:
        """End a branch; asks first where other agents would end with it."""
        line = self._agents.line(path)
        if line is None or line.facts.state.over or line.facts.stopping:
            return
        below = self._agents.living_below(path)
        if not below:
            self._agents.cancel(path)
            return
        name = shown_line(line.facts.agent[:60])
        more = count_words(below, "agent")
        dialog = Dialog(
            self.window(),
            f"Cancel {name}?",
            f"The {more} that it has called {'ends' if below == 1 else 'end'} with it. What they have done stays.",
            (
                DialogAnswer(KEEP, "Keep them working", key="Esc"),
                DialogAnswer(CANCEL, f"Cancel all {below + 1}", "danger"),
            ),
        )
        dialog.answered.connect(lambda answer: self._agents.cancel(path) if answer == CANCEL else None)
        dialog.open()

    def _change_budget(self, texts: dict[str, str]) -> None:
        self.budget.taken(self._agents.change_budget(self._path, texts))
        self.place()

    def _show_wrong(self, row: QWidget) -> None:
        """The words below it have only just come: while they are laid out, it is brought into sight."""
        self._sought = row
        self._settled.start()
        self._seek()

    def _seek(self) -> None:
        if self._settled.isActive() and self._sought is not None:
            self._scroller.ensureWidgetVisible(self._sought)

    def _show_menu(self, path: str, place: QPoint) -> None:
        self.rows.select(path)
        line = self._agents.line(path)
        if line is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, act, enabled in self._acts(line):
            action = menu.addAction(text)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _=False, act=act: act(path))
        menu.popup(place)

    def _acts(self, line: AgentLine) -> tuple[tuple[str, Callable[[str], None], bool], ...]:
        agents, lives = self._agents, not (line.facts.state.over or line.facts.stopping)
        pause = "Resume\tSpace" if line.facts.pause_asked else "Pause\tSpace"
        return (
            ("Show request\tReturn", agents.go, agents.request_of(line.path) is not None),
            (pause, agents.toggle_pause, lives),
            ("Cancel\tDel", self.ask_cancel, lives),
            ("Open its chat", agents.open_thread_of, bool(agents.thread_of(line.path))),
        )

    # -- places -------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """The list takes what it needs, the rest keeps at least what it has to."""
        px, width, height = theme().px, self._body.width(), self._body.height()
        column = self._scroller.column
        needed = column.heightForWidth(width) if column.hasHeightForWidth() else column.sizeHint().height()
        minimum = min(needed, max(px(MIN_BELOW), height * 55 // 100))
        above = min(self.rows.content_height, max(px(MIN_ABOVE), height - minimum))
        self.rows.setGeometry(QRect(0, 0, width, above))
        self._line.setGeometry(QRect(0, above, width, 1))
        self._scroller.setGeometry(QRect(0, above + 1, width, max(0, height - above - 1)))
