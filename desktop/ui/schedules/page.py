"""Schedules: the jobs at the left, one of them at the right with its form and its history."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QRect, QStringListModel, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QPainter, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget

from desktop.domain.jobs import JobRow
from desktop.presenter.schedules.page import JobsViewModel
from desktop.presenter.schedules.words import BAD, short, state_of
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.schedules.form import Choices, JobForm
from desktop.ui.schedules.history import JobHistory
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.dialogs.page_shortcut import PageShortcut
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.layout.containers import EmptyState, Notice, PaneHeader, Scroller
from desktop.ui.widgets.layout.folding import FoldingPane
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line

_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
MINIMUM = 440
"""Pixels at 100 % that a job needs beside the list."""
NOTHING = "A job sends a message to an agent at its times, while Assent is open, and may do only what you let it."


class JobDelegate(RowDelegate):
    """Name, and below it when it comes."""

    height = 52

    def __init__(self, jobs: JobsViewModel) -> None:
        super().__init__()
        self._jobs = jobs

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Both lines, and a glyph for what runs or failed."""
        if index.row() >= len(self._jobs.rows):
            return
        t, row = theme(), self._jobs.rows[index.row()]
        icon = _icon_of(row)
        room = box.width() - t.px(16) - (t.px(24) if icon else 0)
        painter.setFont(t.font("body", 500 if selected else None))
        painter.setPen(t.color("text" if row.job.enabled else "text-2"))
        line = QRect(box.x() + t.px(8), box.y() + t.px(6), room, t.px(20))
        if row.job.policy.at_edge:
            glyph(painter, QRect(line.x(), line.y(), t.px(16), line.height()), "edge", "text-2", t.px(16))
            line.adjust(t.px(24), 0, 0, 0)
        name = shown_line(row.job.name)
        painter.drawText(line, _LEFT, elided(name, "body", line.width(), weight=500 if selected else None))
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        below = QRect(box.x() + t.px(8), box.y() + t.px(27), room, t.px(18))
        painter.drawText(below, _LEFT, elided(state_of(row, time.time()), "small", room))
        if icon:
            place = QRect(box.right() - t.px(24), box.y(), t.px(16), box.height())
            glyph(painter, place, icon, "failed" if icon == "failed" else "text-2", t.px(16))


def _icon_of(row: JobRow) -> str:
    """The icon of a job that runs, cannot run, is paused, or failed the last time."""
    if row.running or row.problem:
        return "running" if row.running else "failed"
    failed = row.last is not None and row.last.status in BAD
    return "pause" if not row.job.enabled else "failed" if failed else ""


class JobRows(RowList):
    """Delete deletes the job that is marked, be it open or not; Ctrl+Z brings back what was deleted last."""

    delete_wanted = Signal(int)
    """its row"""
    undo_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys of the row under the cursor."""
        if event.key() == Qt.Key.Key_Delete and self.currentIndex().isValid():
            self.delete_wanted.emit(self.currentIndex().row())
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_wanted.emit()
        else:
            super().keyPressEvent(event)


class SchedulesPage(QFrame):
    """``settings_wanted`` when the person wants the switch for admin calls."""

    settings_wanted = Signal()

    def __init__(self, jobs: JobsViewModel, agents: Callable[[], Choices], models: ModelSetupViewModel) -> None:
        super().__init__()
        self._jobs = jobs
        self._dialog: Dialog | None = None
        self.setProperty("pane", "surface")
        self._ids: list[str] = []
        self._wanted = ""
        self.form = JobForm(jobs, agents, models)
        self.history = JobHistory(jobs)
        self._stack = QStackedLayout()
        holder = QWidget()
        holder.setLayout(self._stack)
        self._first = Button("New job", "primary", icon="new")
        self._first.clicked.connect(self.new_job)
        self._empty = EmptyState("schedules", "No jobs yet", NOTHING, (self._first,))
        self._stack.addWidget(self._empty)
        self._empty.hide()  # until the jobs are read it is not known that there is none
        self._stack.addWidget(self._detail())
        self.folding = FoldingPane(self._list(), holder, width=264, name="Show the list of jobs", minimum=MINIMUM)
        self._head.row.insertWidget(0, self.folding.button)
        Column(self, spacing=0).addWidget(self.folding, 1)
        self._connect()
        jobs.refresh()

    def first_focus(self) -> QWidget:
        """The list of jobs; while there is none, what begins the first."""
        if self._jobs.rows or not self._jobs.loaded:
            return self.rows
        return self._first if self._stack.currentIndex() == 0 else self.form.name

    def _list(self) -> QWidget:
        frame = pane("list")
        column = Column(frame, spacing=0)
        head = PaneHeader("Schedules", left=16, right=8)
        head.setProperty("pane", "plain")
        head.add(HelpIcon())
        self.new = IconButton("new", "New job")
        head.add(self.new)
        column.addWidget(head)
        self._names = QStringListModel(self)
        self.rows = JobRows("Jobs", JobDelegate(self._jobs))
        self.rows.setModel(self._names)
        column.addWidget(self.rows, 1)
        frame.setFocusProxy(self.rows)
        return frame

    def _detail(self) -> QWidget:
        holder = QWidget()
        column = Column(holder, spacing=0)
        self._head = PaneHeader("New job")
        self.attempt = Button("Try once", icon="play", small=True, shrinks=True, tip="Run it now, under its own policy")
        self.stop = Button("Stop", icon="stop", small=True, shrinks=True, tip="Stop its run")
        self.pause = Button("Pause", "quiet", icon="pause", small=True, shrinks=True)
        self.remove = IconButton("delete", "Delete this job")
        for widget in (self.attempt, self.stop, self.pause, self.remove):
            self._head.add(widget)
        column.addWidget(self._head)
        self.scroller = scroller = Scroller()
        self.problem = Notice("failed")
        scroller.column.addWidget(self.problem)
        scroller.column.addWidget(self.form)
        scroller.column.addWidget(self.history)
        scroller.column.addStretch(1)
        column.addWidget(scroller, 1)
        foot = sized(pane("footer"), height=56)
        row = Row(foot, margins=(24, 0, 24, 0), spacing=8)
        row.addStretch(1)
        self.discard = Button("Discard", "quiet")
        self.save = Button("Save", "primary", key="Ctrl+S")
        PageShortcut(QKeySequence.StandardKey.Save, self, self._save)
        row.addWidget(self.discard)
        row.addWidget(self.save)
        column.addWidget(foot)
        self.toast = Toast(holder, foot)
        return holder

    def _connect(self) -> None:
        jobs = self._jobs
        self.new.clicked.connect(self.new_job)
        self.rows.clicked.connect(self._open)
        self.rows.activated.connect(self._open)
        self.rows.delete_wanted.connect(lambda row: jobs.delete(self._ids[row]))
        self.rows.undo_wanted.connect(jobs.undo_delete)
        self.remove.clicked.connect(lambda: jobs.delete(jobs.kept.job_id))
        self.attempt.clicked.connect(lambda: jobs.try_once(jobs.kept.job_id))
        self.stop.clicked.connect(lambda: jobs.stop(jobs.kept.job_id))
        self.pause.clicked.connect(lambda: jobs.set_enabled(jobs.kept.job_id, not jobs.kept.enabled))
        self.save.clicked.connect(self._save)
        self.discard.clicked.connect(jobs.discard)
        self.form.settings_wanted.connect(self.settings_wanted)
        jobs.changed.connect(self._refresh)
        jobs.opened.connect(self._opened)
        jobs.edited.connect(self._state)
        jobs.checked.connect(self._state)
        jobs.said.connect(self.toast.say)
        jobs.restored.connect(self._select)
        self.toast.undone.connect(lambda _: jobs.undo_delete())

    # -- following ----------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        at = self.rows.currentIndex().row()
        marked = self._ids[at] if 0 <= at < len(self._ids) else self._jobs.kept.job_id
        self._ids = [row.job.job_id for row in self._jobs.rows]
        names = [shown_line(row.job.name) for row in self._jobs.rows]
        if names != self._names.stringList():
            self._names.setStringList(names)
        self.rows.viewport().update()
        self._select(marked)
        if self._jobs.loaded and not self._jobs.rows and self._stack.currentIndex() == 0:
            self._empty.show()
        if not self._jobs.rows and not self._jobs.dirty and self._stack.currentIndex() == 1 and not self._writing():
            self._stack.setCurrentIndex(0)
        elif self._jobs.rows and self._stack.currentIndex() == 0:
            had_keys = self._first.hasFocus()
            self._jobs.open(self._wanted if self._wanted in self._ids else self._ids[0])
            if had_keys:
                self.rows.setFocus(Qt.FocusReason.OtherFocusReason)
        self._state()

    def _writing(self) -> bool:
        return self.isAncestorOf(self.focusWidget()) and not self._jobs.kept.job_id if self.focusWidget() else False

    def _select(self, marked: str = "") -> None:
        """Mark this job, or the one that is open."""
        wanted = marked if marked in self._ids else self._jobs.kept.job_id
        index = self._names.index(self._ids.index(wanted)) if wanted in self._ids else QModelIndex()
        self.rows.setCurrentIndex(index)

    def _opened(self) -> None:
        self._stack.setCurrentIndex(1)
        self._select()
        self._state()

    def _state(self) -> None:
        jobs = self._jobs
        row: JobRow | None = jobs.row(jobs.kept.job_id)
        self._head.title.setText(shown_line(jobs.kept.name) or "New job")
        running = row is not None and row.running
        problem = row.problem if row is not None else ""
        self.problem.setVisible(bool(problem))
        if problem:
            self.problem.say(f"It cannot run. {shown_line(problem)}")
        for button in (self.pause, self.remove):
            button.setVisible(row is not None)
        self.attempt.setVisible(row is not None and not running)
        self.stop.setVisible(running)
        self.attempt.setEnabled(not jobs.dirty)
        self.pause.set_label("Pause" if jobs.kept.enabled else "Resume")
        self.save.setEnabled(jobs.dirty)
        self.discard.setEnabled(jobs.dirty)

    def showEvent(self, event: QShowEvent) -> None:
        """Read what changed while the page was hidden."""
        super().showEvent(event)
        self._jobs.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the jobs while the page is hidden."""
        super().hideEvent(event)
        self._jobs.watch(False)

    # -- acting -------------------------------------------------------------------------------------------------------

    def new_job(self) -> None:
        """A new draft, once what is not saved has been dealt with."""
        self.leaving(lambda: self._begin(""))

    def _begin(self, job_id: str) -> None:
        self._jobs.open(job_id)
        self.folding.put_away()
        self.scroller.verticalScrollBar().setValue(0)
        if not job_id:
            self.form.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _save(self) -> None:
        if self._jobs.dirty:
            self.form.ask_to_save()

    def open_job(self, job_id: str) -> None:
        """Show a job, once what is not saved of another has been dealt with."""
        self._wanted = "" if self._jobs.loaded else job_id
        if job_id in self._ids and job_id != self._jobs.kept.job_id:
            self.leaving(lambda: self._begin(job_id))

    def _open(self, index: QModelIndex) -> None:
        if index.row() < len(self._ids):
            self.open_job(self._ids[index.row()])
            if self._ids[index.row()] == self._jobs.kept.job_id:
                self.folding.put_away()

    @property
    def dirty(self) -> bool:
        """Whether something is not saved."""
        return self._jobs.dirty

    def leaving(self, go_on: Callable[[], None]) -> None:
        """Ask about what is not saved, then ``go_on``; the safe answer stays here."""
        if not self._jobs.dirty:
            go_on()
            return
        answers = (
            DialogAnswer("stay", "Keep editing", key="Esc"),
            DialogAnswer("discard", "Discard the changes", "danger"),
        )
        name = short(shown_line(self._jobs.draft.name)) or "This job"
        self._dialog = Dialog(self.window(), f"{name} is not saved", "Its changes would be lost.", answers)
        self._dialog.answered.connect(lambda value: self._left(value, go_on))
        self._dialog.open()

    def _left(self, value: str, go_on: Callable[[], None]) -> None:
        self._select()
        if value == "discard":
            self._jobs.discard()
            go_on()
