"""The middle of a request about a command that ran in a copy: the command with its output, the computers that it
tried to reach, and what it did file by file."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget

from desktop.domain.outcomes import CommandCopy, OutcomeReading
from desktop.domain.permission import PermissionRequest
from desktop.domain.words import count_words
from desktop.presenter.approvals.outcome_rows import OutcomeRows
from desktop.presenter.approvals.outcome_words import (
    NOTHING_DONE,
    NOTHING_REAL,
    TAKE,
    changed_words,
    ended_words,
    left_words,
    says_more,
    seconds_words,
    tried_words,
)
from desktop.ui.approvals.request.diffing import plain_rows
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.approvals.request.outcome_card import OutcomeCard
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Text

COMMAND_ROWS, LAST, ALL_ROWS = 6, 3, 14
"""Rows of the command before it scrolls, and of its output folded and unfolded."""
LEFT_SHOWN = 3


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
        row.addWidget(Text("left nothing running", "small", "2", elide="right"), 1)
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
        Column(foot, margins=(0, 0, 0, 6 if lines else 0), spacing=0).addWidget(self.output)
        column.addWidget(foot)
        if not lines:
            self.output.hide()

    def _show_all(self) -> None:
        self.more.hide()
        self.output.set_max_rows(ALL_ROWS)
        self.output.setAccessibleName("Output")
        self.output.set_text(self._output)


class OutcomeBody(QWidget):
    """``again`` asks for another run, with or without the network. ``words``: the command, which has to be seen."""

    again = Signal(bool)
    noun = "the command"

    def __init__(self, request: PermissionRequest) -> None:
        super().__init__()
        reading, copy = request.preview["reading"], request.preview["copy"]
        self.rows = OutcomeRows(reading, str(request.preview.get("cwd") or ""))
        self.rows.setParent(self)
        column = Column(self, spacing=12)
        self.run = RunCard(request)
        self.words = self.run.command
        column.addWidget(self.run)
        tried = request.preview.get("tried") or ()
        if tried:
            column.addWidget(self._tried([str(host) for host in tried]))
        self.card: OutcomeCard | None = None
        if self.rows.leaves:
            self.card = _card(request, self.rows, copy)
            column.addWidget(self.card, 1)
        self.views = self.card.views if self.card is not None else QStackedLayout()
        for notice in _left_out(reading):
            column.addWidget(notice)

    def notice(self, request: PermissionRequest) -> Notice:
        """What is to be known before everything else."""
        if self.rows.meanwhile:
            first, rest = changed_words(self.rows)
            made = Notice("info", ((first, "strong"), (f" {rest}", "")), icon="retry")
            button = Button("Run it again in a new copy", small=True)
            button.clicked.connect(lambda: self.again.emit(bool(request.preview.get("network"))))
            made.add(button)
            return made
        return Notice(
            "info", ((NOTHING_REAL, "strong"), (f" {TAKE if self.rows.leaves else NOTHING_DONE}", "")), icon="info"
        )

    def fit(self) -> None:
        """It takes what room there is."""

    def show_words(self) -> None:
        """The command is always in sight."""

    def _tried(self, hosts: list[str]) -> Notice:
        pieces = (("It tried ", ""), (tried_words(hosts), "mono"), (" and was refused: a copy has no network.", ""))
        made = Notice("ask", pieces, icon="network")
        button = Button("Run it again with network…", small=True)
        button.setToolTip("A new request: this copy is dropped, and the command can reach any computer in the next one")
        button.clicked.connect(lambda: self.again.emit(True))
        made.add(button)
        return made


def _card(request: PermissionRequest, rows: OutcomeRows, copy: CommandCopy) -> OutcomeCard:
    made = OutcomeCard(request, rows, copy)
    made.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return made


def _left_out(reading: OutcomeReading) -> list[Notice]:
    """What is not taken over, by name."""
    found = [Notice("failed", words)] if (words := says_more(reading)) else []
    if reading.left_out:
        shown = "\n".join(left_words(left) for left in reading.left_out[:LEFT_SHOWN])
        more = len(reading.left_out) - LEFT_SHOWN
        found.append(Notice("ask", shown + (f"\nand {more:,} more" if more > 0 else "")))
    return found
