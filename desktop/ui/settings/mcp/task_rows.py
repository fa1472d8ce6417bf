"""Calls of a server that go on by themselves, above its tools: what each is, how it is, and a way to end it."""

from __future__ import annotations

import time

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.servers.mcp import McpTask
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

STATES = {
    "working": ("running", "goes on"),
    "input_required": ("waiting", "asks for something"),
    "completed": ("done", "done"),
    "failed": ("failed", "failed"),
    "cancelled": ("aborted", "ended"),
    "gone": ("aborted", "forgotten by the server"),
}
OPEN = ("working", "input_required")
MAX_ROWS = 20


class TaskRows(QWidget):
    """``ended``: nobody wants this one any more; ``look``: ask the server how they are."""

    ended = Signal(str)
    look = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = Column(self, spacing=6)
        head = Row(spacing=8)
        head.addWidget(Text("Calls that go on by themselves", "strong"))
        head.addStretch(1)
        again = Button("Look again", "quiet", icon="retry", small=True, tip="Ask the server how they are")
        again.clicked.connect(self.look)
        head.addWidget(again)
        column.addLayout(head)
        card = pane("card")
        self._rows = Column(card, margins=1, spacing=0)
        column.addWidget(card)
        self._known: tuple[McpTask, ...] = ()
        self.hide()

    def show_tasks(self, tasks: tuple[McpTask, ...]) -> None:
        """Show these, the newest first; none hides it."""
        if tasks == self._known:
            return
        self._known = tasks
        clear(self._rows)
        newest = tasks[::-1][:MAX_ROWS]
        for at, task in enumerate(newest):
            self._rows.addWidget(self._row(task, last=at == len(newest) - 1))
        self.setVisible(bool(tasks))

    def _row(self, task: McpTask, *, last: bool) -> QWidget:
        frame = pane("row-last" if last else "row")
        row = Row(frame, margins=(12, 8, 12, 8), spacing=12)
        row.addWidget(Text(shown_line(task.tool)[:80], "code"))
        state = StateLabel()
        state.set_state(*STATES[task.status])
        row.addWidget(state)
        since = time.strftime("since %H:%M", time.localtime(task.begun)) if task.begun else ""
        words = ", ".join(filter(None, (since, shown_line(task.message)[:200])))
        row.addWidget(Text(words, "small", "2", elide="right"), 1)
        if task.status in OPEN:
            end = Button("End it", small=True, icon="stop", tip="Tell the server that nobody wants it any more")
            end.clicked.connect(lambda: self.ended.emit(task.task_id))
            row.addWidget(end)
        frame.setAccessibleName(f"{shown_line(task.tool)[:80]}, {STATES[task.status][1]}, {words}")
        return frame
