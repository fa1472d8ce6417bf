"""The bars of the Activity tab: search and filters over the list; below it whether the log is whole, and its export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.approvals.activity import ActivityChoice, ActivityTask, ActivityViewModel
from desktop.presenter.approvals.activity_words import broken_words, summary_words
from desktop.presenter.approvals.call_words import tool_words
from desktop.presenter.common.outcomes import DECIDED_BY
from desktop.ui.approvals.chooser import Chooser
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

FILTER_PAUSE = 200
"""Milliseconds after a keystroke before the log is searched."""
DAYS = (("", "All"), ("week", "7 days"), ("today", "Today"))
DECISIONS = (
    ("Any decision", ""),
    ("Allowed", "allowed"),
    ("Edited", "edited"),
    ("Denied", "denied"),
    ("Not answered", "unanswered"),
    ("Refused", "refused"),
)
TITLE_SHOWN = 60
FORMATS = {"JSON Lines, which can be checked later (*.jsonl)": "jsonl", "A table for spreadsheets (*.csv)": "csv"}


class ActivityBar(QFrame):
    """Search, days, and a choice for each thing that an entry has."""

    left = Signal()

    def __init__(self, activity: ActivityViewModel, thread_title: Callable[[str], str]) -> None:
        super().__init__()
        self._activity = activity
        self._thread_title = thread_title
        self.setProperty("pane", "plain")
        self.field = Field("Find in the activity", hint="Find a tool, path or decision", icon="search")
        self.field.setToolTip("Search tools, paths, decisions and reasons (Ctrl+F)")
        self.days = Segmented("Days", DAYS, small=True)
        self.choosers = {
            name: Chooser(words)
            for name, words in (
                ("decision", "Decision"),
                ("category", "Category"),
                ("tool", "Tool"),
                ("by", "By whom"),
                ("thread_id", "Chat"),
            )
        }
        self.count = Text("", "small", "3")
        self.clear_button = Button("Show all", "quiet", small=True, tip="Clear all filters")
        self._lay_out()
        self._pause = QTimer(self, singleShot=True, interval=FILTER_PAUSE)
        self._pause.timeout.connect(lambda: activity.choose(text=self.field.text()))
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.days.chosen.connect(lambda value: activity.choose(days=value))
        for name, chooser in self.choosers.items():
            chooser.currentIndexChanged.connect(lambda _, n=name, c=chooser: self._choose(n, c))
        self.clear_button.clicked.connect(self.show_all)
        activity.choices_changed.connect(self.refresh)
        activity.counted.connect(self._counted)
        self.refresh()

    def _lay_out(self) -> None:
        column = Column(self, margins=(24, 12, 24, 8), spacing=8)
        first = Row(spacing=8)
        first.addWidget(sized(self.field, min_width=96, max_width=320), 3)
        first.addWidget(self.days)
        first.addStretch(1)
        first.addWidget(self.count)
        second = Row(spacing=8)
        for chooser in self.choosers.values():
            second.addWidget(chooser)
        second.addWidget(self.clear_button)
        second.addStretch(1)
        column.addLayout(first)
        column.addLayout(second)

    def refresh(self) -> None:
        """What there is to choose; what is chosen stays."""
        choices, chosen = self._activity.choices, self._activity.chosen
        threads = [(shown_line((self._thread_title(t) or "New chat")[:TITLE_SHOWN]), t) for t in choices.threads]
        self._fill("decision", DECISIONS, chosen.decision)
        self._fill("category", (("Any category", ""), *_named(choices.categories)), chosen.category)
        tools = ((shown_line(tool_words(tool)[:40]), tool) for tool in choices.tools)
        self._fill("tool", (("Any tool", ""), *tools), chosen.tool)
        self._fill("by", (("By anyone", ""), *((_who(b), b) for b in choices.by)), chosen.by)
        self._fill("thread_id", (("Any chat", ""), *threads), chosen.thread_id)
        self.clear_button.setVisible(chosen.narrowed)

    def _fill(self, name: str, choices: Sequence[tuple[str, str]], current: str) -> None:
        known = any(value == current for _, value in choices)
        self.choosers[name].fill([*choices, *([] if known else [(shown_line(current[:40]), current)])], current)
        self.choosers[name].updateGeometry()

    def _choose(self, name: str, chooser: Chooser) -> None:
        self._activity.choose(**{name: str(chooser.currentData() or "")})
        self.clear_button.setVisible(self._activity.chosen.narrowed)

    def show_all(self) -> None:
        """Remove all filters."""
        self._pause.stop()
        self.field.blockSignals(True)
        self.field.clear()
        self.field.blockSignals(False)
        self.days.set_value("")
        self._activity.choose(**dict.fromkeys(ActivityChoice.__dataclass_fields__, ""))
        self.refresh()

    def _counted(self, count: int) -> None:
        self.count.setText("" if not count else "1 entry" if count == 1 else f"{count:,} entries")
        self.count.updateGeometry()
        self.clear_button.setVisible(self._activity.chosen.narrowed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes to the list, Escape empties the search."""
        if event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
        else:
            super().keyPressEvent(event)


def _named(values: Sequence[str]) -> list[tuple[str, str]]:
    return [(shown_line(value[:40]), value) for value in values]


class ActivityFoot(QFrame):
    """What the last check found, and the buttons that act on the whole log."""

    def __init__(self, activity: ActivityViewModel) -> None:
        super().__init__()
        self._activity = activity
        self.setProperty("pane", "footer")
        self.words = Text("", "small", "2", elide="right")
        self.check = Button("Check the log", small=True, tip="Check that no line was changed, added or removed")
        self.export = Button("Export…", icon="export", small=True, tip="Save the entries that are shown to a file")
        row = Row(self, margins=(24, 10, 24, 10), spacing=8)
        row.addWidget(self.words, 1)
        row.addWidget(self.check)
        row.addWidget(self.export)
        self.check.clicked.connect(self._check)
        self.export.clicked.connect(self._export)
        activity.checking.moved.connect(self.refresh)
        activity.exporting.moved.connect(self.refresh)
        activity.checked.connect(lambda _: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Say how far a job is, else what the last check found."""
        checking, exporting, report = self._activity.checking, self._activity.exporting, self._activity.report
        self.check.set_label("Stop" if checking.running else "Check the log")
        self.export.set_label("Stop the export" if exporting.running else "Export…")
        if exporting.running:
            words = f"Exporting: {_share(exporting)}"
        elif checking.running:
            words = f"Checking: {_share(checking)}"
        elif report is not None:
            words = summary_words(report, self._activity.checked_at)
        else:
            words = "Each line is linked to the one before, so a change shows. Not checked since Assent started."
        self.words.setText(words)
        self.words.setAccessibleName(words)

    def _check(self) -> None:
        job = self._activity.checking
        job.cancel() if job.running else self._activity.check()

    def _export(self) -> None:
        job = self._activity.exporting
        if job.running:
            job.cancel()
            return
        dialog = FileDialog(self.window(), "Export the activity log")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(FORMATS))
        dialog.setDefaultSuffix("jsonl")
        dialog.selectFile("activity.jsonl")
        dialog.filterSelected.connect(lambda chosen: self._other_format(dialog, chosen))
        dialog.fileSelected.connect(self.write)
        dialog.open()

    @staticmethod
    def _other_format(dialog: FileDialog, chosen: str) -> None:
        suffix = FORMATS.get(chosen, "jsonl")
        dialog.setDefaultSuffix(suffix)
        for path in dialog.selectedFiles()[:1]:
            dialog.selectFile(Path(path).with_suffix(f".{suffix}").name)

    def write(self, path: str) -> None:
        """To the file that the person chose; its ending says in which form."""
        self._activity.export(path, "csv" if path.lower().endswith(".csv") else "jsonl")


def _share(job: ActivityTask) -> str:
    done, total = job.gauge.done, job.gauge.total
    return f"{done:,} of {total:,} lines" if total else "reading"


class BrokenNotice(QWidget):
    """Shows while the last check found something: how much, and since when. ``wanted`` (the report): all of it."""

    wanted = Signal(object)

    def __init__(self, activity: ActivityViewModel) -> None:
        super().__init__()
        self._activity = activity
        self.notice = Notice("failed", banner=True)
        self.details = Button("Which ones", small=True, tip="Which entries, and between which times")
        self.details.clicked.connect(lambda: self.wanted.emit(self._activity.report))
        self.notice.add(self.details)
        column = Column(self, margins=(0, 0, 0, 0), spacing=0)
        column.addWidget(self.notice)
        activity.checked.connect(lambda _: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Follow the last report."""
        report = self._activity.report
        broken = report is not None and report.damaged > 0
        self.setVisible(broken)
        if report is not None and broken:
            self.notice.say((("This log is not as Assent wrote it. ", "strong"), (broken_words(report), "")))


def _who(by: str) -> str:
    return DECIDED_BY[by].log if by in DECIDED_BY else shown_line(by[:40])
