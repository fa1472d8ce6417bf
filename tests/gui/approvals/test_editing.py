"""Changing the arguments before allowing: what was not touched stays exactly as it was."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from desktop.domain.permission import PermissionRequest
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, TextArea
from tests.gui.approvals.conftest import Desk, settled
from tests.harness.patience import PATIENCE_S

SEE = "See what it would do"


def control(desk: Desk, name: str):
    return next(c for kind in (Field, TextArea) for c in desk.window.findChildren(kind) if c.accessibleName() == name)


def button(desk: Desk, label: str) -> Button:
    return next(b for b in desk.window.findChildren(Button) if b.label == label and b.isVisible())


async def editing(desk: Desk, request: PermissionRequest) -> asyncio.Task:
    question = await desk.ask(request)
    answers = desk.dialog.view.answers
    assert answers is not None
    answers.edit.click()
    await settled()
    return question


@pytest.mark.spec("R-PRM-3")
async def test_only_what_was_changed_changes(desk: Desk, write: PermissionRequest) -> None:
    content = "one\r\ntwo\x00three\u2029four\n"
    request = replace(write, arguments={"path": "a.md", "content": content, "depth": 3, "flags": ["x", None]})
    question = await editing(desk, request)
    field = control(desk, "path")
    field.selectAll()
    QTest.keyClicks(field, "b.md")
    button(desk, SEE).click()
    decision = await asyncio.wait_for(question, PATIENCE_S)
    assert decision.choice == "allow_edited"
    assert decision.edited_arguments == {"path": "b.md", "content": content, "depth": 3, "flags": ["x", None]}


@pytest.mark.spec("R-PRM-3")
async def test_a_value_that_is_no_json_is_refused_in_words_and_nothing_is_allowed(
    desk: Desk, write: PermissionRequest
) -> None:
    question = await editing(desk, replace(write, arguments={"path": "a.md", "depth": 3}))
    field = control(desk, "depth")
    field.selectAll()
    QTest.keyClicks(field, "three")
    button(desk, SEE).click()
    await settled()
    assert not question.done()
    assert "not valid JSON" in field.accessibleDescription()


@pytest.mark.spec("R-PRM-3")
async def test_escape_in_the_editor_goes_back_to_the_question(desk: Desk, write: PermissionRequest) -> None:
    question = await editing(desk, write)
    QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Escape)
    await settled()
    assert not question.done()
    assert desk.dialog.isVisible()


@pytest.mark.spec("R-PRM-5")
async def test_without_a_change_nothing_is_answered(desk: Desk, write: PermissionRequest) -> None:
    question = await editing(desk, write)
    button(desk, SEE).click()
    await settled()
    assert not question.done()
    assert desk.dialog.isVisible()
    assert desk.dialog.view.dialog_open is False


@pytest.mark.spec("R-PRM-2", "R-PRM-5")
async def test_an_edited_call_says_so_over_its_answers_with_what_the_model_had_asked_for(
    desk: Desk, write: PermissionRequest
) -> None:
    original = {**write.arguments, "path": "harmless.txt"}
    await desk.ask(replace(write, original=original))
    labels = [label.text() for label in desk.dialog.findChildren(QLabel) if label.isVisible()]
    assert "path: harmless.txt" in labels
    assert any("Nothing has run yet" in text for text in labels)
    assert not any(text.startswith("content: ") for text in labels), "what was not changed is not named"


async def test_the_keys_are_in_the_first_field_and_not_on_an_answer(desk: Desk, write: PermissionRequest) -> None:
    question = await editing(desk, write)
    focus = desk.window.focusWidget()
    assert isinstance(focus, (Field, TextArea))
    assert focus.accessibleName() == next(iter(write.arguments))
    QTest.keyClick(focus, Qt.Key.Key_Escape)
    await settled()
    assert not question.done()
