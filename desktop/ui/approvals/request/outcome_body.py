"""The middle of a request about a command that ran in a copy: the command with its output, the computers that it
tried to reach, and what it did file by file."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy, QStackedLayout, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.files.outcomes import OutcomeReading
from desktop.domain.text.words import count_words
from desktop.presenter.approvals.outcome_row_words import take_words
from desktop.presenter.approvals.outcome_rows import OutcomeRows, OutcomeTree, outcome_tree
from desktop.presenter.approvals.outcome_words import (
    NOTHING_DONE,
    NOTHING_REAL,
    TAKE,
    changed_words,
    ended_words,
    left_words,
    running_words,
    says_more,
    seconds_words,
    tried_words,
)
from desktop.ui.approvals.request.answers import Answers
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import plain_rows
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.approvals.request.outcome_card import OutcomeCard
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

ALL_NAMED = 60
COMMAND_ROWS, LAST, ALL_ROWS = 6, 3, 14
"""Rows of the command before it scrolls, and of its output folded and unfolded."""
LEFT_SHOWN = 3
AT_ONCE = 300
"""Changes up to which they are laid out while the window waits."""


class RunCard(QFrame):
    """The command, how it ended, and the end of its output."""

    def __init__(self, request: PermissionRequest) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        preview = request.preview
        self._output = str(preview.get("output") or "")
        lines = self._output.splitlines()
        column = Column(self, margins=1, spacing=0)
        self.command = LinesView("Command", max_rows=COMMAND_ROWS)
        self.command.set_indent(12)
        self.command.set_text(str(preview.get("command") or " ".join(map(str, preview.get("argv") or ()))))
        top = QFrame()
        top.setProperty("pane", "header")
        Column(top, margins=(0, 6, 0, 6), spacing=0).addWidget(self.command)
        column.addWidget(top)
        row = Row(margins=(12, 6, 8, 6), spacing=14)
        good = preview.get("ended") == "exited" and preview.get("exit_code") == 0
        row.addWidget(StateLabel("allow" if good else "failed", ended_words(preview)))
        row.addWidget(Text(seconds_words(preview), "small", "2"))
        said = f"{count_words(len(lines), 'line')} of output" if lines else "no output"
        row.addWidget(Text(said + (f", the last {LAST}" if len(lines) > LAST else ""), "small", "2"))
        left = Text(running_words(preview), "small", "" if preview.get("left") else "2", elide="right")
        if preview.get("left"):
            left.setToolTip(plain_tip(running_words(preview, ALL_NAMED)))
        row.addWidget(left, 1)
        self.more = Button("Show all", "quiet", small=True)
        self.more.clicked.connect(self._show_all)
        row.addWidget(self.more)
        column.addLayout(row)
        if len(lines) <= LAST:
            self.more.hide()
        self.output = LinesView("Output, its last lines", max_rows=LAST)
        self.output.set_indent(12)
        self.output.set_rows(plain_rows("\n".join(lines[-LAST:]), numbered=False))
        foot = QWidget()
        self._foot = Column(foot, margins=(0, 0, 0, 6 if lines else 0), spacing=0)
        self._foot.addWidget(self.output)
        column.addWidget(foot)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        if not lines:
            self.output.hide()

    def _show_all(self) -> None:
        self.more.hide()
        self.output.hide()
        whole = LinesView("Output", max_rows=ALL_ROWS)
        whole.set_indent(12)
        whole.set_text(self._output)
        self._foot.addWidget(whole)
        whole.setFocus(Qt.FocusReason.OtherFocusReason)


class OutcomeBody(QWidget):
    """``again`` asks for another run, with or without the network. ``words``: the command, which has to be seen."""

    again = Signal(bool)
    laid = Signal()
    noun = "the command"

    def __init__(self, request: PermissionRequest) -> None:
        super().__init__()
        self._request = request
        self._reading: OutcomeReading = request.preview["reading"]
        self.rows: OutcomeRows | None = None
        self.card: OutcomeCard | None = None
        self.views = QStackedLayout()
        column = self._column = Column(self, spacing=12)
        self.run = RunCard(request)
        self.words = self.run.command
        column.addWidget(self.run)
        if request.preview.get("tried"):
            column.addWidget(self._tried(tried_words(request.preview)))
        self._below = column.count()
        for notice in _left_out(self._reading):
            column.addWidget(notice)
        root, reading = str(request.preview.get("cwd") or ""), self._reading
        lay_out = partial(outcome_tree, reading, root, _left_by(request))
        self._background = Background(self, self._show)
        if len(reading.changes) <= AT_ONCE:
            self._show(lay_out())
        else:
            self._background.start(lay_out)

    def _show(self, tree: object) -> None:
        """What it did is laid out."""
        if not isinstance(tree, OutcomeTree):
            return
        self.rows = OutcomeRows(tree)
        self.rows.setParent(self)
        if self.rows.leaves:
            self.card = OutcomeCard(self._request, self.rows, self._request.preview["copy"])
            self.card.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.views = self.card.views
            self._column.insertWidget(self._below, self.card, 1)
        else:
            self._column.addStretch(1)
        self.laid.emit()

    def notice(self, request: PermissionRequest) -> Notice:
        """What is to be known before everything else."""
        reading = self._reading
        if reading.meanwhile:
            first, rest = changed_words(reading)
            made = Notice("info", ((first, "strong"), (f" {rest}", "")), icon="retry")
            button = Button("Run it again in a new copy", small=True)
            button.clicked.connect(lambda: self.again.emit(bool(request.preview.get("network"))))
            made.add(button)
            return made
        words = TAKE if reading.changes else NOTHING_DONE
        return Notice("info", ((NOTHING_REAL, "strong"), (f" {words}", "")), icon="info")

    def follow(self, answers: Answers) -> None:
        """The answer says what it would take over."""

        def say() -> None:
            rows = self.rows
            if rows is None:
                answers.say_taken("Take over…", some=False, decided=True)
                return
            some = (rows.count > 0 or not rows.leaves) and not self._reading.beyond
            answers.say_taken(take_words(rows), some=some, decided=not rows.undecided)

        def follow() -> None:
            if self.rows is not None:
                self.rows.changed.connect(say)
            say()

        if self.rows is None:
            self.laid.connect(follow)
            say()
        else:
            follow()

    def taken(self) -> tuple[str, ...] | None:
        """What becomes real of it."""
        return self.rows.taken() if self.rows is not None else ()

    def fit(self) -> None:
        """It takes what room there is."""

    def show_words(self) -> None:
        """The command is always in sight."""

    def _tried(self, words: tuple[str, str]) -> Notice:
        said, hosts = words
        pieces = ((said, ""), (hosts, "mono"), (" and was refused: a copy has no network.", ""))
        made = Notice("ask", pieces, icon="network")
        button = Button("Run it again with network…", small=True)
        button.setToolTip("A new request: this copy is dropped, and the command can reach any computer in the next one")
        button.clicked.connect(lambda: self.again.emit(True))
        made.add(button)
        return made


def _left_by(request: PermissionRequest) -> dict[str, str]:
    """Whose calls changed real files meanwhile, as the list names them."""
    return {path: shown_line(name)[:40] for path, name in (request.preview.get("left_by") or {}).items()}


def _left_out(reading: OutcomeReading) -> list[Notice]:
    """What is not taken over, by name."""
    found = [Notice("failed" if reading.beyond else "ask", words)] if (words := says_more(reading)) else []
    if reading.left_out:
        shown = "\n".join(left_words(left) for left in reading.left_out[:LEFT_SHOWN])
        more = len(reading.left_out) - LEFT_SHOWN
        found.append(Notice("ask", shown + (f"\nand {more:,} more" if more > 0 else "")))
    return found
