"""Rules in the whole app: a request becomes a rule, the rule counts, is seen, revoked, and outlives a restart."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from desktop.ui.approvals.request.allowing import AlwaysDialog
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.kit import Running, call
from tests.gui.approvals.rules_kit import agree
from tests.harness.store import calls_noted

PATTERN = "write-file(path=notes/?.txt)"
DONE = [{"text": "Done."}]


def write(name: str) -> list[dict[str, Any]]:
    return call("write_file", path=name, content=f"about {name}")


def dialog_of(app: Running) -> Any:
    found = [one for one in app.window.findChildren(AlwaysDialog) if one.isVisible()]
    return found[-1] if found else None


def rule_of(app: Running) -> Any:
    return next((rule for rule in app.models.rules.rules.service.rules() if rule.pattern == PATTERN), None)


async def ran(app: Running, text: str, answers: int) -> None:
    """Until the model has answered so often."""
    app.say(text)
    await app.until(lambda: app.text.count("Done.") == answers and not app.running, f"answer {answers}")


async def allow_once(app: Running) -> None:
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)


@pytest.mark.spec("R-PRM-3", "R-PRM-5", "R-PRM-11", "R-PRM-13")
async def test_always_allow_with_an_edited_pattern_until_it_is_revoked_and_over_a_restart(start: Any) -> None:
    app = await start(
        write("notes/a.txt"), DONE, write("notes/b.txt"), DONE, write("notes/c.txt"), DONE, write("notes/d.txt"), DONE
    )
    notes = app.home.path / "workspace" / "notes"
    app.say("first")
    await app.asked()
    pages = app.startup._pages
    await app.until(pages._dialog.dialog.isVisible, "the request over the thread")
    pages._dialog.dialog.view.answers.always.click()
    dialog = dialog_of(app)
    field = dialog.form.field
    assert field.text() == f"write-file(path={notes}/a.txt)", "the narrowest rule that would have answered"
    field.selectAll()
    QTest.keyClicks(field, PATTERN)
    await app.until(lambda: dialog.editor.can_save, "it was tried")
    assert dialog.editor.current, dialog.editor.trouble
    assert dialog.editor.through == 0
    await agree(dialog)
    await app.answered("Done.")
    assert (notes / "a.txt").read_text() == "about notes/a.txt"

    await ran(app, "second", 2)
    assert (notes / "b.txt").exists(), "it ran, and nobody was asked"
    assert not app.models.approvals.requests
    app.window._shell.run_command("rules")
    page = app.window.page("approvals")
    assert page.tabs.value == "rules"
    await app.until(lambda: rule_of(app).uses == 1, "it was counted")
    await app.until(lambda: app.models.rules.rules.rule(rule_of(app).rule_id).uses == 1, "and is seen")

    page.rules.list.mark(rule_of(app).rule_id)
    page.rules.act("revoke")
    await app.until(lambda: rule_of(app) is None, "revoked")
    app.window._shell.run_command("page:chats")
    app.say("third")
    await allow_once(app)
    await app.until(lambda: app.text.count("Done.") == 3 and not app.running, "the third")

    page.rules.toast.undone.emit(page.rules.toast._token)
    await app.until(lambda: rule_of(app) is not None, "back by Undo")
    await app.end()

    again = await start(write("notes/e.txt"), DONE)
    assert rule_of(again).uses == 1
    assert rule_of(again).origin == "request"
    await ran(again, "fourth", 4)
    assert (notes / "e.txt").exists()
    await again.until(lambda: rule_of(again).uses == 2, "counted again")


@pytest.mark.spec("R-PRM-3", "R-PRM-11")
async def test_a_rule_never_answers_an_admin_call_and_there_is_none_to_be_made_from_one(start: Any) -> None:
    app = await start(call("bash", command="python3 -c 'print(1)'"), DONE)
    app.say("run it")
    request = await app.asked()
    assert request.category.value == "admin"
    pages = app.startup._pages
    await app.until(pages._dialog.dialog.isVisible, "the request over the thread")
    assert not pages._dialog.dialog.view.answers.always.isVisible()
    pages._dialog.dialog.view.answers.chosen.emit("always")
    assert dialog_of(app) is None
    app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
    await app.answered("Done.")


@pytest.mark.spec("R-PRM-12")
async def test_a_new_rule_from_the_palette_denies_at_once_and_says_so_in_the_log(start: Any) -> None:
    app = await start(write("secret.txt"), DONE)
    app.window._shell.run_command("new-rule")
    page = app.window.page("approvals")
    panel = page.rules.panel
    assert app.window.focusWidget() is panel.form.field
    QTest.keyClicks(panel.form.field, "write-file(path=secret*)")
    page.rules.editor.write(decision="deny")
    await app.until(lambda: page.rules.editor.can_save, "it was tried")
    panel.foot.save.click()
    await app.until(lambda: "Saved" in page.rules.toast.text, "saved")
    app.window._shell.run_command("page:chats")
    app.say("write it")
    await app.answered("Done.")
    assert not (app.home.path / "workspace" / "secret.txt").exists()
    assert not app.models.approvals.requests
    entries = [entry for _, entry in await calls_noted(app.startup._services.store.audit)]
    assert [(entry.decision, entry.by, entry.extra["rule"]["pattern"]) for entry in entries] == [
        ("deny", "rule", "write-file(path=secret*)")
    ]


async def test_quitting_with_a_rule_that_is_not_saved_asks_first(start: Any) -> None:
    app = await start(DONE)
    left: list[bool] = []
    page: Any = app.window.page("approvals")
    page.show_rules(new=True)
    app.startup._pages._leave(lambda: left.append(True))
    assert left == [True], "nothing was typed yet"
    QTest.keyClicks(page.rules.panel.form.field, PATTERN)
    app.startup._shell.go("chats")
    app.startup._pages._leave(lambda: left.append(False))
    assert left == [True]
    assert app.startup._shell.page == "approvals"
    dialog = next(found for found in app.window.findChildren(Dialog) if found.isVisible())
    assert "Discard this rule?" in [label.text() for label in dialog.findChildren(QLabel)]
    dialog.answer("keep")
    assert left == [True]
    assert page.rules.editor.draft.pattern == PATTERN
    app.startup._pages._leave(lambda: left.append(False))
    next(found for found in app.window.findChildren(Dialog) if found.isVisible()).answer("discard")
    assert left == [True, False]
