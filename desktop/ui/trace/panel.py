"""The trace beside a thread: a run as a tree of agents, rounds and calls, or event by event."""

from __future__ import annotations

import time

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.runs.traces import TraceEntry
from desktop.presenter.trace.budget import budget_lines
from desktop.presenter.trace.node import TraceNode
from desktop.presenter.trace.panel import TraceViewModel
from desktop.presenter.trace.words import Quote, detail_of, duration, json_text, moment
from desktop.ui.theme import theme
from desktop.ui.trace.detail import BudgetView, DetailView, separator
from desktop.ui.trace.event_rows import EventsView
from desktop.ui.trace.head import TraceHead
from desktop.ui.trace.text_page import TextPage
from desktop.ui.trace.tree_model import TreeModel
from desktop.ui.trace.tree_rows import TraceRows
from desktop.ui.widgets.controls.find_bar import FindBar
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import EmptyState, Resizing, Scroller
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line

MIN_BELOW, MIN_ABOVE = 220, 140
SECOND = 1000
EMPTY = ("No run yet", "What the agent does will be listed here: its rounds, its calls, and the agents it calls.")
LOADING = ("Reading the trace", "It is read from what was stored of the run.")


class TracePanel(QFrame):
    """``closed`` by the person; ``card_wanted`` (call id) and ``activity_wanted`` (tool) lead elsewhere."""

    closed = Signal()
    said = Signal(str)
    card_wanted = Signal(str)
    activity_wanted = Signal(str)

    def __init__(self, trace: TraceViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace = trace
        self._matches: list[TraceNode] = []
        self._sought = ""
        self.setProperty("pane", "side")
        self.setAccessibleName("Trace")
        self.head = TraceHead(trace)
        self.find_bar = FindBar()
        self.find_bar.field.setAccessibleName("Find in the trace")
        self.find_bar.field.setPlaceholderText("Find in the trace")
        self.model = TreeModel()
        self.rows = TraceRows(self.model)
        self.events = EventsView(trace)
        self.detail = DetailView()
        self.budget = BudgetView()
        self.text_page = TextPage()
        self._lay_out()
        self._soon = QTimer(self, singleShot=True, interval=0)
        """While a run goes on, what stands below the lines is made in a turn of its own, after they are painted."""
        self._soon.timeout.connect(self._refresh_below)
        self._second = QTimer(self, interval=SECOND)
        self._second.timeout.connect(self._refresh_below)
        self._connect()
        self._shown()

    def _lay_out(self) -> None:
        column = Column(self, margins=(1, 0, 0, 0), spacing=0)
        column.addWidget(self.head)
        column.addWidget(self.find_bar)
        self._body = Resizing()
        self._body.resized.connect(self.place)
        self._empty = EmptyState("trace", *EMPTY)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._body)
        column.addWidget(self._pages, 1)
        self._above = QStackedWidget(self._body)
        self._above.addWidget(self.rows)
        self._above.addWidget(self.events)
        self._below = QStackedWidget(self._body)
        self._line = separator()
        self._line.setParent(self._body)
        self._scroller = Scroller(margins=(0, 0, 0, 0), spacing=0)
        self._scroller.setAccessibleName("The chosen line in full, and the budget of the run")
        for widget in (self.detail, separator(), self.budget):
            self._scroller.column.addWidget(widget)
        self._scroller.column.addStretch(1)
        self._below.addWidget(self._scroller)
        self._below.addWidget(self.text_page)

    def _connect(self) -> None:
        trace, head, rows = self._trace, self.head, self.rows
        trace.shown.connect(self._shown)
        trace.moved.connect(self._moved)
        trace.runs_changed.connect(head.picker.refresh)
        trace.matched.connect(self._matched)
        trace.copied.connect(self._copied)
        trace.said.connect(self.said)
        head.picker.picked.connect(trace.choose)
        head.views.chosen.connect(self.show_view)
        head.export.clicked.connect(self._export)
        head.close_button.clicked.connect(self.closed)
        rows.chosen.connect(lambda _: self._node_chosen())
        rows.card_wanted.connect(self._show_card)
        rows.copy_wanted.connect(trace.copy_node)
        rows.resized.connect(self.place)
        self.events.chosen.connect(self._event_chosen)
        self.detail.open_text.connect(self._open_text)
        self.detail.card_wanted.connect(lambda: self._show_card(self.chosen_node))
        self.detail.activity_wanted.connect(self._show_activity)
        self.text_page.closed.connect(self._close_text)
        self.text_page.said.connect(self.said)
        self.find_bar.wanted.connect(self._find)
        self.find_bar.closed.connect(self._focus_list)
        theme().changed.connect(self.place)

    def first_focus(self) -> QWidget:
        """Keys go to the list."""
        return self.events.list if self.head.views.value == "events" else self.rows

    # -- what is shown ------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Only what is seen is followed."""
        super().showEvent(event)
        self._trace.watch(True)
        self._second.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the run while the panel is hidden."""
        super().hideEvent(event)
        self._trace.watch(False)
        self._second.stop()

    def show_view(self, view: str) -> None:
        """Show one of the views ``tree`` and ``events``."""
        self.head.views.set_value(view)
        self._above.setCurrentWidget(self.events if view == "events" else self.rows)
        self._close_text(focus=False)

    @property
    def chosen_node(self) -> TraceNode | None:
        """The current line, or the run itself."""
        tree = self._trace.tree
        return self.rows.current or (tree.root if tree is not None else None)

    def _shown(self) -> None:
        trace = self._trace
        there = trace.tree is not None and trace.tree.root is not None
        if trace.tree is not self.model.tree:
            self.model.show_tree(trace.tree)
            self._matches, self._sought = [], ""
            self._close_text(focus=False)
        words = ("It cannot be shown", trace.problem) if trace.problem else LOADING if trace.loading else EMPTY
        self._empty.say(words[0], shown_line(words[1]))
        self._pages.setCurrentWidget(self._body if there else self._empty)
        self.head.picker.refresh()
        self.head.export.setEnabled(there)
        self._moved()

    def _moved(self) -> None:
        if self.model.tree is None:
            self.rows.set_live(False)
            return
        self.rows.set_live(self._trace.live)
        self.rows.refresh(live=self._trace.live)
        if self._pages.currentWidget() is self._empty and self.model.lines:
            self._pages.setCurrentWidget(self._body)
        if self._trace.live:
            self._soon.start()
        else:
            self._refresh_below()

    def _refresh_below(self) -> None:
        tree, node = self._trace.tree, self.chosen_node
        if tree is None or node is None or tree.root is None:
            return
        now = time.time()
        axis = tree.axis(now)
        self.detail.show_detail(detail_of(node, axis, now))
        self.budget.show_lines(budget_lines(tree, self._trace.limits, duration(tree.root, axis, now)))
        self.place()

    def _node_chosen(self) -> None:
        self._close_text(focus=False)
        self._scroller.verticalScrollBar().setValue(0)
        self._refresh_below()

    def _event_chosen(self, entry: TraceEntry) -> None:
        self._open_text(event_quote(entry), entry.type)

    def _open_text(self, quote: Quote, event: str = "") -> None:
        """Open a text of the chosen node, or of an event, which shows while keys move through the list."""
        node = self.chosen_node
        self.text_page.show_text(event or (node.title if node is not None else ""), quote, keys=not event)
        self._below.setCurrentWidget(self.text_page)
        self.place()

    def _close_text(self, *, focus: bool = True) -> None:
        had = self._below.currentWidget() is self.text_page
        self._below.setCurrentWidget(self._scroller)
        self.place()
        if had and focus:
            self._focus_list()

    def _focus_list(self) -> None:
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    # -- what is done -------------------------------------------------------------------------------------------------

    def begin_find(self) -> None:
        """Ctrl+F while the keys are here."""
        if self.head.views.value == "events":
            self.events.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.find_bar.begin()

    def _find(self, text: str, forward: bool) -> None:
        if text != self._sought or not text:
            self._sought = text
            self._trace.search(text)
        elif self._matches:
            at = self._matches.index(node) if (node := self.rows.current) in self._matches else -1
            self._go_to((at + (1 if forward else -1)) % len(self._matches))

    def _matched(self, nodes: list[TraceNode]) -> None:
        self._matches = nodes
        if nodes:
            self._go_to(0)
        else:
            self.find_bar.show_count(0, 0)

    def _go_to(self, at: int) -> None:
        self.rows.show_node(self._matches[at])
        self.find_bar.show_count(at + 1, len(self._matches))

    def _show_card(self, node: TraceNode | None) -> None:
        call_id = card_of(node, self._trace.run_id)
        if call_id:
            self.card_wanted.emit(call_id)

    def _show_activity(self) -> None:
        node = self.chosen_node
        if node is not None and node.is_call:
            self.activity_wanted.emit(node.title)

    def _copied(self, text: str, what: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.said.emit(shown_line(f"{what[:60]} copied as JSON Lines"))

    def _export(self) -> None:
        dialog = FileDialog(self.window(), "Export this trace")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("JSON Lines (*.jsonl)")
        dialog.setDefaultSuffix("jsonl")
        dialog.selectFile(f"trace-{self._trace.run_id[:8]}.jsonl")
        dialog.fileSelected.connect(self._trace.export)
        dialog.open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the search on Escape, then the text; the page around may close the panel."""
        if event.key() == Qt.Key.Key_Escape and self.find_bar.isVisible():
            self.find_bar.put_away()
        elif event.key() == Qt.Key.Key_Escape and self._below.currentWidget() is self.text_page:
            self._close_text()
        else:
            super().keyPressEvent(event)

    # -- places -------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """The list takes what it needs, the rest keeps at least what it has to."""
        px, width, height = theme().px, self._body.width(), self._body.height()
        reading = self._below.currentWidget() is self.text_page
        if self.head.views.value == "events":
            above = max(px(MIN_ABOVE), height * 55 // 100) if reading else height
        else:
            needed = self._needed(width)
            minimum = height * 6 // 10 if reading else min(needed, max(px(MIN_BELOW), height * 45 // 100))
            above = min(self.rows.content_height, max(px(MIN_ABOVE), height - minimum))
        self._above.setGeometry(QRect(0, 0, width, above))
        self._line.setGeometry(QRect(0, above, width, 1))
        self._below.setGeometry(QRect(0, above + 1, width, max(0, height - above - 1)))

    def _needed(self, width: int) -> int:
        column = self._scroller.column
        return column.heightForWidth(width) if column.hasHeightForWidth() else column.sizeHint().height()


def event_quote(entry: TraceEntry) -> Quote:
    """An event in full."""
    head = {"type": entry.type, "at": moment(entry.at), "agent": entry.agent, "context": entry.context}
    return Quote("Event", json_text({**head, **entry.plain()}))


def card_of(node: TraceNode | None, run_id: str) -> str:
    """The id of the call whose card shows a node: of a call that an agent made, that of the thread's call around it."""
    around = (node, *node.ancestors()) if node is not None else ()
    return next((n.call_id for n in reversed(around) if n.is_call and n.context == run_id), "")
