"""The dialogs of the Skills page: a name for a new skill, a copy, another name; deleting, trusting, leaving unsaved."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.presenter.skills.words import NEW_KINDS
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.shown import shown_line

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
RULE = "Use 1 to 64 of a to z, 0 to 9, and single hyphens between them."


class NameDialog(Dialog):
    """Asks for a bare name; the act stays off while it is none. ``typed`` reads it."""

    help_page = "skills"

    def __init__(self, window: QWidget, title: str, text: str, act: str, name: str, *, kinds: bool = False) -> None:
        super().__init__(
            window, title, text, (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", act, "primary"))
        )
        self.kind = Segmented("Kind of skill", NEW_KINDS) if kinds else None
        if self.kind is not None:
            self.body.addWidget(self.kind)
        self.field = Field("Name", mono=True)
        self.label = Labelled("Name", self.field, RULE)
        self.body.addWidget(self.label)
        self.field.setText(name)
        self.field.selectAll()
        self.field.textChanged.connect(self._check)
        self.field.returnPressed.connect(self._enter)
        self._check()

    @property
    def typed(self) -> str:
        """The name that was typed."""
        return self.field.text().strip()

    def _check(self) -> None:
        good = bool(_NAME.match(self.typed)) and len(self.typed) <= 64
        self.buttons["yes"].setEnabled(good)
        self.label.set_error("" if good or not self.typed else RULE)

    def _enter(self) -> None:
        if self.buttons["yes"].isEnabled():
            self.answer("yes")


def ask_new(window: QWidget, make: Callable[[str, str], None]) -> NameDialog:
    """Folder, one file, or Python; and its name."""
    words = "It goes into your own skills folder, from a template, and opens here."
    dialog = NameDialog(window, "New skill", words, "Create", "", kinds=True)
    kind = dialog.kind
    assert kind is not None
    dialog.answered.connect(lambda answer: make(dialog.typed, kind.value) if answer == "yes" else None)
    dialog.open(dialog.field)
    return dialog


def ask_name(window: QWidget, title: str, text: str, act: str, name: str, done: Callable[[str], None]) -> NameDialog:
    """Ask for a new name."""
    dialog = NameDialog(window, title, text, act, name)
    dialog.answered.connect(lambda answer: done(dialog.typed) if answer == "yes" else None)
    dialog.open(dialog.field)
    return dialog


def ask_trust(window: QWidget, folder: str, done: Callable[[], None]) -> Dialog:
    """Ask whether to trust a folder, and say what that means."""
    words = (
        ("Skills below ", ""),
        (shown_line(folder), "mono"),
        (
            " are then offered to your agents, and their code can run on this machine, confined to your folders. "
            "Trust only what you would run yourself. You can take it back in Settings.",
            "",
        ),
    )
    answers = (DialogAnswer("no", "Not now", key="Esc"), DialogAnswer("yes", "Trust this folder", "admin"))
    dialog = Dialog(window, "Trust this folder?", words, answers, width=480)
    dialog.answered.connect(lambda answer: done() if answer == "yes" else None)
    dialog.open()
    return dialog


def ask_leave(window: QWidget, name: str, answered: Callable[[str], None]) -> Dialog:
    """There is something that was not saved: keep | discard | save."""
    words = (("What you changed in ", ""), (shown_line(name), "mono"), (" is not saved yet.", ""))
    answers = (
        DialogAnswer("keep", "Keep editing", key="Esc"),
        DialogAnswer("discard", "Discard", "danger"),
        DialogAnswer("save", "Save", "primary"),
    )
    dialog = Dialog(window, "Save your changes?", words, answers, width=440)
    dialog.answered.connect(answered)
    dialog.open()
    return dialog
