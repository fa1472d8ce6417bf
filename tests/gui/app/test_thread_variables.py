"""A chat's own variables: written in its menu's dialog, refused where they look like a secret, undone."""

import time

import pytest
from PySide6.QtWidgets import QApplication, QMenu

from desktop.domain.model_settings import UNSAID, ModelSettings, read_settings
from desktop.presenter.chat.thread_variables import (
    MAX_SAID,
    lines_of,
    problems_in,
    settings_in,
    settings_lines,
    settings_problems,
    variables_in,
)
from desktop.ui.chat.variables_dialog import VariablesDialog
from tests.gui.app.kit import HELLO
from tests.harness.timeouts import HELD_S


def dialog_of(app):
    found = [one for one in app.window.findChildren(VariablesDialog) if one.isVisible()]
    return found[0] if found else None


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
@pytest.mark.spec("R-DEF-15")
async def test_a_chats_variables_are_written_in_its_menu_told_to_the_agent_and_undone(start):
    app = await start(HELLO)
    app.say("good morning")
    await app.answered("Hello there.")
    app.page.pane._show_menu()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == "Variables and model…").trigger()
    menu.close()
    await app.until_true(lambda: dialog_of(app), "the dialog")
    dialog = dialog_of(app)
    assert app.window.focusWidget() is dialog.area
    dialog.area.setPlainText("CITY=Oslo\nAPI_KEY=abc")
    assert not dialog.buttons["yes"].isEnabled()
    assert "keep it in Settings, Keyring" in dialog.area.accessibleDescription()
    dialog.area.setPlainText("CITY=Oslo\n# a note\n\nUNIT = metre")
    dialog.settings.setPlainText("temperature=hot")
    assert not dialog.buttons["yes"].isEnabled()
    assert "temperature has to be a number from 0 to 2" in dialog.settings.accessibleDescription()
    dialog.settings.setPlainText('temperature=0.2\nstop=["END"]')
    dialog.buttons["yes"].click()
    service, thread = app.models.services.chats, app.models.chat.thread_id
    await app.until_true(lambda: "is saved" in app.page.toast.text, "the sentence")
    assert await service.environment(thread) == {"CITY": "Oslo", "UNIT": "metre"}
    assert await service.model_settings(thread) == ModelSettings(temperature=0.2, stop=("END",))
    app.page.toast._undo.click()
    await app.until_true(lambda: "as they were" in app.page.toast.text, "the undo")
    assert await service.environment(thread) == {}
    assert await service.model_settings(thread) == UNSAID
    assert [one.thread_id for one in app.models.threads.threads] == [thread], "no thread was meant by that"


@pytest.mark.spec("R-MOD-1")
def test_settings_of_the_model_are_lines_too() -> None:
    whole = ModelSettings(0.0, 0.5, 3, 10, 0, ("a", "b=c"), "low", "eu-west-1")
    assert read_settings(settings_in(settings_lines(whole))) == (whole, ())
    wrong = settings_problems("temprature=1\nseed\ntop_p=2")
    for told in ("there is no setting temprature", "seed: write NAME=value", "top_p has to be a number"):
        assert told in wrong


def test_lines_say_the_same_when_they_are_read_again() -> None:
    for variables in ({}, {"A": "b=c"}, {"A": " x "}, {"A": "one\ntwo", "B": '"quoted"'}, {"A": "", "Z": "\u2028"}):
        assert variables_in(lines_of(variables)) == variables


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("A", "A: write NAME=value."),
        ("A=1\nA=2", "A is written twice."),
        ("a b=1", "a b: a name here is"),
        ("=1", "a name here is"),
        ("PASSWORD=x", "PASSWORD: this looks like a secret"),
        ("A=sk-" + "a1" * 20, "A: this looks like a secret"),
        ("A=" + "x" * 2001, "A: a value here is text"),
        ("\n".join(f"A{n}=1" for n in range(51)), "there are 51 variables; 50 is the most"),
        ("x" * 700_000, "are allowed"),
        ("A=1\n#x\n\n B = 2 ", ""),
    ],
)
def test_each_line_that_is_none_is_named(text: str, wrong: str) -> None:
    assert wrong in problems_in(text)
    assert bool(problems_in(text)) is bool(wrong)


def test_many_wrong_lines_are_told_in_a_few_sentences_and_at_once() -> None:
    lines = "\n".join(f"A{n}=1\nA{n}=2\nB{n}" for n in range(20_000))
    begun = time.thread_time()
    told = problems_in(lines)
    assert time.thread_time() - begun < HELD_S, "the window was held up"
    assert told.count("write NAME=value") == MAX_SAID
    assert told.endswith(". And 39,990 more.")
