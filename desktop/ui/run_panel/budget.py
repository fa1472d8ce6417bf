"""The budget of the chosen agent: a field a limit, what is used beside it, and below it who set it or what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.presenter.run_panel.budget import LimitLine
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

NAMES, FIELD = 72, 116
NONE = "no limit"
ENDED = "It has ended, so its budget can no longer be changed."


class LimitRow(QFrame):
    """The row of one limit. What a person has typed stays while the figures beside it change."""

    def __init__(self, line: LimitLine) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        self.name, self._base = line.name, ""
        self.field = sized(Field(f"{line.label}, limit", hint=NONE), width=FIELD)
        self.field.setMaxLength(40)
        self._used = Text("", "small", "2", elide="right")
        self._below = Paragraph("", "small", "3")
        self._wrong = ""
        self._where = ""
        column = Column(self, spacing=2)
        row = Row(spacing=8)
        row.addWidget(sized(Text(line.label, "small", "2"), width=NAMES))
        row.addWidget(self.field)
        row.addWidget(self._used, 1)
        below = Row(margins=(NAMES + 8, 0, 0, 0), spacing=0)
        below.addWidget(self._below, 1)
        column.addLayout(row)
        column.addLayout(below)

    @property
    def dirty(self) -> bool:
        """Whether something else stands in the field than what holds."""
        return self.field.text().strip() != self._base

    def show_line(self, line: LimitLine, *, anew: bool) -> None:
        """Show the limit as it is now. ``anew``: it is another agent's, or the typed text was taken over."""
        if anew or not self.dirty:
            if self.field.text() != line.text:
                self.field.setText(line.text)
            self._base = line.text
        if anew:
            self._wrong = ""
        if self._used.text() != line.used:
            self._used.setText(line.used)
        tone = "failed" if line.fraction is not None and line.fraction >= 0.95 else "2"
        self._used.set_tone(tone)
        self._where = shown_line(line.where)
        self.field.setPlaceholderText("not set" if line.where else NONE)
        self._say()

    def show_error(self, sentence: str) -> None:
        """What is wrong with what was typed; "" takes it back."""
        self._wrong = sentence
        self._say()

    def _say(self) -> None:
        words = self._wrong or self._where
        if self._below.text() != words:
            self._below.set_pieces(words)
        self._below.setVisible(bool(words))
        said = f"{self._used.text()}, {words or NONE}"
        if self.field.accessibleDescription() != said:
            self.field.setAccessibleDescription(said)
        self._below.set_tone("failed" if self._wrong else "3")
        if self.field.wrong != bool(self._wrong):
            self.field.set_error(bool(self._wrong))


class BudgetForm(QFrame):
    """``wanted`` (texts by limit): the person wants these from now on."""

    wanted = Signal(object)
    wrong = Signal(object)
    """the first of its rows with something wrong in it"""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "plain")
        self._path = ""
        self._rows: dict[str, LimitRow] = {}
        column = Column(self, margins=(16, 12, 16, 12), spacing=8)
        head = Row(spacing=8)
        self._title = Text("Budget", "strong")
        self.undo = Button("Undo", "quiet", small=True, tip="Back to the present limits (Esc)")
        self.apply = Button("Change", small=True, tip="Use these limits from now on (Return)")
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self.undo)
        head.addWidget(self.apply)
        column.addLayout(head)
        self._column = Column(spacing=8)
        column.addLayout(self._column)
        self._problem = Paragraph("", "small", "failed")
        column.addWidget(self._problem)
        self._problem.hide()
        self.apply.clicked.connect(self._apply)
        self.undo.clicked.connect(self.take_back)
        self._lines: Sequence[LimitLine] = ()
        self._follow_buttons()

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by the limit that they set."""
        return {name: row.field for name, row in self._rows.items()}

    @property
    def dirty(self) -> bool:
        """Whether something was typed that does not count yet."""
        return any(row.dirty for row in self._rows.values())

    def show_limits(self, path: str, lines: Sequence[LimitLine], *, ended: bool, below: bool) -> None:
        """Show the limits of an agent; text typed about another agent is dropped."""
        anew, self._path, self._lines = path != self._path, path, lines
        if not self._rows:
            self._build(lines)
        self._title.setText("Budget, with the agents below" if below else "Budget")
        for line in lines:
            self._rows[line.name].show_line(line, anew=anew or ended)
            field = self._rows[line.name].field
            if field.isEnabled() == ended:
                field.setEnabled(not ended)
                field.setToolTip(ENDED if ended else "")
        if anew:
            self._say("")
        self._follow_buttons()

    def taken(self, wrong: Mapping[str, str]) -> None:
        """What became of ``wanted``: nothing wrong, or what is wrong with each limit, "" with all of them."""
        for name, row in self._rows.items():
            row.show_error(wrong.get(name, ""))
        self._say(wrong.get("", ""))
        if not wrong:
            self.take_back()
            return
        first = next((name for name in self._rows if name in wrong), "")
        if first:
            self._rows[first].field.setFocus(Qt.FocusReason.OtherFocusReason)
            self.wrong.emit(self._rows[first])

    def take_back(self) -> None:
        """Put the limits that hold now back into the fields."""
        for line in self._lines:
            self._rows[line.name].show_line(line, anew=True)
        self._say("")
        self._follow_buttons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape takes back what was typed."""
        if event.key() == Qt.Key.Key_Escape and self.dirty:
            self.take_back()
        else:
            super().keyPressEvent(event)

    def _build(self, lines: Sequence[LimitLine]) -> None:
        for line in lines:
            row = self._rows[line.name] = LimitRow(line)
            row.field.textEdited.connect(self._follow_buttons)
            row.field.returnPressed.connect(self._apply)
            self._column.addWidget(row)

    def _apply(self) -> None:
        if self.dirty:
            self.wanted.emit({name: row.field.text() for name, row in self._rows.items()})

    def _say(self, problem: str) -> None:
        self._problem.set_pieces(problem)
        self._problem.setVisible(bool(problem))

    def _follow_buttons(self) -> None:
        dirty = self.dirty
        for button in (self.apply, self.undo):
            button.setVisible(dirty)
