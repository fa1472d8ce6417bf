"""Run, Stop, and what came of a call that a person tries: it is a real one and passes every gate."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.skills.trying import SkillTrials, SkillTry
from desktop.ui.skills.trial_parts import STATES, lines_card, waiting_strip
from desktop.ui.transcript.media_cards import media_card
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

RESULT_ROWS = 20


class TrialView(QWidget):
    """Follows ``trials`` for the tool that is named; ``run_wanted``: the person wants it called, ``requests_wanted``:
    to see what waits for an answer."""

    run_wanted = Signal()
    requests_wanted = Signal()

    def __init__(self, trials: SkillTrials) -> None:
        super().__init__()
        self._trials = trials
        self._name = ""
        self.run_button = Button("Run", "primary", icon="play", tip="Call it with these arguments")
        self.stop_button = Button("Stop", icon="stop", tip="Stop this call")
        self._state = StateLabel()
        self._result = Column(spacing=12)
        column = Column(self, spacing=12)
        row = Row(spacing=8)
        for widget in (self.run_button, self.stop_button, self._state):
            row.addWidget(widget)
        row.addStretch(1)
        column.addLayout(row)
        column.addLayout(self._result)
        self.run_button.clicked.connect(self.run_wanted)
        self.stop_button.clicked.connect(trials.stop)
        trials.changed.connect(self.refresh)

    def follow(self, name: str) -> None:
        """Show another tool; the last result is dropped."""
        self._name = name
        self._trials.forget()
        self.refresh()

    def refresh(self) -> None:
        """Show what the try has given so far."""
        trials = self._trials
        trial = trials.trial if trials.trial is not None and trials.trial.name == self._name else None
        self.stop_button.setVisible(trials.running)
        self.run_button.setVisible(not trials.running)
        clear(self._result)
        if trial is None:
            self._state.set_state("", "")
            return
        self._state.set_state(*STATES.get(trial.state, (trial.state, "")))
        for widget in self._shown(trial):
            self._result.addWidget(widget)

    def _shown(self, trial: SkillTry) -> list[QWidget]:
        widgets: list[QWidget] = []
        if trial.state == "waiting":
            widgets.append(waiting_strip(self.requests_wanted))
        if not trial.over and trial.output:
            widgets.append(lines_card("Output so far", trial.output, RESULT_ROWS))
        if trial.over:
            failed = trial.state in ("failed", "denied")
            code = f"  ·  {shown_line(trial.code)}" if trial.code else ""
            widgets.append(Text(f"{'What went wrong' if failed else 'Result'}{code}", "strong"))
            widgets.append(lines_card("Result", trial.text or "(nothing)", RESULT_ROWS, failed=failed))
            widgets += [media_card(part, self._trials.save_file) for part in trial.media]
        return widgets
