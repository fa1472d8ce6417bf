"""Try a skill: its arguments as a form or as JSON, Run and Stop, and what came of it."""

from __future__ import annotations

import json
import time
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.skills.forms import fields_of, parse_object
from desktop.presenter.skills.page import SkillDetail, SkillsViewModel
from desktop.presenter.skills.trying import SkillTrials, SkillTry
from desktop.ui.skills.cards import row_card
from desktop.ui.skills.markdown_view import MarkdownView
from desktop.ui.skills.overview import arguments_of
from desktop.ui.skills.trial_parts import STATES, lines_card, waiting_strip
from desktop.ui.skills.try_form import ArgumentForm
from desktop.ui.transcript.media_cards import media_card
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Labelled, TextArea
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line, waited
from desktop.ui.widgets.text import Text

RESULT_ROWS = 26
MARKDOWN_RESULT = 12_000
"""Characters of a model's text that are drawn as Markdown; longer ones as lines."""


class TryPane(QFrame):
    """The page on which a skill is tried. ``model_wanted``: the person wants to choose a model; ``approvals_wanted``:
    to see what waits."""

    model_wanted = Signal()
    approvals_wanted = Signal()

    def __init__(self, skills: SkillsViewModel, trials: SkillTrials) -> None:
        super().__init__()
        self._skills, self._trials = skills, trials
        self._detail: SkillDetail | None = None
        self._schema: Any = None
        self.form: ArgumentForm | None = None
        self.setProperty("pane", "surface")
        self._scroller = Scroller()
        self._strips, self._fields, self._result = Column(spacing=8), Column(spacing=12), Column(spacing=12)
        self.json = sized(TextArea("Arguments as JSON", mono=True), height=156)
        self.json_label = Labelled("Arguments as JSON", self.json)
        self.choice = Segmented("Arguments as", (("form", "Form"), ("json", "JSON")), small=True)
        self._tick = QTimer(self, interval=1000)
        self._tick.timeout.connect(self._say_time)
        self._lay_out()
        self.choice.chosen.connect(self._show_side)
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(trials.stop)
        trials.changed.connect(self.refresh)
        keys = QShortcut(QKeySequence("Ctrl+Return"), self)
        keys.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(self.run)

    def _lay_out(self) -> None:
        Column(self, spacing=0).addWidget(self._scroller)
        inside = self._scroller.column
        inside.addLayout(self._strips)
        head = Row(spacing=8)
        self._title = Text("Arguments", "strong")
        head.addWidget(self._title, 1)
        head.addWidget(self.choice)
        inside.addLayout(head)
        inside.addLayout(self._fields)
        inside.addWidget(self.json_label)
        line = Row(spacing=8)
        self.run_button = Button("Run", "primary", icon="play", tip="Call it with these arguments (Ctrl+Return)")
        self.stop_button = Button("Stop", icon="stop", tip="Stop this call")
        self._state = StateLabel()
        self._time = Text("", "small", "2")
        for widget in (self.run_button, self.stop_button, self._state, self._time):
            line.addWidget(widget)
        line.addStretch(1)
        inside.addLayout(line)
        inside.addLayout(self._result)
        inside.addStretch(1)

    # -- arguments ----------------------------------------------------------------------------------------------------

    def show_detail(self, detail: SkillDetail) -> None:
        """Show another skill; what was filled in stays while the arguments are the same."""
        other = self._detail is None or self._detail.key != detail.key
        self._detail = detail
        schema = arguments_of(detail)
        if other:
            self._trials.forget()
        if other or schema != self._schema:
            self._schema = schema
            self._make_form(schema)
        self._show_strips()
        self.refresh()

    def _make_form(self, schema: Any) -> None:
        clear(self._fields)
        fields = fields_of(schema)
        self.form = ArgumentForm(fields) if fields is not None else None
        if self.form is not None:
            self._fields.addWidget(self.form)
        none = fields is not None and not fields
        self._title.setText("It takes no arguments" if none else "Arguments")
        self.choice.setVisible(bool(fields))
        self.choice.set_value("form" if fields is not None else "json")
        self.json.setPlainText("{\n  \n}" if fields is None else "")
        self.json_label.set_error("")
        self._show_side("form" if fields is not None else "json", carry=False)

    def _show_side(self, side: str, *, carry: bool = True) -> None:
        """Switch between form and JSON; what is filled in goes along."""
        if carry and self.form is not None:
            if side == "json":
                values, _ = self.form.values()
                self.json.setPlainText(json.dumps(values, ensure_ascii=False, indent=2, default=str))
            elif (parsed := self._parsed()) is None:
                self.choice.set_value("json")
                return
            else:
                self.form.fill(parsed)
        if self.form is not None:
            self.form.setVisible(side == "form")
        self.json_label.setVisible(side == "json")

    def _parsed(self) -> dict[str, Any] | None:
        try:
            values = parse_object(self.json.toPlainText())
        except ValueError as error:
            self.json_label.set_error(str(error))
            return None
        self.json_label.set_error("")
        return values

    def arguments(self) -> dict[str, Any] | None:
        """What would be sent, or None with the reason beside the field."""
        if self.form is None or self.choice.value == "json":
            return self._parsed()
        values, good = self.form.values()
        return values if good else None

    # -- running ------------------------------------------------------------------------------------------------------

    def _show_strips(self) -> None:
        clear(self._strips)
        detail = self._detail
        definition = detail.definition if detail is not None else None
        sentence, action = self._obstacle()
        self.run_button.setEnabled(not sentence)
        if sentence:
            strip = Notice("ask", sentence)
            if action:
                button = Button(action, small=True)
                button.clicked.connect(self.model_wanted)
                strip.add(button)
            self._strips.addWidget(strip)
        elif definition is not None and self._trials.needs_model(definition):
            words = f"{self._trials.model()} works on its text, at the price of that model."
            self._strips.addWidget(Text(words, "small", "2", elide="right"))

    def _obstacle(self) -> tuple[str, str]:
        """Why it cannot run, and the button that helps."""
        detail, row = self._detail, self._skills.row
        definition = detail.definition if detail is not None else None
        if detail is None or definition is None:
            return "No skill in this file can be used.", ""
        if definition.kind == "foreign":
            return "Assent lists TypeScript skills but does not run them.", ""
        if row is not None and row.state != "ready":
            why = {"untrusted": "its project is not trusted", "changed": "it has changed since you last read it"}
            return f"It is off: {why.get(row.state, 'it has a problem')}. The page says what to do.", ""
        if detail.shadowed_by or (row is not None and row.shadowed):
            return "Another skill with this name is used instead of this one.", ""
        if self._trials.needs_model(definition) and not self._trials.model():
            return "This skill needs a model, and you have not chosen one yet.", "Choose a model"
        return "", ""

    def run(self) -> None:
        """Call it, if the arguments can be sent."""
        if not self.run_button.isEnabled() or self._detail is None or self._trials.running:
            return
        values = self.arguments()
        if values is not None:
            self._trials.run(self._detail.key[1], values)

    def refresh(self) -> None:
        """Show what the try has given so far."""
        trial = self._trials.trial
        mine = trial is not None and self._detail is not None and trial.name == self._detail.key[1]
        self.stop_button.setVisible(self._trials.running)
        self.stop_button.setEnabled(trial is not None and trial.state != "stopping")
        self.run_button.setVisible(not self._trials.running)
        clear(self._result)
        if trial is None or not mine:
            self._tick.stop()
            self._state.set_state("", "")
            self._time.setText("")
            return
        name, word = STATES.get(trial.state, (trial.state, ""))
        self._state.set_state(name, word)
        self._say_time()
        self._tick.stop() if trial.over else self._tick.start()
        for widget in self._shown(trial):
            self._result.addWidget(widget)

    def _say_time(self) -> None:
        trial = self._trials.trial
        if trial is not None:
            running = waited(time.monotonic() - trial.started_at)
            self._time.setText(_elapsed(trial.elapsed_ms) if trial.over else running)
            self._time.updateGeometry()

    def _shown(self, trial: SkillTry) -> list[QWidget]:
        widgets: list[QWidget] = []
        if trial.state == "waiting":
            widgets.append(waiting_strip(self.approvals_wanted))
        inner = [call for call in trial.calls if call.tool != trial.name]
        if inner:
            widgets.append(Text("What it called", "strong"))
            widgets.append(row_card([_call_row(call.tool, call.state, call.elapsed_ms) for call in inner]))
        if trial.output and not trial.over:
            widgets.append(lines_card("Output so far", trial.output, RESULT_ROWS))
        if trial.over:
            widgets += self._outcome(trial)
        return widgets

    def _outcome(self, trial: SkillTry) -> list[QWidget]:
        if trial.state == "aborted" and not trial.text:
            return [Text("Stopped before it finished.", "body", "2")]
        failed = trial.state in ("failed", "denied")
        title = Row(spacing=8)
        title.addWidget(Text("What went wrong" if failed else "Result", "strong"))
        if trial.code:
            title.addWidget(Text(shown_line(trial.code), "code", "2"))
        title.addStretch(1)
        holder = QWidget()
        holder.setLayout(title)
        given = [media_card(part, self._trials.save_file) for part in trial.media]
        definition = self._detail.definition if self._detail is not None else None
        prose = definition is not None and self._trials.needs_model(definition) and not trial.is_json and not failed
        if prose and len(trial.text) <= MARKDOWN_RESULT:
            view = MarkdownView("Result")
            view.set_markdown(trial.text)
            return [holder, view, *given]
        return [holder, lines_card("Result", trial.text or "(nothing)", RESULT_ROWS, failed=failed), *given]


def _call_row(tool: str, state: str, elapsed_ms: int) -> QWidget:
    holder = QWidget()
    row = Row(holder, spacing=12)
    row.addWidget(Text(shown_line(tool), "code"), 1)
    row.addWidget(StateLabel(state))
    row.addWidget(Text(_elapsed(elapsed_ms) if elapsed_ms else "", "small", "2"))
    holder.setAccessibleName(shown(f"{tool}, {state}"))
    return holder


def _elapsed(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
