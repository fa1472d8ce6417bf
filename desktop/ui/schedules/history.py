"""What became of a job's times: a row each, and the way to its thread."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.domain.jobs import KEPT_THREADS, JobRun
from desktop.presenter.schedules.page import JobsViewModel
from desktop.presenter.schedules.words import STATUS, duration, moment
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

TONES = {"allow": "allow", "failed": "failed"}

KEPT = (
    f"The chats of the newest {KEPT_THREADS} runs are kept, and older ones in which you wrote or that you pinned or "
    "renamed."
)


class JobHistory(QWidget):
    """The card below the form; hidden for a job that is not saved yet."""

    def __init__(self, jobs: JobsViewModel) -> None:
        super().__init__()
        self._jobs = jobs
        self._opens: dict[str, Button] = {}
        column = Column(self, spacing=0)
        card = pane("card")
        card.setAccessibleName("History")
        self._column = Column(card, margins=(16, 12, 16, 8), spacing=4)
        column.addWidget(card)
        jobs.history_changed.connect(self.refresh)
        jobs.opened.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now; the keys stay at the run that they are at."""
        at = next((run for run, button in self._opens.items() if button.hasFocus()), "")
        self._opens.clear()
        clear(self._column)
        self.setVisible(bool(self._jobs.kept.job_id))
        self._column.addWidget(Text("History", "medium"))
        if not self._jobs.runs:
            self._column.addWidget(Paragraph("It has not run yet.", "body", "2"))
        now = time.time()
        for run in self._jobs.runs:
            self._column.addWidget(self._row(run, now))
        if len(self._jobs.runs) >= KEPT_THREADS // 2:
            self._column.addWidget(Paragraph(KEPT, "small", "2"))
        if at in self._opens:
            self._opens[at].setFocus(Qt.FocusReason.OtherFocusReason)

    def _row(self, run: JobRun, now: float) -> QWidget:
        icon, word = STATUS[run.status]
        holder = sized(QWidget(), height=32)
        row = Row(holder, spacing=10)
        row.addWidget(Icon(icon, TONES.get(icon, "text-2"), 16))
        row.addWidget(sized(Text(moment(run.planned_at, now), "body"), width=150))
        facts = [word, "tried by hand" if run.tried else "", duration(run)]
        said = ". ".join(part for part in (", ".join(fact for fact in facts if fact), shown_line(run.detail)) if part)
        row.addWidget(Text(said, "body", "2", elide="right"), 1)
        holder.setAccessibleName(f"{moment(run.planned_at, now)}: {said}")
        if run.thread_id:
            button = Button("Open", "quiet", small=True, tip="Open the chat of this run")
            button.setAccessibleName(f"Open the chat of {moment(run.planned_at, now)}")
            button.clicked.connect(lambda: self._jobs.thread_wanted.emit(run.thread_id))
            row.addWidget(button)
            self._opens[run.job_run_id] = button
        return holder
