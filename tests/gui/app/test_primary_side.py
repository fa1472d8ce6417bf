"""One decision for all dialogs and forms: what agrees stands at the right end of its line, what keeps things at its
left."""

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from shots import pages as shots

from desktop.ui.settings.keys.page import KeysPage
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.shell.closing import ask_close
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.base import Dialog

AGREES = ("primary", "admin")


def agrees(button: Button) -> bool:
    """Also one that is deaf for a moment: it agrees as soon as it hears."""
    return (button._awake if isinstance(button, AllowButton) else button.kind) in AGREES


@pytest.fixture
def stage(theme: Theme) -> Iterator[shots.Stage]:
    made = shots.Stage(theme)
    made.window.show()
    yield made
    made.window.close_for_good()
    made.window.deleteLater()


def lines(window: QWidget) -> list[tuple[Button, Button]]:
    """(a button that agrees, one that stands at its right in the same line)."""
    seen = [b for b in window.findChildren(Button) if b.isVisible() and not b.visibleRegion().isEmpty()]
    place = {b: QRect(b.mapTo(window, QPoint(0, 0)), b.size()) for b in seen}
    return [
        (one, other)
        for one in seen
        for other in seen
        if agrees(one)
        and other is not one
        and other.parentWidget() is one.parentWidget()
        and place[other].left() > place[one].right()
        and place[other].top() < place[one].bottom()
        and place[one].top() < place[other].bottom()
    ]


def agreeing(window: QWidget) -> int:
    return len([b for b in window.findChildren(Button) if b.isVisible() and agrees(b)])


DIALOGS = (
    "02-dialog-over-thread",
    "03-rules",
    "03-rules-harmless",
    "03-rules-edit",
    "03-rules-confirm",
    "03-rules-discard",
    "03-rules-always",
    "03-rules-always-960",
    "06-import",
    "06-paste",
    "06-skills-new",
    "06-skills-leaving",
    "07-boundaries-allowing",
    "07-boundaries-confirm",
    "07-mcp-add-filled",
    "07-mcp-look",
    "08-first-run",
    "08-first-run-several",
    "09-report",
)
"""Pictures of everything else that is answered: rules, skills, boundaries, servers, the first start."""


@pytest.mark.parametrize("name", DIALOGS)
def test_it_does_in_every_dialog_that_there_is_a_picture_of(stage: shots.Stage, name: str) -> None:
    shown = shots.PICTURES[name](stage)
    shots.settle(10)
    assert agreeing(shown), "nothing to look at"
    assert [(one.label, other.label) for one, other in lines(shown)] == []


def test_what_agrees_stands_at_the_right_of_its_line(stage: shots.Stage) -> None:
    window, wrong, seen = stage.window, [], 0

    def look(where: str) -> None:
        nonlocal seen
        shots.settle(10)
        seen += agreeing(window)
        wrong.extend((where, one.label, other.label) for one, other in lines(window))

    shots._settings(stage, "Models and keys")
    models: Any = window.page("settings").findChild(ModelsPage)
    look("models")
    models.cards.edits["mistral"].click()
    look("edit a connection")
    models.cards.editor.cancel.click()
    for label in ("Replace key…", "Delete…"):
        next(b for b in models.findChildren(Button) if b.label == label).click()
        look(label)
        shots.settle(0)
        for dialog in window.findChildren(Dialog):
            dialog.answer("cancel")
    for act in ("add", "agree", "delete"):
        shots._keys(stage, act)
        look(f"keyring, {act}")
        window.page("settings").findChild(KeysPage).dialogs.open_now.answer("cancel")
    for button in ("reason", "edit"):
        shots._dialog(stage, button)
        look(f"request, {button}")
        window.page("approvals").view.close_dialog()
    ask_close(window, 2, tray=True, answered=lambda _: None)
    look("closing")
    assert wrong == []
    assert seen > 8
