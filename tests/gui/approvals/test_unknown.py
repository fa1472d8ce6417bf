"""A call that may have been done already: four answers, its arguments, and nothing that is pressed by a slip."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.permission import Decision, PermissionRequest
from desktop.ui.approvals.unknown import LOOK
from tests.gui.approvals.conftest import DEAF_OVER, Desk
from tests.gui.approvals.test_request_dialog import answers, words_of

UNKNOWN = "This had begun when Assent ended."


@pytest.mark.spec("R-PRM-1", "R-PRM-14")
@pytest.mark.parametrize(
    ("button", "choice"),
    [("Skip it", "deny"), ("It was done", "done"), ("Do it again", "allow_once"), ("Stop the run", "stop")],
)
async def test_each_of_the_four_answers(desk: Desk, write: PermissionRequest, button: str, choice: str) -> None:
    question = await desk.ask(replace(write, unknown=UNKNOWN))
    words = words_of(desk.dialog)
    assert f"{UNKNOWN} {LOOK}" in words
    assert "docs/runbook/nightly.md" in words
    found = answers(desk.dialog.view)
    shown = [one for one in (found.deny, *found.more, found.reason, found.edit, found.always, found.allow_run,
                             found.allow) if not one.isHidden()]  # fmt: skip
    assert [one.text() for one in shown] == ["Skip it", "It was done", "Stop the run", "Do it again"]
    await asyncio.sleep(DEAF_OVER)
    QTest.mouseClick(next(one for one in shown if one.text() == button), Qt.MouseButton.LeftButton)
    decision = await asyncio.wait_for(question, 30)
    assert (decision.choice, decision.digest) == (choice, write.digest)


@pytest.mark.spec("R-PRM-3")
async def test_what_is_no_answer_to_it_is_none(desk: Desk, write: PermissionRequest) -> None:
    await desk.ask(replace(write, unknown=UNKNOWN))
    for choice in ("allow_run", "allow_always", "allow_edited", "deny_run"):
        assert not desk.bridge.answer(write.request_id, Decision(choice, write.digest))  # type: ignore[arg-type]
    ordinary = replace(write, request_id="other", digest="other")
    await desk.ask(ordinary)
    assert not desk.bridge.answer("other", Decision("done", "other"))
