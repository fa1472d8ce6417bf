"""A skill file as form and as text, with its problems, saving, and what to do when somebody else changed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.skills import SkillProblem
from desktop.presenter.common.line_ends import Conflict
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.skills.editing import SkillEditor
from desktop.presenter.skills.page import SkillDetail
from desktop.ui.skills.cards import problem_rows
from desktop.ui.skills.conflict import ConflictView, OutsideStrip
from desktop.ui.skills.form import FrontmatterForm
from desktop.ui.skills.source_text import SourceText
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.page_shortcut import PageShortcut
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

LANGUAGES = {"python": "python", "javascript": "javascript", "foreign": "javascript"}
LOOK_EVERY = 1500
"""Milliseconds between two looks at the open file while it is edited."""
FORMS = frozenset({"markdown", "folder", "python"})


class Problems(QFrame):
    """What is wrong with the text, below it; a place that is pressed goes to ``jump``."""

    def __init__(self, jump: Callable[[SkillProblem], None]) -> None:
        super().__init__()
        self._jump = jump
        self.setProperty("pane", "footer")
        self.setAccessibleName("Problems of this text")
        scroller = Scroller(margins=(16, 8, 16, 8), spacing=4)
        Column(self, spacing=0).addWidget(scroller)
        self._rows = Column(spacing=4)
        scroller.column.addLayout(self._rows)
        scroller.column.addStretch(1)
        self.hide()

    def show_problems(self, problems: Sequence[SkillProblem]) -> None:
        """Show other problems; the list is a few rows high."""
        clear(self._rows)
        for row in problem_rows(problems, self._jump):
            self._rows.addWidget(row)
        self.setFixedHeight(theme().px(min(144, 20 + 28 * len(problems))))


class EditPane(QFrame):
    """``jump_wanted`` carries a problem that was pressed in the list below. ``known``: the models there are."""

    jump_wanted = Signal(object)

    def __init__(self, editor: SkillEditor, known: ModelSetupViewModel | None = None) -> None:
        super().__init__()
        self._editor, self._known = editor, known
        self._detail: SkillDetail | None = None
        self._view = "text"
        self._place: tuple[int, int] | None = None
        self._fresh = False
        self._watch = QTimer(self, interval=LOOK_EVERY)
        self._watch.timeout.connect(lambda: editor.look_at_disk((editor.path,)))
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        self._strip = OutsideStrip()
        column.addWidget(self._strip)
        self.source = SourceText("Text of the skill")
        self._stack = QStackedWidget()
        self._wait = pane("surface")
        self._cannot = Paragraph("", "body", "2")
        column_of = Column(self._wait, margins=24)
        column_of.addWidget(self._cannot)
        column_of.addStretch(1)
        for widget in (self._wait, self.source):
            self._stack.addWidget(widget)
        column.addWidget(self._stack, 1)
        self._problems = Problems(self.jump_wanted.emit)
        column.addWidget(self._problems)
        column.addWidget(self._make_foot())
        self._connect()

    def _make_foot(self) -> QWidget:
        self._foot = pane("footer")
        row = Row(self._foot, margins=(24, 8, 16, 8), spacing=8)
        self._state = StateLabel()
        self._words = Text("", "small", "2", elide="right")
        self.revert = Button("Discard changes", "quiet", icon="undo")
        self.save = Button("Save", "primary", tip="Save this skill (Ctrl+S)")
        row.addWidget(self._state)
        row.addWidget(self._words, 1)
        row.addWidget(self.revert)
        row.addWidget(self.save)
        return self._foot

    def _connect(self) -> None:
        editor = self._editor
        editor.opened.connect(self._opened)
        editor.replaced.connect(self.source.replace)
        editor.dirty_changed.connect(lambda _: self._say())
        editor.checked.connect(self._checked)
        editor.saved.connect(self._saved)
        editor.outside.connect(self._strip.show_outside)
        self._strip.compare.clicked.connect(editor.show_conflict)
        editor.conflict.connect(self._conflict)
        editor.failed.connect(self._failed)
        self.source.typed.connect(editor.edited)
        self.source.left.connect(lambda: self.save.setFocus(Qt.FocusReason.OtherFocusReason))
        self.save.clicked.connect(self.save_now)
        self.revert.clicked.connect(editor.revert)
        PageShortcut(QKeySequence.StandardKey.Save, self, self.save_now)

    @cached_property
    def form(self) -> FrontmatterForm:
        """Made when it is first looked at: it is the dearest part of the page."""
        made, editor = FrontmatterForm(self._known), self._editor
        made.changed.connect(editor.set_key)
        made.load(editor.form, editor.problems, writable=editor.writable, fresh=True)
        self._stack.addWidget(made)
        return made

    @cached_property
    def conflict(self) -> ConflictView:
        """Made at the first conflict."""
        made = ConflictView()
        made.answered.connect(self._answered)
        self._stack.addWidget(made)
        return made

    @property
    def _comparing(self) -> bool:
        return "conflict" in self.__dict__ and self._stack.currentWidget() is self.conflict

    def flush(self) -> None:
        """What was typed into the form just now goes into the text."""
        if "form" in self.__dict__:
            self.form.flush()

    def showEvent(self, event: QShowEvent) -> None:
        """While it is seen, the open file is looked at now and then: the list hears only of other frontmatter."""
        super().showEvent(event)
        self._watch.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop looking at the file while the page is hidden."""
        self._watch.stop()
        super().hideEvent(event)

    # -- what shows ---------------------------------------------------------------------------------------------------

    @property
    def has_form(self) -> bool:
        """Whether the open skill has frontmatter that a form can show."""
        definition = self._detail.definition if self._detail is not None else None
        return definition is not None and definition.kind in FORMS

    def show_detail(self, detail: SkillDetail) -> None:
        """Show a skill in its present state; the file is opened when form or text is looked at."""
        same = self._detail is not None and self._detail.key[0] == detail.key[0]
        self._detail = detail
        if not same or (self._editor.path and self._editor.path != detail.key[0]):
            self._editor.close()
            self._cannot.set_pieces("")
            self._stack.setCurrentWidget(self._wait)
            self._strip.show_outside("")
            if self.isVisible():
                self.show_view(self._view)

    def show_view(self, name: str) -> None:
        """Show one of the views ``form`` and ``text``."""
        self._view = name
        detail = self._detail
        if detail is None:
            return
        if not detail.key[0]:
            self._show_made(detail)
        elif self._editor.path != detail.key[0]:
            self._editor.open(*detail.key)
        elif not self._comparing:
            self.flush()
            self._stack.setCurrentWidget(self._widget())
        self._say()

    def _show_made(self, detail: SkillDetail) -> None:
        """Say in the editor's place that a tool of the app has no file to edit."""
        self.source.begin("This tool is part of Assent. There is no file to change.", "")
        self.source.setReadOnly(True)
        self._stack.setCurrentWidget(self.source)

    def _widget(self) -> QWidget:
        return self.form if self._view == "form" and self.has_form else self.source

    def take_keys(self) -> None:
        """Keys go to what is edited."""
        target = self.form.name if self._view == "form" else self.source
        QTimer.singleShot(0, target, lambda: target.setFocus(Qt.FocusReason.OtherFocusReason))

    def go_to(self, line: int, column: int) -> None:
        """To a place in the text, as soon as it is there."""
        self._place = (line, column)
        if self._editor.path:
            self._jump()

    def _jump(self) -> None:
        if self._place is not None:
            (line, column), self._place = self._place, None
            self.source.go_to(line, column)

    # -- following the editor -----------------------------------------------------------------------------------------

    def _opened(self) -> None:
        detail, editor = self._detail, self._editor
        kind = detail.definition.kind if detail is not None and detail.definition is not None else ""
        self.source.begin(editor.shown, LANGUAGES.get(kind) or _by_name(editor.path))
        self.source.setReadOnly(not editor.writable)
        if "form" in self.__dict__:
            self.form.load(editor.form, (), writable=False, fresh=True)
        self._stack.setCurrentWidget(self._widget())
        self._fresh = True  # the next check fills the form whatever stands there
        self._jump()
        self._say()

    def _checked(self) -> None:
        editor = self._editor
        self.source.mark(editor.problems)
        if "form" in self.__dict__:
            self.form.load(editor.form, editor.problems, writable=editor.writable, fresh=self._fresh)
        self._fresh = False
        self._problems.show_problems(editor.problems)
        self._say()

    def _show(self, widget: QWidget) -> None:
        """One of the views; the foot belongs to form and text."""
        self._stack.setCurrentWidget(widget)
        self._say()

    def _say(self) -> None:
        """Say in the foot whether the text is saved, and whether it is valid."""
        editor = self._editor
        comparing = self._comparing
        self._problems.setVisible(bool(editor.problems) and not comparing)
        errors = sum(problem.severity == "error" for problem in editor.problems)
        dirty = editor.dirty
        self._foot.setVisible(bool(editor.path) and not comparing)
        self.save.setEnabled(editor.writable and dirty)
        self.save.setToolTip("Save this skill (Ctrl+S)" if editor.writable else "This file cannot be changed")
        self.revert.setVisible(dirty)
        if errors:
            self._state.set_state("failed", f"{errors} problem{'s' if errors > 1 else ''}")
        else:
            self._state.set_state("warning" if editor.problems else "allow", "valid")
        words = "Not saved yet" if dirty else "" if editor.writable else "Read only. Duplicate it to change it"
        self._words.setText(words)

    def save_now(self) -> None:
        """Save what stands there, with what was typed just now."""
        self.flush()
        if self._editor.writable and self._editor.dirty:
            self._editor.save()

    def _saved(self) -> None:
        self._words.setText("Saved")
        self._show(self._widget())

    def _failed(self, sentence: str) -> None:
        """A file that cannot be opened says why, where its text would stand."""
        if not self._editor.path:
            self._cannot.set_pieces(shown_line(sentence))

    def _conflict(self, conflict: Conflict) -> None:
        self.conflict.show_conflict(conflict)
        self._show(self.conflict)

    def _answered(self, answer: str) -> None:
        if answer == "over":
            self._editor.save(over=True)
        elif answer == "reload":
            self._editor.revert()
        self._show(self._widget())


def _by_name(path: str) -> str:
    """The language of a file without a usable skill in it."""
    endings = {".py": "python", ".js": "javascript", ".ts": "javascript"}
    return next((language for ending, language in endings.items() if path.endswith(ending)), "markdown")
