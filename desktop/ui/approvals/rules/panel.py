"""The side panel in which a rule is written: pattern, decision, threads, what would change, and how to keep it.

``RuleForm`` is the same in the panel and in the *Always allow…* dialog; ``RuleFoot`` are its suggestion and answers.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.approval.rules import RuleProblem, Simulation
from desktop.domain.text.hidden_characters import has_hidden
from desktop.presenter.approvals.rules_editing import PATTERN_LIMIT, RuleEditor
from desktop.presenter.approvals.rules_words import DECISIONS, is_project, split_pattern
from desktop.presenter.common.folders import name_of
from desktop.ui.approvals.chooser import WIDEST, Chooser
from desktop.ui.approvals.rules.text import pattern_line
from desktop.ui.approvals.rules.trial import RuleTrialView
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, IconButton, Kind
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.containers import PaneHeader, Scroller
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

WIDTH, BAR = 384, 12
TITLE_SHOWN = 24
THREADS_TIP = "Where the rule applies"
_TITLES = {"edit": "Edit rule", "new": "New rule"}


class RuleForm(QWidget):
    """Pattern, decision, threads and the trial, in a page that scrolls. ``fixed``: it can only allow."""

    def __init__(
        self,
        editor: RuleEditor,
        here: Callable[[], tuple[str, ...]],
        thread_title: Callable[[str], str],
        *,
        fixed: bool = False,
        side: int = 24,
    ) -> None:
        super().__init__()
        self._editor, self._here, self._thread_title = editor, here, thread_title
        self.field = Field("Pattern", mono=True)
        self.field.setMaxLength(PATTERN_LIMIT)
        self.label = Labelled("Pattern", self.field)
        self.decision = Segmented("What the rule does", DECISIONS, decisions=True)
        self.scope = Chooser("Where the rule applies", widest=WIDEST if fixed else 128)
        self.scope.setToolTip(THREADS_TIP)
        self.trial = RuleTrialView(editor)
        self._scroller = BarScroller(margins=(side, 16, max(side, BAR), 16), spacing=12)
        column = self._scroller.column
        column.addWidget(self.label)
        row = Row(spacing=4)
        row.addWidget(self.decision)
        if fixed:
            self.decision.hide()
            row.addWidget(Text("Applies in", "small", "2"))
            row.addWidget(self.scope)
        row.addStretch(1)
        if not fixed:
            row.addWidget(self.scope)
        column.addLayout(row)
        column.addSpacing(8)
        column.addWidget(self.trial)
        column.addStretch(1)
        Column(self, spacing=0).addWidget(self._scroller)
        self.field.textEdited.connect(lambda text: editor.write(pattern=text))
        self.decision.chosen.connect(lambda value: editor.write(decision=value))
        self.scope.currentIndexChanged.connect(lambda _: editor.write(thread_id=self.scope.currentData()))
        self.trial.reveal.connect(self._reveal)
        editor.opened.connect(self._opened)
        editor.changed.connect(self.refresh)
        self._opened()

    def refresh(self) -> None:
        """What the editor holds; a text that is being typed is left alone."""
        draft = self._editor.draft
        if draft is None:
            return
        if self.field.text() != draft.pattern:
            self.field.setText(draft.pattern)
        self.decision.set_value(draft.decision)
        self.scope.setCurrentIndex(max(0, self.scope.findData(draft.thread_id)))
        self.label.set_error(problem_words(draft.pattern, self._editor.problem))
        locked = self._editor.saving
        for widget in (self.field, self.decision, self.scope):
            widget.setEnabled(not locked)

    def show_problem(self) -> None:
        """Put the caret on what is wrong."""
        problem = self._editor.problem
        if problem is not None:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            self.field.setSelection(problem.start, max(1, problem.length))

    def _opened(self) -> None:
        draft = self._editor.draft
        if draft is None:
            return
        request = self._editor.request
        here = (request.project, request.seen_in) if request is not None else self._here()
        named = [(self._words(scope), scope) for scope in dict.fromkeys((*here, draft.thread_id)) if scope]
        self.scope.fill([("all chats", ""), *named], draft.thread_id)
        self.scope.setEnabled(bool(named))
        self._scroller.verticalScrollBar().setValue(0)
        self.refresh()
        self.field.setCursorPosition(len(draft.pattern.rstrip(")")))

    def _words(self, scope: str) -> str:
        """Where a rule holds that is bound to a folder or a chat."""
        title = shown_line(name_of(scope) if is_project(scope) else self._thread_title(scope))
        short = title if len(title) <= TITLE_SHOWN else f"{title[:TITLE_SHOWN]}…"
        return f"only in {short}" if is_project(scope) else f"only “{short}”"

    def _reveal(self, section: QWidget) -> None:
        self._scroller.ensureWidgetVisible(section, 0, 0)
        bar, inside = self._scroller.verticalScrollBar(), self._scroller.widget()
        if inside is not None:
            bar.setValue(min(bar.maximum(), section.mapTo(inside, section.rect().topLeft()).y()))


class BarScroller(Scroller):
    """A scrolled area whose contents keep their width when the scroll bar comes: the bar takes its room from the
    margin."""

    def __init__(self, *, margins: tuple[int, int, int, int], spacing: int) -> None:
        super().__init__(margins=margins, spacing=spacing)
        self._right = margins[2]
        self.verticalScrollBar().rangeChanged.connect(self._make_room)

    def _make_room(self, minimum: int, maximum: int) -> None:
        px = theme().px
        at = self.column.contentsMargins()
        bar = self.verticalScrollBar().sizeHint().width() if maximum > minimum else 0
        self.column.setContentsMargins(at.left(), at.top(), max(0, px(self._right) - bar), at.bottom())


def problem_words(pattern: str, problem: RuleProblem | None) -> str:
    """What is wrong, with the part of the pattern where it is."""
    if problem is None:
        return ""
    part = pattern[problem.start : problem.start + max(0, problem.length)]
    if has_hidden(part) or (part and part != pattern.strip() and len(part) <= 40):
        return f"{problem.message} Here: {shown_line(part)}"
    return problem.message


class RuleFoot(QFrame):
    """Suggestion, and the ways to end: *Use suggestion*, *Save* or *Save anyway…*, and *Discard*. With a request,
    saving is an answer, so it is deaf while it has just come into sight (R-PRM-14)."""

    discard = Signal()

    def __init__(self, editor: RuleEditor, *, answering: bool = False, side: int = 24) -> None:
        super().__init__()
        self._editor = editor
        self._answering = answering
        self._was_savable = False
        self.setProperty("pane", "footer")
        column = Column(self, margins=(side, 12, side, 12), spacing=8)
        self.words = Paragraph("", "small", "2")
        column.addWidget(self.words)
        row = Row(spacing=8)
        row.addStretch(1)
        self.drop = Button("Cancel" if answering else "Discard", "quiet", key="Esc" if answering else "")
        self.save: Button = AllowButton("Save and allow", "primary") if answering else Button("Save", "primary")
        self.use = Button("Use suggestion", "primary", tip="Write the narrower pattern into the field")
        for button in (self.drop, self.save, self.use):
            row.addWidget(button)
        column.addLayout(row)
        self.use.clicked.connect(editor.use_suggestion)
        if isinstance(self.save, AllowButton):
            self.save.agreed.connect(self._save)
        else:
            self.save.clicked.connect(self._save)
        self.drop.clicked.connect(self.discard)
        for signal in (editor.opened, editor.changed, editor.tried):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what was found by trying the rule, and which buttons can be used."""
        editor, found = self._editor, self._editor.simulation if self._editor.current else None
        suggested = found.suggestion if found is not None else ""
        pieces = _said(editor.draft.pattern if editor.draft else "", found) if found is not None else ()
        self.words.setVisible(bool(pieces))
        if pieces:
            self.words.set_pieces(pieces)
        self.use.setVisible(bool(suggested))
        risky = editor.can_save and editor.risky
        verb = "Save and allow" if editor.answers else "Save"
        self.save.set_label(f"{verb} anyway…" if risky else verb)
        look: Kind = "normal" if suggested or risky else "primary"
        if isinstance(self.save, AllowButton):
            self.save.set_awake(look)
        else:
            self.save.set_kind(look)
        self.save.setToolTip(plain_tip(_why_not(editor)))
        self.save.setEnabled(editor.can_save)
        if editor.can_save and not self._was_savable:
            self._arm()
        self._was_savable = editor.can_save

    def save_by_key(self) -> None:
        """Return in the field: keeps what is harmless. Never an answer to a request."""
        if self._editor.can_save and not self._editor.risky and not self._answering:
            self._editor.save()

    def _arm(self) -> None:
        """Begin the deaf time: what can be agreed to has just come into sight."""
        if isinstance(self.save, AllowButton):
            self.save.arm()

    def _save(self) -> None:
        editor = self._editor
        if not editor.can_save:
            return
        if not editor.risky:
            editor.save()
            return
        draft = editor.draft

        def answered(answer: str) -> None:
            if answer == "save" and editor.draft == draft:
                editor.save()

        confirm(self.window(), editor).answered.connect(answered)


def suggestion_pieces(pattern: str, suggestion: str, lets: int, of: int) -> tuple[tuple[str, str], ...]:
    """A narrower pattern and what it does; where only the constraints differ, only they are shown."""
    (tool, _), (other, constraints) = split_pattern(pattern), split_pattern(suggestion)
    short = constraints[1:-1] if tool.strip() == other and constraints.endswith(")") else suggestion
    through = f" allows {lets:,} of these {of:,} calls and no known trick." if of else " allows no known trick."
    return ("Suggested: ", ""), (pattern_line(short), "mono"), (through, "")


def _said(pattern: str, found: Simulation) -> tuple[tuple[str, str], ...]:
    """What else it means, the suggestion, and of which programs nobody knows the options."""
    pieces = (
        suggestion_pieces(pattern, found.suggestion, found.suggestion_lets, found.passing_count)
        if found.suggestion
        else ()
    )
    pieces = ((f"{found.note} " if pieces else found.note, ""), *pieces) if found.note else pieces
    if not found.unlisted:
        return pieces
    begin = (" Assent does not know" if pieces else "Assent does not know", "")
    names = ", ".join(found.unlisted[:3])
    return (*pieces, (f"{begin[0]} the options of ", ""), (names, "mono"), (": this rule allows all of them.", ""))


def confirm(window: QWidget, editor: RuleEditor) -> Dialog:
    """Save although something gets through: says how much, and by which rule."""
    pattern = pattern_line(editor.draft.pattern if editor.draft else "")
    number = editor.through
    if number:
        tricks = "a trick gets" if number == 1 else f"{number:,} tricks get"
        title = f"Save a rule that {tricks} through?"
        words = "Calls like these would run without asking: "
        lines = [shown_line(call.text)[:80] for call in (editor.simulation.through if editor.simulation else ())[:3]]
    else:
        title, lines = "Save a rule that was not tested?", []
        words = f"So it is not known which calls it would allow. {editor.trouble}"
    more = f" and {number - len(lines):,} more" if number > len(lines) else ""
    pieces = (
        (words, ""),
        ("; ".join(lines), "mono"),
        (f"{more}. The rule is " if lines else " The rule is ", ""),
        (pattern, "mono"),
        (".", ""),
    )
    verb = "Save and allow" if editor.answers else "Save anyway"
    answers = (DialogAnswer("no", "Keep editing", key="Esc"), DialogAnswer("save", verb, "danger"))
    dialog = Dialog(window, title, pieces, answers, width=480)
    dialog.open()
    return dialog


def _why_not(editor: RuleEditor) -> str:
    if editor.can_save:
        return "Save the rule, and allow the call that asked" if editor.answers else "Save the rule; it applies at once"
    if editor.problem is not None:
        return "The pattern is not complete yet"
    return "It is being tested" if editor.trying else "Write a pattern first"


class RulePanel(QFrame):
    """The side panel in which a rule is written. ``closed`` once nothing is being written any more."""

    closed = Signal()

    def __init__(
        self, editor: RuleEditor, here: Callable[[], tuple[str, ...]], thread_title: Callable[[str], str]
    ) -> None:
        super().__init__()
        self._editor = editor
        self.setProperty("pane", "side")
        column = Column(self, spacing=0)
        self._head = PaneHeader("New rule", right=8)
        self.close_button = IconButton("close", "Close", shortcut="Esc")
        self.close_button.clicked.connect(self.leave)
        self._head.add(self.close_button)
        column.addWidget(self._head)
        self.form = RuleForm(editor, here, thread_title)
        column.addWidget(self.form, 1)
        self.foot = RuleFoot(editor)
        self.foot.discard.connect(self.leave)
        column.addWidget(self.foot)
        self.form.field.returnPressed.connect(self._entered)
        editor.opened.connect(self._opened)

    def leave(self) -> None:
        """Close the panel; asks first when something that was typed would be lost."""
        self.leaving(self._editor.close)

    def leaving(self, go_on: Callable[[], None]) -> None:
        """Do something that would drop the draft: at once where nothing was typed, else after asking."""
        if self._editor.draft is None or not self._editor.dirty:
            go_on()
            return
        answers = (DialogAnswer("keep", "Keep editing", key="Esc"), DialogAnswer("discard", "Discard", "danger"))
        dialog = Dialog(self.window(), "Discard this rule?", "What you wrote is not saved.", answers)
        dialog.answered.connect(lambda answer: go_on() if answer == "discard" else None)
        dialog.open()

    def focus_field(self) -> None:
        """Keys go to the pattern."""
        self.form.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _entered(self) -> None:
        if self._editor.problem is not None:
            self.form.show_problem()
        else:
            self.foot.save_by_key()

    def _opened(self) -> None:
        draft = self._editor.draft
        if draft is None:
            self.closed.emit()
            return
        self._head.title.setText(_TITLES["edit" if draft.replaces else "new"])
        self.setAccessibleName(_TITLES["edit" if draft.replaces else "new"])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)
