"""Everything about the chosen agent, and what can be done with it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame

from desktop.presenter.run_panel.nodes import AgentLine
from desktop.presenter.run_panel.words import facts_of, look_of, state_word
from desktop.ui.trace.facts import FactList
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

OVER = "It has ended"
NAME_SHOWN, TEXT_SHOWN = 200, 600


class AgentDetail(QFrame):
    """One agent in detail. ``show_line`` fills it; a change of words alone builds nothing anew."""

    pause_wanted = Signal()
    cancel_wanted = Signal()
    request_wanted = Signal()
    thread_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        column = Column(self, margins=(16, 12, 16, 10), spacing=6)
        head = Row(spacing=8)
        self.title = Paragraph("", "strong")
        self.state = StateLabel()
        head.addWidget(self.title, 1)
        head.addWidget(self.state, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        column.addLayout(self._buttons())
        self._facts = FactList()
        column.addLayout(self._facts)

    def _buttons(self) -> Row:
        self.request = Button("Show request", small=True, icon="ask", tip="Show what it is asking you (Return)")
        self.pause = Button("Pause", small=True, icon="pause")
        self.cancel = Button("Cancel", "danger", small=True, icon="stop")
        self.open_thread = IconButton("chats", "Open its chat", side=24)
        for button, signal in (
            (self.request, self.request_wanted),
            (self.pause, self.pause_wanted),
            (self.cancel, self.cancel_wanted),
            (self.open_thread, self.thread_wanted),
        ):
            button.clicked.connect(signal)
        row = Row(margins=(0, 0, 0, 6), spacing=8)
        for button in (self.request, self.pause, self.cancel, self.open_thread):
            row.addWidget(button)
        row.addStretch(1)
        return row

    def show_line(self, line: AgentLine, *, asks: bool, thread: bool) -> None:
        """Show an agent. ``asks``: a request of it waits; ``thread``: it has a thread of its own."""
        facts = line.facts
        name = shown_line(facts.agent[:NAME_SHOWN])
        if self.title.text() != name:
            self.title.set_pieces(name)
        word = state_word(facts)
        if (self.state.state, self.state.accessibleName()) != (look_of(facts), word):
            self.state.set_state(look_of(facts), word)
        self._follow(line, asks=asks, thread=thread)
        self._facts.show_facts([replace(fact, text=fact.text[:TEXT_SHOWN]) for fact in facts_of(line)])
        self.setAccessibleName(f"{name}, {word}")

    def _follow(self, line: AgentLine, *, asks: bool, thread: bool) -> None:
        over, paused = line.facts.state.over or line.facts.stopping, line.facts.pause_asked
        _label(self.pause, "Resume" if paused else "Pause", "play" if paused else "pause")
        self.pause.setToolTip(OVER if over else "Go on (Space)" if paused else "Pause before its next call (Space)")
        self.cancel.setToolTip(OVER if over else "End it now, with everything below it (Delete)")
        for button in (self.pause, self.cancel):
            button.setVisible(not over)
        self.request.setVisible(asks)
        self.open_thread.setVisible(thread)


def _label(button: Button, text: str, icon: str) -> None:
    if button.label != text:
        button.set_label(text)
        button.set_icon(icon)
