"""What the pages of tools.yaml and mcp.yaml have in common: the list or the text, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.skills import SkillProblem
from desktop.presenter.settings.declared import DeclaredViewModel
from desktop.ui.settings.yaml_editor import YamlEditor
from desktop.ui.skills.cards import problem_rows, row_card
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import Notice, Scroller
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized


class DeclaredPage(QFrame):
    """``refresh`` fills ``list``; other views join ``stack``."""

    def __init__(self, model: DeclaredViewModel) -> None:
        super().__init__()
        self._declared = model
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        self.head = sized(pane("header"), height=48)
        row = Row(self.head, margins=(24, 0, 16, 1), spacing=8)
        views = ((model.holds, model.holds.capitalize()), ("text", "Text"))
        self.choice = Segmented("What to show", views, small=True)
        row.addWidget(self.choice)
        row.addStretch(1)
        for button in self._head_buttons():
            row.addWidget(button)
        self.reload = Button("Reload", "quiet", icon="retry", small=True, tip="Read the file again")
        row.addWidget(self.reload)
        column.addWidget(self.head)
        self.list = Scroller(margins=(24, 20, 24, 24), spacing=12)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.list)
        column.addWidget(self.stack, 1)
        self.choice.chosen.connect(self.show_view)
        self.reload.clicked.connect(model.reload)

    def _head_buttons(self) -> tuple[QWidget, ...]:
        """What stands before the last button of the head."""
        return ()

    @cached_property
    def editor(self) -> YamlEditor:
        """The text, made when somebody wants to see it or there is something to say about it."""
        made = YamlEditor(self._declared)
        self.stack.addWidget(made)
        return made

    def _has(self, view: str) -> bool:
        """Whether a view that is made when it is wanted is there."""
        return view in vars(self)

    def _outside(self, what: str) -> None:
        if what and not self._has("editor"):
            self.editor.outside.show_outside(what)

    def _broke(self, sentence: str) -> None:
        if not self._has("editor"):
            self.editor.say_failed(sentence)

    def _begin(self) -> None:
        """When all views are there."""
        model = self._declared
        model.changed.connect(self.refresh)
        model.outside.connect(self._outside)
        model.failed.connect(self._broke)
        model.look_at_file()
        model.open()
        self.refresh()

    def refresh(self) -> None:
        """Follow the view-model."""
        raise NotImplementedError

    def show_view(self, name: str) -> None:
        """The list, by what the file holds, or ``text``."""
        self.choice.set_value(name)
        self.stack.setCurrentWidget(self.editor if name == "text" else self.list)
        if name == "text":
            self.editor.source.setFocus(Qt.FocusReason.OtherFocusReason)

    def _wrong(self) -> Iterator[QWidget]:
        """What is wrong with the file, and a way to each place."""
        model, problems = self._declared, self._declared.file_problems
        if model.keeps_last_good:
            kept = f"{model.name} has a mistake. The {model.holds} below keep working as they were."
            yield Notice("failed", kept)
        elif any(problem.severity == "error" for problem in problems):
            yield Notice("ask", f"Some entries of {model.name} have mistakes and are not used.")
        if problems:
            yield row_card(problem_rows(problems, self._jump))

    def _edit(self, line: int) -> None:
        self.show_view("text")
        self.editor.go_to(line, 1)

    def _jump(self, problem: SkillProblem) -> None:
        self.show_view("text")
        self.editor.go_to(problem.line, problem.column)
