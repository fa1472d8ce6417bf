"""*Allow a few…*: this call, and so many like it, until a time, up to so many bytes (R-ASK-2)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.domain.approval.bounded_grants import GrantBounds
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.text.words import count_words
from desktop.presenter.approvals.granted import CallGrantsViewModel, GrantChoices, clock_words
from desktop.ui.approvals.request.editing import CANCEL
from desktop.ui.widgets.controls.fields import Combo, Labelled
from desktop.ui.widgets.dialogs.base import DialogAnswer
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

WORDS = (
    "In this chat alone, and never for admin calls. It stands above the text field while it holds, and you can take it "
    "back there."
)
LONGEST = 70
"""Characters of a pattern in the list."""


class GrantDialog(ScrolledDialog):
    """What to grant of a tool: with the answer to a request, or (``again``) anew. ``bounds`` is what is chosen."""

    help_page = "approvals"

    def __init__(
        self, window: QWidget, tool: str, choices: GrantChoices, grants: CallGrantsViewModel, *, again: bool = False
    ) -> None:
        answers = (CANCEL, DialogAnswer("allow", "Allow these", "primary"))
        title = f"Allow a few {'more ' if again else ''}calls of {shown_line(tool)[:60]}?"
        super().__init__(window, title, WORDS, answers, width=520)
        self._grants, self._again = grants, again
        self.pattern = Combo("Which calls", quiet=False)
        self.pattern.fill([(_short(words), value) for words, value in choices.patterns])
        self.calls, self.minutes, self.sizes = Combo("How many"), Combo("For how long"), Combo("Written in all")
        self.calls.fill([(words, value) for words, value in choices.calls], 10)
        self.minutes.fill([(words, value) for words, value in choices.minutes], 60)
        self.sizes.fill([(words, value) for words, value in choices.sizes])
        column = self.scroller.column
        column.addWidget(Labelled("Which calls", self.pattern))
        row = Row(spacing=12)
        row.addWidget(Labelled("How many" if again else "How many, with this one", self.calls), 1)
        row.addWidget(Labelled("For how long", self.minutes), 1)
        if choices.sizes:
            row.addWidget(Labelled("Written in all", self.sizes), 1)
        else:  # nobody can say beforehand how much
            self.sizes.setParent(self)
            self.sizes.hide()
        column.addLayout(row)
        self._comes_to = Paragraph("", "small", "2")
        column.addWidget(self._comes_to)
        for combo in (self.pattern, self.calls, self.minutes, self.sizes):
            combo.currentIndexChanged.connect(lambda _: self._say())
        self._say()

    @property
    def bounds(self) -> GrantBounds:
        """What is chosen, from now on."""
        return self._grants.bounds(
            str(self.pattern.currentData()),
            int(self.calls.currentData()),
            int(self.minutes.currentData()),
            self.sizes.currentData(),
        )

    def _say(self) -> None:
        bounds = self.bounds
        size = f", and {self.sizes.currentText()} in all" if bounds.most_bytes is not None else ""
        ends = f"until {clock_words(bounds.until)}{size}"
        now = f"This call runs now, and up to {count_words(bounds.calls - 1, 'more call')} like it {ends}."
        later = (
            f"Up to {count_words(bounds.calls, 'such call')} {'runs' if bounds.calls == 1 else 'run'} unasked {ends}."
        )
        self._comes_to.setText(later if self._again else now)
        self.resized()


def grant_some(
    window: QWidget, request: PermissionRequest, grants: CallGrantsViewModel, allow: Callable[[GrantBounds], None]
) -> GrantDialog:
    """Ask what to grant; ``allow`` is called with it."""
    dialog = GrantDialog(window, request.tool, grants.choices(request), grants)
    dialog.answered.connect(lambda value: allow(dialog.bounds) if value == "allow" else None)
    dialog.open()
    return dialog


def grant_again(window: QWidget, grant_id: str, grants: CallGrantsViewModel) -> GrantDialog | None:
    """Ask how many more of the calls of a grant that ended; None where it is not known any more."""
    grant = grants.ended(grant_id)
    if grant is None:
        return None
    dialog = GrantDialog(window, grant.tool, grants.choices_again(grant), grants, again=True)
    dialog.answered.connect(lambda value: grants.grant_again(grant_id, dialog.bounds) if value == "allow" else None)
    dialog.open()
    return dialog


def _short(words: str) -> str:
    shown = shown_line(words)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST // 2]}…{shown[-LONGEST // 2 :]}"
