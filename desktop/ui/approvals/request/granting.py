"""*Allow a few…*: this call, and so many like it, until a time, up to so many bytes (R-ASK-2)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.domain.approval.bounded_grants import GrantBounds
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.text.words import count_words
from desktop.presenter.approvals.granted import CallGrantsViewModel, clock_words
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
    """What to grant with the answer to one request. ``bounds`` is what is chosen."""

    def __init__(self, window: QWidget, request: PermissionRequest, grants: CallGrantsViewModel) -> None:
        answers = (CANCEL, DialogAnswer("allow", "Allow these", "primary"))
        super().__init__(window, f"Allow a few calls of {shown_line(request.tool)[:60]}?", WORDS, answers, width=520)
        self._grants = grants
        choices = grants.choices(request)
        self.pattern = Combo("Which calls", quiet=False)
        self.pattern.fill([(_short(words), value) for words, value in choices.patterns])
        self.calls, self.minutes, self.sizes = Combo("How many"), Combo("For how long"), Combo("Written in all")
        self.calls.fill([(words, value) for words, value in choices.calls], 10)
        self.minutes.fill([(words, value) for words, value in choices.minutes], 60)
        self.sizes.fill([(words, value) for words, value in choices.sizes])
        column = self.scroller.column
        column.addWidget(Labelled("Which calls", self.pattern))
        row = Row(spacing=12)
        row.addWidget(Labelled("How many, with this one", self.calls), 1)
        row.addWidget(Labelled("For how long", self.minutes), 1)
        if choices.sizes:
            row.addWidget(Labelled("Written in all", self.sizes), 1)
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
        more = count_words(bounds.calls - 1, "more call")
        size = f", and {self.sizes.currentText()} in all" if bounds.most_bytes is not None else ""
        self._comes_to.setText(f"This call runs now, and up to {more} like it until {clock_words(bounds.until)}{size}.")
        self.resized()


def grant_some(
    window: QWidget, request: PermissionRequest, grants: CallGrantsViewModel, allow: Callable[[GrantBounds], None]
) -> GrantDialog:
    """Ask what to grant; ``allow`` is called with it."""
    dialog = GrantDialog(window, request, grants)
    dialog.answered.connect(lambda value: allow(dialog.bounds) if value == "allow" else None)
    dialog.open()
    return dialog


def _short(words: str) -> str:
    shown = shown_line(words)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST // 2]}…{shown[-LONGEST // 2 :]}"
