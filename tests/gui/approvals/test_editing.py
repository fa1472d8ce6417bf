"""Changing the arguments before allowing: what was not touched stays exactly as it was."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from desktop.domain.approval.permission import PermissionRequest
from desktop.ui.approvals.request.reading import UnreadNotice
from desktop.ui.approvals.request.view import LOOKED_AFTER
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, TextArea
from tests.gui.approvals.conftest import DialogBench, settled
from tests.harness.timeouts import WAIT_S

SEE = "See what it would do"


def control(bench: DialogBench, name: str):
    return next(c for kind in (Field, TextArea) for c in bench.window.findChildren(kind) if c.accessibleName() == name)


def button(bench: DialogBench, label: str) -> Button:
    return next(b for b in bench.window.findChildren(Button) if b.label == label and b.isVisible())


async def editing(bench: DialogBench, request: PermissionRequest) -> asyncio.Task:
    question = await bench.ask(request)
    answers = bench.dialog.view.answers
    assert answers is not None
    answers.edit.click()
    await settled()
    return question


@pytest.mark.spec("R-PRM-5")
@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("path", "b.md", "b.md"),
        ("number", "7", "7"),
        ("depth", "4", 4),
        ("flags", '["y", 1.5]', ["y", 1.5]),
        ("once", "true", True),
        ("content", "new", "new"),
    ],
)
async def test_only_what_was_changed_changes(
    bench: DialogBench, write: PermissionRequest, name: str, typed: str, value: object
) -> None:
    content = "one\r\ntwo\x00three\u2029four\n"
    before = {"path": "a.md", "content": content, "depth": 3, "number": "3", "flags": ["x", None], "once": 1}
    question = await editing(bench, replace(write, arguments=before))
    field = control(bench, name)
    field.selectAll()
    QTest.keyClicks(field, typed)
    button(bench, SEE).click()
    decision = await asyncio.wait_for(question, WAIT_S)
    assert decision.choice == "allow_edited"
    assert decision.edited_arguments == {**before, name: value}
    assert type(decision.edited_arguments[name]) is type(value)


@pytest.mark.spec("R-PRM-3")
async def test_a_value_that_is_no_json_is_refused_in_words_and_nothing_is_allowed(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await editing(bench, replace(write, arguments={"path": "a.md", "depth": 3}))
    field = control(bench, "depth")
    field.selectAll()
    QTest.keyClicks(field, "three")
    button(bench, SEE).click()
    await settled()
    assert not question.done()
    assert "not valid JSON" in field.accessibleDescription()


@pytest.mark.spec("R-PRM-3")
async def test_escape_in_the_editor_goes_back_to_the_question(bench: DialogBench, write: PermissionRequest) -> None:
    question = await editing(bench, write)
    QTest.keyClick(bench.window.focusWidget(), Qt.Key.Key_Escape)
    await settled()
    assert not question.done()
    assert bench.dialog.isVisible()


@pytest.mark.spec("R-PRM-5")
async def test_without_a_change_nothing_is_answered(bench: DialogBench, write: PermissionRequest) -> None:
    question = await editing(bench, write)
    button(bench, SEE).click()
    await settled()
    assert not question.done()
    assert bench.dialog.isVisible()
    assert bench.dialog.view.dialog_open is False


@pytest.mark.spec("R-PRM-2", "R-PRM-5")
async def test_an_edited_call_says_so_over_its_answers_with_what_the_model_had_asked_for(
    bench: DialogBench, write: PermissionRequest
) -> None:
    original = {**write.arguments, "path": "harmless.txt"}
    await bench.ask(replace(write, original=original))
    labels = [label.text() for label in bench.dialog.findChildren(QLabel) if label.isVisible()]
    assert "path: harmless.txt" in labels
    assert any("Nothing has run yet" in text for text in labels)
    assert not any(text.startswith("content: ") for text in labels), "what was not changed is not named"


@pytest.mark.spec("R-PRM-2", "R-PRM-5")
async def test_an_edited_call_that_may_not_be_made_says_why_and_offers_to_edit_it_or_to_deny_it(
    bench: DialogBench, write: PermissionRequest
) -> None:
    made = replace(write, original={**write.arguments, "path": "harmless.txt"}, refused="/etc/x is outside")
    question = await bench.ask(made)
    labels = [label.text() for label in bench.dialog.findChildren(QLabel) if label.isVisible()]
    assert any(
        "Nothing has run. As you edited this call, it may not be made: /etc/x is outside." in it for it in labels
    )
    answers = bench.dialog.view.answers
    assert answers is not None
    shown = [one.label for one in answers.findChildren(Button) if one.isVisible()]
    assert shown == ["Deny", "Deny with a reason…", "Edit and allow…"]
    QTest.keyClick(bench.dialog.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await settled()
    assert not question.done(), "there is nothing to allow"


@pytest.mark.spec("R-PRM-2")
@pytest.mark.parametrize("refused", ["", "it is outside"])
async def test_what_cannot_be_allowed_asks_nobody_to_read_on_first(
    bench: DialogBench, write: PermissionRequest, refused: str
) -> None:
    long = {**write.arguments, "content": "line\n" * 300}
    await bench.ask(replace(write, arguments=long, preview={}, refused=refused))
    await settled(2 * LOOKED_AFTER / 1000)
    said = [one for one in bench.window.findChildren(UnreadNotice) if one.isVisible()]
    assert bool(said) is not bool(refused)


async def test_the_keys_are_in_the_first_field_and_not_on_an_answer(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await editing(bench, write)
    focus = bench.window.focusWidget()
    assert isinstance(focus, (Field, TextArea))
    assert focus.accessibleName() == next(iter(write.arguments))
    QTest.keyClick(focus, Qt.Key.Key_Escape)
    await settled()
    assert not question.done()
