"""A few calls are allowed in a request: they run, are counted down above the text field, and can be taken back."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from desktop.presenter.approvals.granted import about_words
from desktop.ui.approvals.request.granting import GrantDialog
from tests.gui.app.kit import HELLO, call


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
@pytest.mark.spec("R-ASK-2", "R-PRM-3")
async def test_a_few_calls_are_allowed_counted_down_and_taken_back(start, tmp_path: Path):
    project = tmp_path / "person" / "tides"
    (project / "docs").mkdir(parents=True)
    write = [call("write_file", path=f"docs/{name}.md", content="text") for name in "abcd"]
    more = [call("write_file", path=f"docs/{name}.md", content="text") for name in "fghij"]
    beside_it = call("write_file", path="e.md", content="x")
    app = await start(*write[:3], HELLO, beside_it, HELLO, *more[:2], HELLO, more[2], HELLO, write[3], HELLO)
    app.models.projects.use(str(project))
    await app.until_true(lambda: app.page.pane.header.project.label == "tides", "the project")
    bar = app.page.pane.foot.composer.granted
    app.say("write them")
    request = await app.asked()
    await app.until_true(lambda: app.startup._pages._dialog.dialog, "the request")
    answers = app.startup._pages._dialog.dialog.view.answers
    await app.until_true(lambda: answers.few.isVisible() and answers.few.isEnabled(), "the answer")
    answers.few.click()
    (dialog,) = [one for one in app.window.findChildren(GrantDialog) if one.isVisible()]
    assert [dialog.pattern.itemText(at) for at in range(4)] == [
        "write-file docs/a.md",
        "write-file docs/*",
        "write-file docs/**",
        "write-file **",
    ]
    assert dialog.pattern.currentIndex() == 0, "the narrowest is the proposal"
    dialog.pattern.setCurrentIndex(1)
    dialog.calls.setCurrentIndex(0)
    dialog.buttons["allow"].click()
    await app.answered("Hello there.")
    assert [(project / "docs" / f"{name}.md").exists() for name in "abc"] == [True] * 3
    assert app.models.approvals.request(request.request_id) is None
    await app.until_true(lambda: "2 of 5 left" in bar.rows[0].accessibleName(), "it is counted down")
    assert "write-file docs/*" in bar.rows[0].accessibleName()

    app.say("one beside them")
    beside = await app.asked()
    assert beside.arguments["path"] == "e.md", "what the grant does not cover asks"
    app.models.approvals.answer(beside.request_id, "deny", digest=beside.digest)
    await app.until_true(lambda: not app.models.approvals.requests, "the answer")
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")

    await _one_is_used_up_and_granted_again(app, bar)
    button = bar.rows[0].findChildren(type(app.page.pane.foot.composer.stop))[-1]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    await app.until_true(bar.isHidden, "it was taken back")
    app.say("the last one")
    last = await app.asked()
    assert last.arguments["path"] == "docs/d.md"


async def _one_is_used_up_and_granted_again(app, bar):
    app.say("two more")
    await app.until_true(lambda: "5 of 5 used" in bar.rows[0].accessibleName(), "all its calls were made")
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")
    again, close = (button_of(bar, name) for name in ("Grant again write-file docs/*", "Put away"))
    assert close.isVisible()
    again.click()
    (dialog,) = [one for one in app.window.findChildren(GrantDialog) if one.isVisible()]
    assert dialog.pattern.count() == 1, "the same calls, and no others"
    assert dialog._comes_to.text().startswith("Up to 10 such calls run unasked until ")
    dialog.calls.setCurrentIndex(0)
    dialog.buttons["allow"].click()
    await app.until_true(lambda: "5 of 5 left" in bar.rows[0].accessibleName(), "it holds anew")
    await app.until_true(lambda: len(bar.rows) == 1, "and the one before is not shown any more")
    app.say("and one")
    await app.until_true(lambda: "4 of 5 left" in bar.rows[0].accessibleName(), "it lets calls pass")
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")


def button_of(bar, name):
    """The button of a row whose name begins so."""
    found = [one for row in bar.rows for one in row.findChildren(QAbstractButton)]
    return next(one for one in found if one.accessibleName().startswith(name))


def test_a_pattern_of_commands_is_said_without_a_riddle():
    assert about_words("bash(command=pytest -q{, *})", "") == "bash pytest -q …"
    assert about_words("bash(command=git status)", "") == "bash git status"
