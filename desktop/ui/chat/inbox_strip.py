"""Below the head of a thread: a persistent agent waits for a message, and this is where to write to it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.transcript.items import ListeningAgent
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Labelled, TextArea
from desktop.ui.widgets.dialogs.base import DialogAnswer
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.shown import shown_line

ROWS = 4
HELP = "Programs reach it with: assent send {address} “…”"


class InboxStrip(Notice):
    """Hidden while no agent of the thread waits. Of several the one that came last shows."""

    write = Signal(object)
    """ListeningAgent"""
    copied = Signal(str)
    """an address"""

    def __init__(self) -> None:
        super().__init__("info", icon="clock", banner=True, slim=True)
        self._agent: ListeningAgent | None = None
        self.button = Button("Write to it", small=True, tip="Say something to this agent")
        self.address = Button("Copy address", "quiet", small=True, tip="For assent send, and for other agents")
        self.button.clicked.connect(lambda: self.write.emit(self._agent))
        self.address.clicked.connect(lambda: self.copied.emit(self._agent.address if self._agent is not None else ""))
        self.add(self.address)
        self.add(self.button)
        self.hide()

    def show_agents(self, agents: Sequence[ListeningAgent]) -> None:
        """Those that wait in the open thread, the latest last."""
        self._agent = agents[-1] if agents else None
        if self._agent is not None:
            more = f", as {len(agents) - 1} more do" if len(agents) > 1 else ""
            self.say(shown_line(f"{self._agent.title} stays at work and waits for a message{more}."))
        self.setVisible(self._agent is not None)


class InboxDialog(ScrolledDialog):
    """What to say to an agent that works on a skill. Opened, never executed. ``typed`` is what stands in it."""

    help_page = "agents"

    def __init__(self, window: QWidget, agent: ListeningAgent) -> None:
        answers = (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", "Send", "primary"))
        title = shown_line(f"A message for {agent.title}")
        super().__init__(window, title, "It reads this as its next task.", answers, width=520)
        self.area = TextArea(title)
        self.area.setFixedHeight(self.area.fontMetrics().lineSpacing() * ROWS + theme().px(16))
        self.scroller.column.addWidget(Labelled("Message", self.area, HELP.format(address=agent.address)))
        self.area.textChanged.connect(self._check)
        self._check()

    @property
    def typed(self) -> str:
        """The message."""
        return self.area.toPlainText()

    def _check(self) -> None:
        self.buttons["yes"].setEnabled(bool(self.typed.strip()))
        self.resized()
