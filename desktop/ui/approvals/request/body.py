"""What a call will do, by the kind of its preview: a diff, a judged command, an argument vector, or plain arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.text.words import count_words, size_of, size_words
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import SMALL, Diff, DiffRow, diff, is_small, new_file, plain_rows, void_rows
from desktop.ui.approvals.request.edits import ShownEdits
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import arguments_text
from desktop.ui.widgets.text import Text

MAXIMUM = 16_777_215
"""Qt's own largest height."""


EDITS_TIP = "Each edit by itself. F7 goes to the next one, Shift+F7 back."

Found = tuple[Diff, tuple[DiffRow, ...]]
"""What would happen now, and the struck rows over it; or the rows of the edits one by one."""


class Card(QFrame):
    """A head with a title, facts and a choice of views; the views below, one at a time. ``words``: the view that says
    all of the call, and ``noun`` what that is."""

    words: LinesView | None = None
    noun = "the command"

    def __init__(self, title: str, views: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        column = Column(self, margins=1, spacing=0)
        head = sized(pane("header"), height=36)
        self._row = Row(head, margins=(12, 0, 8, 0), spacing=8)
        self.title = Text(title, "medium", elide="right")
        self._row.addWidget(self.title, 1)
        self.facts = Row(spacing=8)
        self._row.addLayout(self.facts)
        self._names = [value for value, _ in views]
        if len(views) > 1:
            self.choice = Segmented("What to show", views, small=True)
            self.choice.chosen.connect(self.show_view)
            self._row.addWidget(self.choice)
        column.addWidget(head)
        self._holder = holder = QWidget()
        self.views = QStackedLayout(holder)
        self.views.setContentsMargins(0, 0, 0, 0)
        column.addWidget(holder, 1)

    def add_view(self, view: QWidget) -> None:
        """Add a view to the card."""
        self.views.addWidget(view)
        if isinstance(view, LinesView):
            view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """At another width lines take another height, as with a scroll bar below."""
        if event.type() == QEvent.Type.Resize:
            self.fit()
        return False

    def fit(self) -> None:
        """Grow no higher than what there is to see, and need no more than it, whatever the other views need."""
        view = self.views.currentWidget()
        self._holder.setMinimumHeight(view.minimumSizeHint().height() if view is not None else 0)
        if isinstance(view, LinesView):
            self.setMaximumHeight(view.full_height() + frame_height())
        else:
            self.setMaximumHeight(MAXIMUM)

    def show_words(self) -> None:
        """Bring the view that says all of the call to the front."""
        for at, name in enumerate(self._names):
            if self.views.widget(at) is self.words:
                self.show_view(name)
                if len(self._names) > 1:
                    self.choice.set_value(name)

    def show_view(self, name: str) -> None:
        """Bring a view to the front."""
        self.views.setCurrentIndex(self._names.index(name))
        self.fit()
        self.updateGeometry()


class DiffCard(Card):
    """A write against the file as it is now, or edits of it one by one. ``settled`` once the difference is on screen.

    ``voided`` is the request that was allowed before the file changed: its difference stands struck over the new one.
    """

    settled = Signal()
    noun = "the changes"

    def __init__(self, request: PermissionRequest, voided: PermissionRequest | None = None) -> None:
        self._voided = voided.preview if voided is not None and voided.preview.get("kind") == "diff" else {}
        preview = request.preview
        self._before = _text(preview.get("before"))
        self._after = _text(preview.get("after"))
        self._is_new = bool(preview.get("new"))
        first = preview.get("first_line")
        self._first = first if isinstance(first, int) else 1
        self._edits = ShownEdits.of(preview)
        title = "A new file" if self._is_new else "Changes against the file as it is now"
        if self._edits is None:
            super().__init__(title, (("diff", "Diff"), ("result", "Result"), ("arguments", "Arguments")))
        else:
            whole = ("edits", "Edits"), ("diff", "Whole file"), ("arguments", "Arguments")
            super().__init__(self._edits.title, whole)
            self.choice.set_tips({"edits": EDITS_TIP})
        self.diff_view, self._other = LinesView("Changes"), LinesView("Edits" if self._edits else "The file afterwards")
        arguments = arguments_view(request.arguments)
        views = [self._other, self.diff_view] if self._edits else [self.diff_view, self._other]
        for view in (*views, arguments):
            self.add_view(view)
            view.wrapped.connect(self.fit)
        self.words = views[0]
        if self._edits is None:
            self._other.set_rows(plain_rows(self._after))
        else:
            self.words = self._other if self._edits.whole else arguments
            for view in views:
                view.number_both()
        self._plus, self._minus = Text("", "small", "diff-add"), Text("", "small", "diff-del")
        self.facts.addWidget(self._plus)
        self.facts.addWidget(self._minus)
        self.ready = False
        self._background = Background(self, self._show)

    def start(self) -> None:
        """Find the difference, now if it is small; ``settled`` follows either way."""
        small = is_small(self._before, self._after) and is_small(*_sides(self._voided))
        if small and (self._edits is None or self._edits.size <= SMALL):
            self._show(self._find())
        else:
            for view in (self.diff_view, *([self._other] if self._edits else ())):
                view.set_rows((DiffRow("hunk", 0, "comparing…"),))
            self._background.start(self._find)

    def _find(self) -> Found:
        now = new_file(self._after) if self._is_new else diff(self._before, self._after, (self._first, self._first))
        if self._edits is not None:
            rows, added, removed = self._edits.rows()
            return Diff(now.rows, added, removed), rows
        if not self._voided:
            return now, ()
        before, after = _sides(self._voided)
        then = new_file(after) if self._voided.get("new") else diff(before, after)
        return now, void_rows(then) if then.rows != now.rows else ()

    def _show(self, found: object) -> None:
        if not isinstance(found, tuple):
            return
        change, void = found
        rows = change.rows
        if self._edits is not None:
            self._other.set_rows(void)
            void = ()
        if self._is_new:
            lines, size = count_words(change.added, "line"), size_words(size_of(self._after))
            rows = (DiffRow("hunk", 0, f"new file, {lines}, {size}"), *rows)
        elif not rows:
            rows = (DiffRow("hunk", 0, "nothing changes: the file already holds exactly this"),)
        self.diff_view.set_rows((*void, *rows), start=max(0, len(void) - 1))  # what holds now is what must be seen
        self._plus.setText(f"+{change.added:,}")
        self._minus.setText(f"−{change.removed:,}")
        self._minus.setVisible(not self._is_new)
        self.ready = True
        self.fit()
        self.settled.emit()


class ArgumentsCard(Card):
    """The card of any other call: its arguments in full, or its argument vector word by word."""

    def __init__(self, request: PermissionRequest) -> None:
        argv = request.preview.get("argv")
        if request.preview.get("kind") == "argv" and isinstance(argv, list | tuple):
            super().__init__("The program and its arguments, one a line", (("argv", "Words"), ("all", "Arguments")))
            words = LinesView("Argument vector")
            words.set_text("\n".join(_text(word).replace("\n", "\\n") for word in argv), numbered=True)
            self.add_view(words)
            self.words = words
        else:
            super().__init__("Arguments", (("all", "Arguments"),))
            self.noun = "the arguments"
        everything = arguments_view(request.arguments)
        self.words = self.words or everything
        self.add_view(everything)


def frame_height() -> int:
    """What a card takes beside its view: head, margins, and the border that the style sheet draws."""
    return theme().px(36) + 2 * theme().px(1) + 2


def arguments_view(arguments: Mapping[str, Any]) -> LinesView:
    """All arguments, scrollable, nothing left out."""
    view = LinesView("Arguments")
    view.set_indent(12)
    view.set_text(arguments_text(arguments))
    return view


def _sides(preview: Mapping[str, Any]) -> tuple[str, str]:
    return _text(preview.get("before")), _text(preview.get("after"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
