"""The text of tools.yaml or mcp.yaml: checked while a person types, each problem a way to its place."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.skills import SkillProblem
from desktop.presenter.common.line_ends import Conflict
from desktop.presenter.settings.yaml_file import YamlFileViewModel
from desktop.ui.skills.cards import problem_rows
from desktop.ui.skills.conflict import ConflictView, OutsideStrip
from desktop.ui.skills.source_text import SourceText
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.page_shortcut import PageShortcut
from desktop.ui.widgets.focus_place import give_keys
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Text

PROBLEM_LINE = 28
MAX_LINES = 5


class YamlEditor(QFrame):
    """Follows the view-model; ``go_to`` shows a place."""

    def __init__(self, cli: YamlFileViewModel) -> None:
        super().__init__()
        self._cli = cli
        self._place: tuple[int, int] | None = None
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        self.failure = Notice("failed", "", banner=True)
        self.failure.hide()
        column.addWidget(self.failure)
        self.outside = OutsideStrip()
        column.addWidget(self.outside)
        self.source, self.conflict = SourceText(f"Text of {cli.name}"), ConflictView()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.source)
        self.stack.addWidget(self.conflict)
        column.addWidget(self.stack, 1)
        column.addWidget(self._make_problems())
        column.addWidget(self._make_foot())
        self._connect()
        if cli.shown:
            self._opened()
            self._checked()

    def _make_problems(self) -> QWidget:
        self._problems = pane("footer")
        column = Column(self._problems, spacing=0)
        scroller = Scroller(margins=(16, 8, 16, 8), spacing=4)
        self._rows = Column(spacing=4)
        scroller.column.addLayout(self._rows)
        scroller.column.addStretch(1)
        column.addWidget(scroller)
        self._problems.setAccessibleName("Problems of this text")
        self._problems.hide()
        return self._problems

    def _make_foot(self) -> QWidget:
        foot = self._foot = pane("footer")
        row = Row(foot, margins=(24, 8, 16, 8), spacing=8)
        self._state = StateLabel()
        self._words = Text("", "small", "2", elide="right")
        self.example = Button("Start from an example", "quiet", icon="new")
        self.revert = Button("Discard changes", "quiet", icon="undo")
        self.save = Button("Save", "primary", tip="Save and use it from now on (Ctrl+S)")
        row.addWidget(self._state)
        row.addWidget(self._words, 1)
        for button in (self.example, self.revert, self.save):
            row.addWidget(button)
        return foot

    def _connect(self) -> None:
        cli = self._cli
        cli.opened.connect(self._opened)
        cli.checked.connect(self._checked)
        cli.dirty_changed.connect(lambda _: self._say())
        cli.saved.connect(self._saved)
        cli.conflict.connect(self._conflict)
        cli.outside.connect(self.outside.show_outside)
        self.outside.compare.clicked.connect(cli.show_conflict)
        cli.failed.connect(self.say_failed)
        self.source.typed.connect(self._typed)
        self.source.left.connect(lambda: self.save.setFocus(Qt.FocusReason.OtherFocusReason))
        self.save.clicked.connect(self._save)
        self.revert.clicked.connect(self._revert)
        self.example.clicked.connect(self._begin)
        self.conflict.answered.connect(self._answered)
        self.stack.currentChanged.connect(
            lambda _: self._foot.setVisible(self.stack.currentWidget() is not self.conflict)
        )
        PageShortcut(QKeySequence.StandardKey.Save, self, self._save)

    def go_to(self, line: int, column: int) -> None:
        """Show a place, as soon as the text is there."""
        self._place = (line, column)
        if self.source.text() or not self._cli.shown:
            self._jump()

    def _jump(self) -> None:
        if self._place is not None:
            place, self._place = self._place, None
            self.source.go_to(*place)

    # -- following ----------------------------------------------------------------------------------------------------

    def _opened(self) -> None:
        self.source.begin(self._cli.shown, "yaml")
        self.stack.setCurrentWidget(self.source)
        self._jump()
        self._say()

    def _checked(self) -> None:
        problems = self._cli.problems
        self.source.mark(problems)
        clear(self._rows)
        for row in problem_rows(problems, self._to):
            self._rows.addWidget(row)
        self._problems.setVisible(bool(problems))
        lines = min(MAX_LINES, len(problems))
        self._problems.setFixedHeight(theme().px(20 + PROBLEM_LINE * lines))
        self._say()

    def _to(self, problem: SkillProblem) -> None:
        self.source.go_to(problem.line, problem.column)

    def _say(self) -> None:
        problems, dirty = self._cli.problems, self._cli.dirty
        errors = sum(problem.severity == "error" for problem in problems)
        broken = any(problem.code == "cli.file" and problem.severity == "error" for problem in problems)
        if errors:
            self._state.set_state("failed", f"{errors} problem{'s' if errors > 1 else ''}")
        else:
            self._state.set_state("warning" if problems else "allow", "valid")
        words = "Not saved yet" if dirty else ""
        if dirty and broken:
            words = f"This is no list of {self._cli.holds} yet, so it cannot be saved"
        elif dirty and errors:
            words = f"Not saved yet; {self._cli.holds} with problems are left out"
        self._words.setText(words)
        self.save.setEnabled(dirty and not broken)
        self.revert.setVisible(dirty)
        self.example.setVisible(not self._cli.shown.strip())

    def _saved(self) -> None:
        self.failure.hide()
        self.stack.setCurrentWidget(self.source)
        self._say()
        self._words.setText("Saved. It is used from now on")

    def say_failed(self, sentence: str) -> None:
        """What a person wanted was not done."""
        self.failure.say(sentence)
        self.failure.show()

    def _conflict(self, conflict: Conflict) -> None:
        self.conflict.show_conflict(conflict)
        self.stack.setCurrentWidget(self.conflict)

    # -- what a person does -------------------------------------------------------------------------------------------

    def _typed(self, text: str) -> None:
        self.failure.hide()
        self._cli.edited(text)

    def _begin(self) -> None:
        self.source.replace(self._cli.example)
        self._cli.edited(self._cli.example)
        self.source.setFocus(Qt.FocusReason.OtherFocusReason)

    def _save(self) -> None:
        if self._cli.dirty:  # the button follows the last check, which may be of an earlier text
            self._keep_keys()
            self._cli.save()

    def _keep_keys(self) -> None:
        """Whoever pressed Save or Discard goes on where they wrote: the button is greyed or hidden next."""
        if self.save.hasFocus() or self.revert.hasFocus():
            view = self.stack.currentWidget() or self.source
            give_keys(view.focusWidget() or view)

    def _revert(self) -> None:
        self.failure.hide()
        self._keep_keys()
        self._cli.revert()

    def _answered(self, answer: str) -> None:
        if answer == "over":
            self._cli.save(over=True)
        elif answer == "reload":
            self._cli.revert()
        self.stack.setCurrentWidget(self.source)
