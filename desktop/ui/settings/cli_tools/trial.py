"""Try a tool of tools.yaml: a form from its parameters, the vector that would run, and what came of the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit

from desktop.domain.errors import KnownError
from desktop.presenter.settings.cli_tools import CliRow, CliToolsViewModel
from desktop.presenter.skills.forms import read
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.settings.tool_try import ToolTry
from desktop.ui.skills.try_form import ArgumentForm
from desktop.ui.widgets.controls.toggles import CheckBox
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

PREVIEW_AFTER = 60
"""Milliseconds after the last key before the vector is built."""


class CliTry(ToolTry):
    """Tries a declared tool: the command that would run follows what is filled in."""

    def __init__(self, cli: CliToolsViewModel) -> None:
        super().__init__(cli.trials, cli.requests_wanted, all_of_them="All tools")
        self._cli = cli
        self.form = ArgumentForm(())
        self.preview = LinesView("The program and its arguments", max_rows=12)
        self.wrong = Paragraph("", "small", "2")
        self.run_button, self.stop_button = self.result.run_button, self.result.stop_button
        self._later = QTimer(self, singleShot=True, interval=PREVIEW_AFTER)
        self._later.timeout.connect(self.show_vector)
        self._lay_out()

    def _lay_out(self) -> None:
        inside = self.inside
        self.fields.addWidget(self.form)
        inside.addWidget(Text("What would run, one argument a line", "strong"))
        card = pane("quoted")
        Column(card, margins=(1, 8, 1, 8), spacing=0).addWidget(self.preview)
        inside.addWidget(card)
        inside.addWidget(self.wrong)
        self.end_with_result()

    def show_tool(self, row: CliRow) -> None:
        """Show another tool; the last result is dropped."""
        self.show_head(row.name, row.category, row.description)
        try:
            self.form = ArgumentForm(self._cli.fields(row.name))
        except KnownError:
            self.back.emit()
            return
        self.fields.addWidget(self.form)
        self._listen()
        self.show_vector()

    def _listen(self) -> None:
        """The vector follows whatever changes in the form."""
        form = self.form
        for line in form.findChildren(QLineEdit):
            line.textChanged.connect(lambda _: self._later.start())
        for area in form.findChildren(QPlainTextEdit):
            area.textChanged.connect(self._later.start)
        for combo in form.findChildren(QComboBox):
            combo.currentIndexChanged.connect(lambda _: self._later.start())
        for check in form.findChildren(CheckBox):
            check.toggled.connect(lambda _: self._later.start())

    def _values(self) -> tuple[Mapping[str, Any], dict[str, str]]:
        try:
            return read(self._cli.fields(self.name), self.form.raw())
        except KnownError:
            return {}, {}

    def show_vector(self) -> None:
        """The vector for what is filled in now, or why there is none."""
        values, errors = self._values()
        words, wrong = ((), "Fill in what is required.") if errors else self._cli.preview(self.name, values)
        self.preview.set_text("\n".join(shown_line(word) or '""' for word in words), numbered=True)
        self.preview.setFixedHeight(self.preview.sizeHint().height())
        self.wrong.set_pieces(shown(wrong))
        self.wrong.set_tone("2" if errors else "failed")
        self.wrong.setVisible(bool(wrong))

    def run(self) -> None:
        """Call it through every gate."""
        values, good = self.form.values()
        if good and not self.trials.running:
            self.trials.run(self.name, values)
