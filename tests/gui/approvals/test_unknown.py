"""A call that may have been done already: four answers, its arguments, and nothing that is pressed by a slip."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.presenter.approvals.request_words import AS_EDITED, ASKS, LOOK, LOOK_ONLY, WHY
from desktop.ui.approvals.request.dialog import DENY_ALL, RequestDialog
from desktop.ui.widgets.controls.buttons import OneClickButton
from tests.gui.approvals.conftest import DialogBench
from tests.gui.approvals.test_request_dialog import answers, words_of
from tests.harness.timeouts import WAIT_S

UNKNOWN = "This had begun when Assent ended."


def denies_all(dialog: RequestDialog) -> bool:
    """Whether everything that the run asks can be denied here."""
    (button,) = (one for one in dialog.findChildren(OneClickButton) if one.label in DENY_ALL)
    return not button.isHidden()


@pytest.mark.spec("R-PRM-1", "R-PRM-14")
@pytest.mark.parametrize(
    ("button", "choice"),
    [("Skip it", "deny"), ("It was done", "done"), ("Do it again", "allow_once"), ("Stop the run", "stop")],
)
async def test_each_of_the_four_answers(bench: DialogBench, write: PermissionRequest, button: str, choice: str) -> None:
    question = await bench.ask(replace(write, unknown=UNKNOWN))
    words = words_of(bench.dialog)
    assert f"{UNKNOWN} {LOOK}" in words
    assert "docs/runbook/nightly.md" in words
    found = answers(bench.dialog.view)
    shown = [
        one
        for one in (found.deny, *found.more, found.reason, found.edit, found.always, found.allow_run, found.allow)
        if not one.isHidden()
    ]
    assert [one.text() for one in shown] == ["Skip it", "It was done", "Stop the run", "Do it again"]
    await bench.awake()
    QTest.mouseClick(next(one for one in shown if one.text() == button), Qt.MouseButton.LeftButton)
    decision = await asyncio.wait_for(question, WAIT_S)
    assert (decision.choice, decision.digest) == (choice, write.digest)


@pytest.mark.spec("R-PRM-3")
async def test_what_is_no_answer_to_it_is_none(bench: DialogBench, write: PermissionRequest) -> None:
    await bench.ask(replace(write, unknown=UNKNOWN))
    for choice in ("allow_run", "allow_always", "allow_edited", "deny_run"):
        assert not bench.bridge.answer(write.request_id, Decision(choice, write.digest))  # type: ignore[arg-type]
    ordinary = replace(write, request_id="other", digest="other")
    await bench.ask(ordinary)
    assert not bench.bridge.answer("other", Decision("done", "other"))


@pytest.mark.spec("R-PRM-1", "R-PRM-2")
async def test_the_question_is_whether_it_was_done_and_no_answer_looks_like_the_harmless_one(
    bench: DialogBench, write: PermissionRequest
) -> None:
    await bench.ask(replace(write, unknown=UNKNOWN))
    assert WHY in words_of(bench.dialog)
    assert (bench.dialog.asks, denies_all(bench.dialog)) == (ASKS, False)
    await bench.awake()
    found = answers(bench.dialog.view)
    assert {one.kind for one in (found.deny, *found.more, found.allow)} == {"normal"}
    bench.bridge.answer(write.request_id, Decision("deny", write.digest))
    await bench.ask(replace(write, request_id="other", digest="other"))
    assert (bench.dialog.asks, denies_all(bench.dialog)) == ("May it do this?", True)


@pytest.mark.spec("R-PRM-1", "R-PRM-5")
async def test_what_cannot_be_made_again_has_no_answer_that_would_make_it(
    bench: DialogBench, write: PermissionRequest
) -> None:
    unrepeatable = "It cannot be made again: there is no such tool."
    question = await bench.ask(
        replace(write, unknown=UNKNOWN, unrepeatable=unrepeatable, original={"path": "other.md"})
    )
    assert f"{UNKNOWN} {AS_EDITED} {unrepeatable} {LOOK_ONLY}" in words_of(bench.dialog)
    found = answers(bench.dialog.view)
    assert found.allow.isHidden()
    assert not bench.bridge.answer(write.request_id, Decision("allow_once", write.digest))
    bench.dialog.take_keys()
    QTest.keyClick(bench.dialog.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not question.done()
    QTest.mouseClick(found.more[0], Qt.MouseButton.LeftButton)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "done"
