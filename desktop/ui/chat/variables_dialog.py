"""The variables of a chat, in a dialog: its own to be written, below them those that its agent brings."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.presenter.chat.thread_variables import ChatVariables, lines_of, problems_in
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
ROWS = 6


class VariablesDialog(ScrolledDialog):
    """The dialog of a thread's variables. Opened, never executed. ``typed`` is the text in it."""

    def __init__(self, window: QWidget, variables: ChatVariables) -> None:
        answers = (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", "Save", "primary"))
        super().__init__(window, "Variables of this chat", INTRO, answers, width=520)
        self.area = TextArea("Variables of this chat", hint="CITY=Oslo", mono=True)
        self.area.setFixedHeight(self.area.fontMetrics().lineSpacing() * ROWS + theme().px(16))
        self.area.setPlainText(lines_of(variables.own))
        self.label = Labelled("This chat", self.area, HELP)
        self.scroller.column.addWidget(self.label)
        if variables.of_agent:
            theirs, rows = shown(lines_of(variables.of_agent)), min(ROWS, len(variables.of_agent))
            view = MonoView("Variables from the agent", theirs, rows=rows, wrap=True)
            self.scroller.column.addWidget(Labelled("From the agent", view, OVER))
        self.area.textChanged.connect(self._check)
        self._check()

    @property
    def typed(self) -> str:
        """The text of the field."""
        return self.area.toPlainText()

    def _check(self) -> None:
        wrong = problems_in(self.typed)
        self.label.set_error(wrong)
        self.buttons["yes"].setEnabled(not wrong)
        self.resized()
