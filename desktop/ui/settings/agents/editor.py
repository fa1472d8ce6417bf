"""One definition: as a form, as text, and tried without a model. Problems and saving are the same for all three."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.common.unsaved import KEEP_AFTER
from desktop.presenter.settings.agents_editing import AgentsViewModel
from desktop.ui.settings.agents.form import AgentForm
from desktop.ui.settings.agents.trial import AgentTrial
from desktop.ui.settings.yaml_editor import YamlEditor
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

VIEWS = (("form", "Form"), ("text", "Text"), ("trial", "Dry run"))


class AgentEditor(YamlEditor):
    """Edits one agent definition. ``back``: the person is done here."""

    back = Signal()

    def __init__(self, agents: AgentsViewModel) -> None:
        self._agents = agents
        self._said_last = ""
        """Of the last save; it stands until something changes."""
        self._fresh = False
        """Another file was opened and its fields are not filled yet."""
        self.form, self.trial = AgentForm(agents.models), AgentTrial()
        super().__init__(agents)
        self.stack.addWidget(self.form)
        self.stack.addWidget(self.trial)
        column = self.layout()
        column.insertWidget(0, self._make_head())  # type: ignore[union-attr]  # a column
        self.form.changed.connect(agents.set_field)
        self.form.typing.connect(self._say)
        self._typing = QTimer(self, singleShot=True, interval=KEEP_AFTER)
        self._typing.timeout.connect(lambda: agents.type_on(self.form.typed()))
        self.form.typing.connect(self._type_on)
        self.form.begun.connect(agents.fields.begin)
        self.form.left.connect(agents.leave_field)
        agents.replaced.connect(self._replaced)
        agents.chosen.connect(self._chosen)
        agents.changed.connect(lambda: self.accept.setVisible(agents.unseen))
        self.show_view("form")

    def _make_head(self) -> QWidget:
        head = sized(pane("header"), height=48)
        row = Row(head, margins=(16, 0, 16, 1), spacing=8)
        leave = Button("All agents", "quiet", icon="left", small=True)
        leave.clicked.connect(self.back)
        row.addWidget(leave)
        self.title = Text("", "strong", elide="right")
        row.addWidget(self.title, 1)
        self.accept = Button("Switch it on", small=True, tip="Agents use this version from the next run on")
        self.accept.clicked.connect(self._agents.accept)
        self.accept.hide()
        row.addWidget(self.accept)
        self.choice = Segmented("How to show it", VIEWS, small=True)
        self.choice.chosen.connect(self.show_view)
        row.addWidget(self.choice)
        return head

    def show_view(self, name: str) -> None:
        """``form``, ``text`` or ``trial``."""
        self.choice.set_value(name)
        self.stack.setCurrentWidget({"form": self.form, "trial": self.trial}.get(name, self.source))

    def _opened(self) -> None:
        self._said_last = ""
        self.form.begin()
        self.title.setText("")
        super()._opened()
        self.source.setReadOnly(not self._agents.writable)
        self.show_view("text" if self._agents.unseen else self.choice.value)  # all of it is to be seen

    def _chosen(self, _path: str) -> None:
        self._fresh = True

    def _checked(self) -> None:
        super()._checked()
        agents, fields = self._agents, self._agents.fields
        self.form.load(fields.values, agents.prompts, fields.wrong, fields.doubtful, writable=agents.writable)
        self.trial.load(fields.definition, fields.previews)
        row = agents.row(agents.path)
        self.accept.setVisible(agents.unseen)
        name = fields.heading or self.title.text() or agents.name
        self.title.setText(name if row is None or row.writable else f"{name} (comes with Assent or a project)")
        if self._fresh:
            self._fresh = False
            self._give_keys()

    def _give_keys(self) -> None:
        """To the first field, once it can be written in: never to a button that would throw something away."""
        first = self.form.lines["name"]
        if self.isVisible() and self.stack.currentWidget() is self.form and first.isEnabled():
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            if self._agents.is_new:  # its name is only a proposal: typing replaces it
                first.selectAll()

    def _type_on(self) -> None:
        """A field that is typed in is kept a moment later, as the text is."""
        if not self._typing.isActive():
            self._typing.start()

    @property
    def dirty(self) -> bool:
        """Whether something was not saved, also in the field that is being typed in."""
        return self._agents.dirty or self.form.pending

    def save_all(self) -> None:
        """Save what is there, with the field that is being typed in."""
        self._save()

    def _save(self) -> None:
        if self._agents.writable and self.dirty:
            self._keep_keys()
            self.form.commit()
            self._agents.save()

    def _say(self) -> None:
        super()._say()
        problems = self._agents.problems
        errors = sum(problem.severity == "error" for problem in problems)
        dirty = self.dirty
        self._said_last = "" if dirty else self._said_last
        words = "Not saved yet" if dirty else self._said_last
        if dirty and errors:
            words = "Not saved. Correct what is marked first"
        elif self._agents.unseen:
            words = "New or changed in a project. Read it, then switch it on"
        elif not self._agents.writable:
            words = "You can change only your own agents. Make a copy to change this one"
        self._words.setText(words)
        self.save.setEnabled(dirty and (self.form.pending or not errors))  # a field may mend what is wrong
        self.revert.setVisible(dirty)
        self.example.hide()

    def _saved(self) -> None:
        self.failure.hide()
        self.show_view(self.choice.value)
        self._said_last = f"Saved as {shown_line(self._agents.name)}. New runs use it"
        self._say()

    def _answered(self, answer: str) -> None:
        super()._answered(answer)
        self.show_view(self.choice.value)

    def _revert(self) -> None:
        self._keep_keys()
        self.form.drop()
        super()._revert()

    def _to(self, problem: object) -> None:
        self.show_view("text")
        super()._to(problem)  # type: ignore[arg-type]  # a problem of the text

    def _replaced(self) -> None:
        self.source.replace(self._agents.shown)
