"""What stands in a chat of an agent of another maker: what is seen of it below the head, and its plan."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.chat.other_agent import OtherAgentShown, PlanRow
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

STATES = {"done": ("allow", "allow"), "now": ("running", "running"), "next": ("step", "text-3")}
"""(icon, colour token) of a step."""
SHOWN = 8
"""Steps that have room."""
LOW = 700
"""Pixels at 100 % of a window in which the plan is folded at first, so that it leaves the conversation its place."""


class OtherAgentStrip(QFrame):
    """Hidden for a chat with an agent of Assent's own. ``wanted``: the page that says what the agent
    of this name may do."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "strip")
        row = Row(self, margins=(24, 4, 12, 4), spacing=8)
        row.addWidget(Icon("read", "text-2", 16, line="body"), 0, Qt.AlignmentFlag.AlignTop)
        self._words = Paragraph("", "body", "2")
        row.addWidget(self._words, 1)
        self.more = Button("What it may do", "quiet", small=True)
        self._name = ""
        self.more.clicked.connect(lambda: self.wanted.emit(self._name))
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_agent(self, agent: OtherAgentShown | None) -> None:
        """Say what is seen of it and what is not, or hide the strip."""
        self.setVisible(agent is not None)
        if agent is not None:
            self._name = agent.name
            seen, not_seen = f" {agent.seen}.  ", f" {shown_line(agent.not_seen)}."
            self._words.set_pieces((("Seen:", "strong"), (seen, ""), ("Not seen:", "strong"), (not_seen, "")))
            self.setAccessibleName(self._words.text())
            self.more.setAccessibleName(f"What {shown_line(agent.title)} may do")


class PlanCard(QFrame):
    """The steps that an agent has written down; hidden where there are none. It opens and folds."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        self._shown: object = None
        self._is_open: bool | None = None
        column = Column(self, margins=(12, 6, 12, 8), spacing=4)
        head = Row(spacing=8)
        self.fold = IconButton("down", "Fold the plan", side=24)
        self.fold.clicked.connect(self._fold)
        head.addWidget(self.fold)
        head.addWidget(Text("Plan", "strong"))
        self._done, self._whose = Text("", "small", "2"), Text("", "small", "2", elide="right")
        self._whose.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self._done)
        head.addWidget(self._whose, 1)
        column.addLayout(head)
        self._now = Text("", "medium", elide="right")
        self._now.hide()
        column.addWidget(self._now)
        self._body = QWidget()
        self._steps = Column(self._body, margins=(4, 0, 0, 0), spacing=4)
        column.addWidget(self._body)
        self.hide()

    def show_agent(self, agent: OtherAgentShown | None) -> None:
        """Show its plan, or hide the card."""
        plan = agent.plan if agent is not None else ()
        self.setVisible(bool(plan))
        now = (plan, agent.plan_words if agent is not None else "")
        if agent is None or not plan or now == self._shown:
            return
        self._shown = now
        title = shown_line(agent.title)
        self._done.setText(agent.plan_words)
        self._whose.setText(f"written by {title}, changes as it works")
        self.setAccessibleName(f"Plan of {title}: {agent.plan_words}")
        self._now.setText(shown_line(next((row.text for row in plan if row.state == "now"), "")))
        self._show_now()
        clear(self._steps)
        for row in plan[:SHOWN]:
            self._steps.addWidget(_step(row))
        if len(plan) > SHOWN:
            self._steps.addWidget(Text(f"and {len(plan) - SHOWN} more", "small", "3"))

    def showEvent(self, event: QShowEvent) -> None:
        """In a low window it is folded at first."""
        super().showEvent(event)
        if self._is_open is None:
            self._open(self.window().height() >= theme().px(LOW))

    def _fold(self) -> None:
        self._open(not self._is_open)

    def _open(self, is_open: bool) -> None:
        self._is_open = is_open
        self._body.setVisible(is_open)
        self._show_now()
        self.fold.set_icon("down" if is_open else "right")
        self.fold.set_name("Fold the plan" if is_open else "Show the plan")

    def _show_now(self) -> None:
        """Folded, it says the step that is at work."""
        self._now.setVisible(not self._is_open and bool(self._now.text()))


def _step(row: PlanRow) -> QWidget:
    line = pane("empty")
    layout = Row(line, spacing=8)
    icon, token = STATES[row.state]
    layout.addWidget(Icon(icon, token, 16))
    layout.addWidget(Text(shown_line(row.text), "medium" if row.state == "now" else "body", elide="right"), 1)
    layout.addWidget(Text(row.state, "small", "running" if row.state == "now" else "2"))
    return line
