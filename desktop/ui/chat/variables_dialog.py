"""The variables of a chat, in a dialog, with those that its agent brings; and how its model is to answer."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.presenter.chat.thread_variables import (
    ChatVariables,
    lines_of,
    problems_in,
    settings_lines,
    settings_problems,
)
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.fields import Labelled, MonoView, TextArea
from desktop.ui.widgets.dialogs.base import DialogAnswer
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.shown import shown

INTRO = (
    "The agent is told these. Its prompt reads them as :env[NAME], tools.yaml as ${NAME}, and a command as $NAME. "
    "Do not write keys or passwords here: they belong in Settings, Keyring."
)
HELP = "One variable a line: NAME=value."
OVER = "A variable of this chat with the same name is used instead."
SETTINGS = "One setting a line: temperature=0.2, maxTokens=500, seed, topP, stop. They stand over those of the agent."
ROWS = 6
SETTING_ROWS = 3


class VariablesDialog(ScrolledDialog):
    """The dialog of a thread's variables. Opened, never executed. ``typed`` is the text in it."""

    help_page = "agents"

    def __init__(self, window: QWidget, variables: ChatVariables) -> None:
        answers = (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", "Save", "primary"))
        super().__init__(window, "Variables and model of this chat", INTRO, answers, width=520)
        self.area = TextArea("Variables of this chat", hint="CITY=Oslo", mono=True)
        self.area.setFixedHeight(self.area.fontMetrics().lineSpacing() * ROWS + theme().px(16))
        self.area.setPlainText(lines_of(variables.own))
        self.label = Labelled("This chat", self.area, HELP)
        self.scroller.column.addWidget(self.label)
        if variables.of_agent:
            theirs, rows = shown(lines_of(variables.of_agent)), min(ROWS, len(variables.of_agent))
            view = MonoView("Variables from the agent", theirs, rows=rows, wrap=True)
            self.scroller.column.addWidget(Labelled("From the agent", view, OVER))
        self.settings = TextArea("How its model answers", hint="temperature=0.2", mono=True)
        self.settings.setFixedHeight(self.settings.fontMetrics().lineSpacing() * SETTING_ROWS + theme().px(16))
        self.settings.setPlainText(settings_lines(variables.settings))
        self.settings_label = Labelled("How its model answers", self.settings, SETTINGS)
        self.scroller.column.addWidget(self.settings_label)
        self.settings.textChanged.connect(self._check)
        self.area.textChanged.connect(self._check)
        self._check()

    @property
    def typed(self) -> str:
        """The text of the field."""
        return self.area.toPlainText()

    def _check(self) -> None:
        wrong, odd = problems_in(self.typed), settings_problems(self.settings.toPlainText())
        self.label.set_error(wrong)
        self.settings_label.set_error(odd)
        self.buttons["yes"].setEnabled(not (wrong or odd))
        self.resized()
