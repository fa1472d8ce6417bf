"""*Always allow…*: the rule that answers a request, bound to exactly that request, for writes alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.approval.rules import RuleView
from desktop.presenter.approvals.rules_editing import may_always
from desktop.presenter.approvals.rules_words import from_words
from desktop.ui.approvals.request.allowing import AlwaysDialog
from desktop.ui.approvals.request.answers import Answers
from desktop.ui.theme import Theme
from tests.gui.approvals.rules_kit import Room, agree, press, words
from tests.harness.timeouts import WAIT_S, until
from tests.harness.windows import activated

Key = Qt.Key
PROPOSED = "write-file(path=/home/ida/work/harbour-sensors/docs/runbook/nightly.md)"


@pytest.fixture
async def room(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Room]:
    made = await Room(tmp_path).open()
    qtbot.addWidget(made.page)
    made.page.resize(1216, 800)
    await activated(made.page)
    yield made
    await made.end()


def answers(room: Room) -> Answers:
    assert room.page.view.answers is not None
    return room.page.view.answers


async def opened(room: Room, request: PermissionRequest) -> tuple[asyncio.Task[Decision], AlwaysDialog]:
    """A run asks, and the person presses *Always allow…*."""
    question = await room.ask(request)
    answers(room).always.click()
    dialog = room.dialog
    assert isinstance(dialog, AlwaysDialog)
    await room.tried(dialog.editor)
    return question, dialog


@pytest.mark.spec("R-PRM-3", "R-PRM-11")
async def test_it_is_offered_for_writes_and_never_for_admin_or_reads(
    room: Room, write: PermissionRequest, shell: PermissionRequest
) -> None:
    await room.ask(write)
    assert answers(room).always.isVisible()
    await room.ask(shell)
    assert not answers(room).always.isVisible()
    for category in (Category.ADMIN, Category.READ):
        refused = replace(write, category=category, request_id=f"r-{category.value}")
        assert not may_always(refused)
        await room.ask(refused)
        assert not answers(room).always.isVisible()
        answers(room).always.click()
        assert room.dialog is None
        assert not room.models.editor().always(refused)


@pytest.mark.spec("R-PRM-11", "R-PRM-5")
async def test_saving_keeps_the_rule_and_answers_exactly_that_request(room: Room, write: PermissionRequest) -> None:
    other = asyncio.create_task(room.bridge.ask(replace(write, request_id="other", digest="other")))
    room.questions.append(other)
    question, dialog = await opened(room, write)
    assert dialog.editor.draft.pattern == PROPOSED
    assert dialog.foot.save.label == "Save and allow"
    await agree(dialog)
    decision = await asyncio.wait_for(question, WAIT_S)
    assert (decision.choice, decision.digest, decision.by) == ("allow_once", write.digest, "user")
    assert decision.rule["pattern"] == PROPOSED
    await until(lambda: room.dialog is None, "closed")
    assert room.mine == {PROPOSED: "allow"}
    (rule,) = [rule for rule in room.service.rules() if rule.editable]
    assert (rule.origin, rule.rule_id) == ("request", decision.rule["rule_id"])
    assert not other.done()
    assert "rule is saved" in room.told[-1]


@pytest.mark.spec("R-PRM-14")
async def test_a_click_meant_for_something_else_saves_nothing(room: Room, write: PermissionRequest) -> None:
    question = await room.ask(write)
    answers(room).always.click()
    dialog = room.dialog
    clicks: list[bool] = []

    def click_at_once() -> None:
        if dialog.editor.current:
            clicks.append(dialog.foot.save.isEnabled())
            QTest.mouseClick(dialog.foot.save, Qt.MouseButton.LeftButton)

    dialog.editor.changed.connect(click_at_once)
    await until(lambda: clicks, "the first trial")
    press(dialog.form.field, Key.Key_Return)
    dialog.form.field.textEdited.emit("write-file(path=docs/**)")
    await until(lambda: len(clicks) == 2, "the second trial")
    await room.rest()
    assert all(clicks)
    assert not question.done(), "what has just come into sight is deaf"
    assert room.mine == {}


@pytest.mark.spec("R-PRM-3")
async def test_cancel_goes_back_to_the_request_unanswered(room: Room, write: PermissionRequest) -> None:
    question, dialog = await opened(room, write)
    press(dialog.form.field, Key.Key_Escape)
    await room.rest()
    assert not question.done()
    assert room.mine == {}
    assert room.dialog is None
    assert room.page.view.request == write
    assert room.page.window().focusWidget() is answers(room).deny


async def test_a_rule_that_tricks_get_through_asks_before_it_answers(room: Room, write: PermissionRequest) -> None:
    question, dialog = await opened(room, write)
    dialog.form.field.setText("bash(command=git *)")
    dialog.form.field.textEdited.emit("bash(command=git *)")
    await room.tried(dialog.editor)
    assert dialog.foot.save.label == "Save and allow anyway…"
    await agree(dialog)
    assert "tricks get through" in words(room.dialog)
    room.dialog.answer("no")
    await room.rest()
    assert not question.done()
    await agree(dialog)
    room.dialog.buttons["save"].click()
    assert (await asyncio.wait_for(question, WAIT_S)).allowed


async def test_it_can_only_allow(room: Room, write: PermissionRequest) -> None:
    _, dialog = await opened(room, write)
    assert not dialog.form.decision.isVisible()
    dialog.editor.write(decision="deny")
    assert dialog.editor.draft.decision == "allow"


@pytest.mark.spec("R-PRM-5")
async def test_a_request_that_was_answered_meanwhile_is_not_answered_again_and_the_draft_stays(
    room: Room, write: PermissionRequest
) -> None:
    question, dialog = await opened(room, write)
    QTest.keyClick(dialog.form.field, Key.Key_Home)
    room.approvals.answer(write.request_id, "deny", digest=write.digest)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "deny"
    assert dialog.isVisible()
    assert "answered or has changed meanwhile" in words(dialog)
    assert dialog.foot.save.label == "Save"
    await agree(dialog)
    await until(lambda: room.mine == {PROPOSED: "allow"}, "kept as a rule")
    assert room.refused == []


@pytest.mark.spec("R-PRM-5")
async def test_a_call_that_changed_meanwhile_is_not_allowed_by_the_rule_that_was_written_for_the_old_one(
    room: Room, write: PermissionRequest
) -> None:
    question, dialog = await opened(room, write)
    again = replace(write, digest="after", stale=True)
    room.bridge.deny_run(write.run_id)
    await asyncio.wait_for(question, WAIT_S)
    renewed = asyncio.create_task(room.bridge.ask(again))
    room.questions.append(renewed)
    await until(lambda: room.approvals.request(write.request_id) == again, "asked again")
    assert dialog.editor.request_lost
    await agree(dialog)
    await until(lambda: room.mine, "kept")
    assert not renewed.done()


@pytest.mark.spec("R-PRM-5")
async def test_a_request_that_goes_in_the_very_moment_of_saving_is_told_of_and_nothing_is_saved_yet(
    room: Room, write: PermissionRequest
) -> None:
    question, dialog = await opened(room, write)
    room.approvals._waiting.clear()  # gone, and nobody has heard of it yet
    await agree(dialog)
    await room.rest()
    assert dialog.lost.isVisible()
    assert room.mine == {}
    assert not question.done()


@pytest.mark.spec("R-PRM-5")
async def test_a_request_that_is_answered_while_the_rule_is_being_saved_is_not_answered_twice(
    room: Room, write: PermissionRequest
) -> None:
    question, dialog = await opened(room, write)
    room.service.door.clear()
    await agree(dialog)
    await until(lambda: dialog.editor.saving, "saving")
    press(dialog, Key.Key_Escape)
    assert dialog.isVisible(), "what is being saved cannot be cancelled any more"
    room.approvals.answer(write.request_id, "deny", digest=write.digest)
    room.service.door.set()
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "deny"
    await until(lambda: room.told, "it says so")
    assert "answered meanwhile" in room.told[-1]
    assert room.mine == {PROPOSED: "allow"}
    assert room.refused == []


async def test_a_rule_that_cannot_be_saved_answers_nothing_and_says_why(room: Room, write: PermissionRequest) -> None:
    question, dialog = await opened(room, write)
    room.service.door.clear()
    await agree(dialog)
    await room.service._service.save(dialog.editor.draft)
    room.service.door.set()
    await until(dialog.failure.isVisible, "why")
    assert "such a rule already" in words(dialog)
    assert not question.done()
    press(dialog, Key.Key_Escape)
    await until(lambda: room.dialog is None, "back")
    assert not question.done()


async def test_when_the_app_closes_under_it_nothing_is_answered(room: Room, write: PermissionRequest) -> None:
    question, _dialog = await opened(room, write)
    room.bridge.deny_all()
    assert (await asyncio.wait_for(question, WAIT_S)).by == "closed"
    assert room.mine == {}


@pytest.mark.spec("R-PRJ-2")
async def test_in_a_project_it_is_proposed_for_that_project_and_can_be_widened_or_bound_to_the_chat(
    room: Room, write: PermissionRequest
) -> None:
    question, dialog = await opened(room, replace(write, project="/home/ida/work/harbour-sensors"))
    scope = dialog.form.scope
    texts = [scope.itemText(at) for at in range(scope.count())]
    assert texts == ["all chats", "only in harbour-sensors", f"only “Title of {write.thread_id}”"]
    assert scope.currentIndex() == 1
    assert dialog.editor.draft is not None
    assert dialog.editor.draft.thread_id == "/home/ida/work/harbour-sensors"
    scope.setCurrentIndex(0)
    assert dialog.editor.draft.thread_id == ""
    dialog.answer("cancel")
    question.cancel()


@pytest.mark.spec("R-PRJ-2")
async def test_a_new_rule_can_be_bound_to_the_open_chats_project_and_its_line_says_so(room: Room) -> None:
    room.project = "/home/ida/work/tides"
    room.page.rules.new()
    form = room.page.rules.panel.form
    texts = [form.scope.itemText(at) for at in range(form.scope.count())]
    assert texts == ["all chats", "only in tides", "only “Title of t1”"]
    view = RuleView("1", "bash", "allow", "you", thread_id="/home/ida/work/tides")
    assert from_words(view).endswith(", in tides")
    assert from_words(replace(view, thread_id="t1")).endswith(", one chat")
