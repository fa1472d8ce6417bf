"""The head of an open thread: its title, the context meter, tokens and cost, and the thread's menu."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QStackedLayout, QWidget

from desktop.domain.threads import ThreadJob
from desktop.presenter.chat_state import Meters
from desktop.presenter.item_builder import human_cost, human_count
from desktop.presenter.job_words import STATUS, chip_words, short
from desktop.ui.run_panel.head import AGENTS_KEYS
from desktop.ui.theme import theme
from desktop.ui.widgets.buttons import Button, IconButton
from desktop.ui.widgets.marks import MeterBar
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

TRACE_KEYS = "Ctrl+Shift+T"


class TitleText(Text):
    """The title; a double click or F2 edits it."""

    edit_wanted = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Edit."""
        self.edit_wanted.emit()


class ContextText(Text):
    """The context in figures; a click, Return or Space tells what the model reads."""

    pressed = Signal()

    def __init__(self, text: str, role: str, tone: str) -> None:
        super().__init__(text, role, tone)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip("What the model reads of this thread")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Tell."""
        self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell, on the keys of a button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.pressed.emit()
        else:
            super().keyPressEvent(event)


class TitleField(QLineEdit):
    """The title being edited: Enter keeps it, Escape and leaving with nothing typed keep the old one."""

    done = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(200)
        self.setAccessibleName("Title of this thread")
        self.editingFinished.connect(self._finished)
        self._over = True

    def begin(self, text: str) -> None:
        """Start editing."""
        self._over = False
        self.setText(text)
        self.selectAll()
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives up."""
        if event.key() == Qt.Key.Key_Escape:
            self._over = True
            self.done.emit("")
            return
        super().keyPressEvent(event)

    def _finished(self) -> None:
        if not self._over:
            self._over = True
            self.done.emit(self.text().strip())


class ThreadHeader(QFrame):
    """48 pixels; says what was pressed."""

    renamed = Signal(str)
    context_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("pane", "header")
        sized(self, height=48, min_width=240)
        self.title = TitleText("New chat", "title", elide="right")
        self.job = Button("Job", icon="schedules", small=True, shrinks=True)
        self.job.setVisible(False)
        self.field = TitleField()
        self._level = MeterBar("Context used")
        self._context = ContextText("", "small", "2")
        self._context.pressed.connect(self.context_wanted)
        self._label = Text("Context", "small", "3")
        self._tokens = Text("", "small", "2")
        self._cost = Text("", "small", "2")
        self.trace = IconButton("trace", "Show the trace", shortcut=TRACE_KEYS, side=32)
        self.trace.setCheckable(True)
        self.agents = IconButton("agent", "Show the agents", shortcut=AGENTS_KEYS, side=32)
        self.agents.setCheckable(True)
        self.more = IconButton("more", "More for this thread", side=32)
        self._fold = IconButton("sidebar", "Show the list of threads", side=32)
        self._fold.setVisible(False)
        self._narrow = False
        self._lay_out()
        self.title.edit_wanted.connect(self.edit_title)
        self.field.done.connect(self._edited)

    @property
    def fold(self) -> IconButton:
        """Shows the list of threads where the window is too narrow for it."""
        return self._fold

    def _lay_out(self) -> None:
        row = Row(self, margins=(24, 0, 12, 0), spacing=8)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.title)
        self._stack.addWidget(self.field)
        row.addWidget(self._fold)
        row.addWidget(holder, 1)
        row.addWidget(self.job)
        self._meters = QWidget()
        meters = Row(self._meters, spacing=8)
        self._lines = [sized(pane("line-v"), height=16) for _ in range(2)]
        for widget in (
            self._label, self._level, self._context, self._lines[0], self._tokens, self._lines[1], self._cost,
        ):  # fmt: skip
            meters.addWidget(widget)
        row.addWidget(self._meters)
        row.addSpacing(theme().px(8))
        row.addWidget(self.trace)
        row.addWidget(self.agents)
        row.addWidget(self.more)

    def show_title(self, text: str) -> None:
        """The thread's title, in one line."""
        self.title.setText(" ".join(text.split()))
        self.title.update()

    def show_job(self, job: ThreadJob | None) -> None:
        """Whose run this is and how it ended; the way to the job, while there is one."""
        self.job.setVisible(job is not None)
        self._label.setVisible(job is None and not self._narrow)
        if job is not None:
            icon = STATUS[job.status][0] if job.status in STATUS else "schedules"
            self.job.set_icon("schedules" if icon == "allow" else icon)
            self.job.set_label(chip_words(job))
            self.job.setEnabled(not job.deleted)
            self.job.setToolTip("" if job.deleted else f"Open {shown_line(short(job.name))} in Schedules")

    def show_side(self, name: str) -> None:
        """The buttons follow what stands beside the thread."""
        for button, own, what, keys in (
            (self.trace, "trace", "trace", TRACE_KEYS), (self.agents, "agents", "agents", AGENTS_KEYS),
        ):  # fmt: skip
            button.setChecked(name == own)
            button.set_name(f"{'Hide' if name == own else 'Show'} the {what}", keys)

    def edit_title(self) -> None:
        """Put the field in the title's place."""
        self._stack.setCurrentWidget(self.field)
        self.field.begin(self.title.text())

    def _edited(self, text: str) -> None:
        self._stack.setCurrentWidget(self.title)
        if text and text != self.title.text():
            self.renamed.emit(text)

    def show_meters(self, meters: Meters) -> None:
        """Context used of the window, tokens, cost; what is not known says so."""
        used = human_count(meters.context_used)
        window = meters.context_window
        share = meters.context_used / window if window else 0.0
        words = f"{used} of {human_count(window)}" if window else (f"{used}, window unknown" if meters.model else used)
        if meters.compacting:
            words += ", older messages are left out" if meters.dropped else ", older messages are summarised"
        elif share >= 0.95:
            words += ", full: start a new thread"
        self._context.setText(words)
        self._context.set_tone("failed" if share >= 0.95 else "ask" if share >= 0.8 else "2")
        self._level.set_fraction(share)
        self._level.setVisible(bool(window))
        self._level.setAccessibleName(f"Context {words}")
        started = meters.tokens > 0
        self._tokens.setText(f"{human_count(meters.tokens)} tokens")
        self._cost.setText(human_cost(meters.cost))
        for widget in (self._tokens, self._cost, *self._lines):
            widget.setVisible(started)
        for label in (self._context, self._tokens, self._cost):
            label.updateGeometry()

    def show_narrow(self, narrow: bool) -> None:
        """Where the pane is narrow the meters give way to the title."""
        self._narrow = narrow
        self._label.setVisible(not narrow and self.job.isHidden())
        self._tokens.setVisible(not narrow and bool(self._tokens.text()) and self._tokens.text() != "0 tokens")
        self._lines[0].setVisible(self._tokens.isVisible())
