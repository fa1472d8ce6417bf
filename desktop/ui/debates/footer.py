"""The foot of a debate: what ends it, pause, step, stop, resume, and what the moderator says."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.debates import DebateState
from desktop.presenter.debates.words import conditions
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.controls.toggles import Chip
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.layout.turning import Turning
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph
from desktop.ui.widgets.tips import plain_tip

BESIDE = 640
"""Pixels at 100 % from which on the field stands beside the buttons."""
HINT = "Speak as moderator; both sides read it before the next turn"


class WaitingChip(Chip):
    """A moderator's message that nobody has read yet; a click takes it back."""

    def __init__(self, text: str) -> None:
        super().__init__(" ".join(text.split())[:60], checked=True)
        self.setAccessibleName(f"Waiting: {text}. Take it back")
        self.setToolTip(plain_tip(f"Take back: {text[:400]}"))

    def sizeHint(self) -> QSize:
        """At most half a lane wide."""
        hint = super().sizeHint()
        return QSize(min(hint.width(), theme().px(480)), hint.height())


class DebateFooter(QFrame):
    """Says what was pressed; ``spoke`` carries the moderator's words."""

    paused = Signal()
    resumed = Signal()
    stepped = Signal()
    stopped = Signal()
    spoke = Signal(str)
    taken_back = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        self._waiting: tuple[str, ...] = ()
        column = Column(self, spacing=0)
        above = Row(margins=(24, 4, 24, 6), spacing=6)
        above.addWidget(Icon("clock", "text-3", 14, line="small"))
        self.ends = Paragraph("", "small", "3")
        above.addWidget(self.ends, 1)
        column.addLayout(above)
        self.chips = FlowRow()
        holder = Row(margins=(24, 0, 24, 6))
        holder.addWidget(self.chips, 1)
        column.addLayout(holder)
        bar = pane("footer")
        buttons, saying = QWidget(), QWidget()
        row = Row(buttons, spacing=8)
        self.pause = Button("Pause after this turn", icon="pause", key="Space", shrinks=True)
        self.resume = Button("Resume", "primary", icon="play", key="Space", shrinks=True)
        self.step = Button("Step", icon="step", tip="One turn, then pause again (S)", shrinks=True)
        self.stop = Button(
            "Stop", icon="stop", key="Ctrl+.", tip="Stop now; finished turns stay (Ctrl+.)", shrinks=True
        )
        self.field = Field("Speak as moderator", hint=HINT, icon="moderator")
        self.send = IconButton("send", "Send to both sides", shortcut="Enter")
        for button in (self.pause, self.resume, self.step, self.stop):
            row.addWidget(button)
        row.addStretch(0)
        line = Row(saying, spacing=8)
        line.addWidget(self.field, 1)
        line.addWidget(self.send)
        Column(bar, margins=(24, 12, 24, 12)).addWidget(Turning(buttons, saying, minimum=BESIDE, shares=(0, 1)))
        column.addWidget(bar)
        self._connect()

    def _connect(self) -> None:
        self.pause.clicked.connect(self.paused)
        self.resume.clicked.connect(self.resumed)
        self.step.clicked.connect(self.stepped)
        self.stop.clicked.connect(self.stopped)
        self.field.returnPressed.connect(self._speak)
        self.send.clicked.connect(self._speak)

    def _speak(self) -> None:
        text = self.field.text().strip()
        if text:
            self.field.clear()
            self.spoke.emit(text)

    def show_state(self, state: DebateState) -> None:
        """Offer only what can be done in this state."""
        going = state.status in ("running", "pausing")
        over = state.status == "ended" and state.end_reason != "cancelled"
        self.pause.setVisible(going)
        self.pause.setEnabled(state.status == "running")
        self.pause.set_label("Pausing after this turn" if state.status == "pausing" else "Pause after this turn")
        self.resume.setVisible(not going)
        self.resume.setEnabled(not over)
        self.resume.set_label("Start" if state.status == "ready" else "Resume")
        self.step.setEnabled(not going and not over)
        self.stop.setEnabled(going)
        self.field.setEnabled(not over)
        self.send.setEnabled(not over)
        self.ends.set_pieces(conditions(state.setup))
        if state.waiting != self._waiting:
            self._waiting = state.waiting
            self._show_waiting()

    def _show_waiting(self) -> None:
        chips = []
        for text in self._waiting:
            chip = WaitingChip(text)
            chip.clicked.connect(lambda _=False, text=text: self.taken_back.emit(text))
            chips.append(chip)
        self.chips.set_items(chips)
        self.chips.setVisible(bool(chips))
