"""Two threads with a run each, both waiting for the person: each answer goes where it was meant, none by accident."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.gui.app.kit import Running, call
from tests.harness.store import calls_noted
from tests.harness.windows import activated

Key = Qt.Key
KEYS = (Key.Key_Return, Key.Key_Enter, Key.Key_Space, Key.Key_Y, Key.Key_A, Key.Key_O)


def on(word: str, name: str) -> dict[str, Any]:
    """Whoever is told the word wants to write the file."""
    return {"when": word, "steps": call("write_file", path=name, content=f"for {word}")}


@pytest.fixture
async def both(start):
    """Two threads, ``first`` and ``second``, whose runs wait for an answer; the second one is open."""
    app = await start(on("alpha", "a.txt"), on("beta", "b.txt"), [{"text": "Done."}], [{"text": "Done."}])
    await activated(app.window)
    app.say("alpha")
    await app.until(lambda: len(app.models.approvals.requests) == 1, "the first request")
    first = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: not app.models.chat.thread_id and not app.items, "a new chat")
    app.say("beta")
    await app.until(lambda: len(app.models.approvals.requests) == 2, "the second request")
    await app.until(lambda: dialog(app).view.request is not None, "the dialog")
    return app, first, app.models.chat.thread_id


def dialog(app: Running) -> Any:
    return app.startup._pages._dialog.dialog


def written(app: Running) -> dict[str, str]:
    return {path.name: path.read_text() for path in (app.home.path / "workspace").glob("*.txt")}


async def awake(app: Running) -> None:
    """Until the Allow button would listen."""
    await app.until(lambda: not dialog(app).view.answers.allow.deaf, "the end of the deaf time")


@pytest.mark.spec("R-PRM-8", "R-PRM-5")
async def test_each_answer_goes_to_the_thread_that_asked(both):
    app, first, second = both
    assert app.window.windowTitle().startswith("(2)")
    assert dialog(app).view.request.thread_id == second
    await awake(app)
    dialog(app).view.answers.allow.click()
    await app.answered("Done.")
    assert written(app) == {"b.txt": "for beta"}
    assert not dialog(app).isVisible(), "the other thread's request is not shown over this one"
    assert [r.thread_id for r in app.models.approvals.requests] == [first]
    app.page.open(first)
    await app.until(lambda: dialog(app).isVisible() and dialog(app).view.request.thread_id == first, "its own request")
    dialog(app).view.answers.deny.click()
    await app.answered("Done.")
    assert written(app) == {"b.txt": "for beta"}
    await app.until(lambda: [c.state for c in app.calls] == ["denied"], "only the denied call of the first thread")


@pytest.mark.spec("R-PRM-8", "R-PRM-9")
async def test_deny_all_of_one_run_leaves_the_other_threads_request(both):
    app, first, _ = both
    app.models.approvals.deny_all(dialog(app).view.request.run_id)
    await app.answered("Done.")
    assert [r.thread_id for r in app.models.approvals.requests] == [first]
    app.page.open(first)
    await app.until(lambda: app.calls and dialog(app).isVisible(), "the first thread")
    app.composer.stop.click()
    await app.until(lambda: not app.models.approvals.requests, "its request closed with its run")
    await app.until(lambda: not app.running, "the end of its run")
    assert written(app) == {}


@pytest.mark.spec("R-PRM-14", "R-PRM-7")
async def test_typing_on_goes_to_the_composer_and_answers_nothing(both):
    app, _, _ = both
    await awake(app)
    app.composer.text.setFocus()
    for key in KEYS:
        for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
            QTest.keyClick(app.window.focusWidget(), key, modifier)
    QTest.keyClick(app.window.focusWidget(), Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await asyncio.sleep(0.05)
    assert len(app.models.approvals.requests) == 2
    assert written(app) == {}


@pytest.mark.spec("R-PRM-14")
async def test_no_key_and_no_click_allows_within_the_deaf_time(start):
    """The request comes between two keys of someone who types: keys and clicks come in the very moment it is shown."""
    app = await start(call("write_file", path="a.txt", content="x"), [{"text": "Done."}])
    pressed: list[bool] = []

    def press() -> None:
        given = dialog(app).view.answers
        if given is None or pressed:
            return
        for target in (given.allow, given.allow_run):
            for key in KEYS:
                QTest.keyClick(target, key)
            QTest.mouseClick(target, Qt.MouseButton.LeftButton)
        given.allow.setFocus()
        QTest.keyClick(given.allow, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        if given.allow.deaf:  # else this machine took a long time over it, and that was no typing through
            pressed.append(True)

    app.models.approvals.changed.connect(press)
    app.say("write it")
    await app.asked()
    if pressed:
        await asyncio.sleep(0.1)
        assert len(app.models.approvals.requests) == 1
        assert written(app) == {}


@pytest.mark.spec("R-PRM-3", "R-PRM-9")
@pytest.mark.parametrize("how", ["cross", "escape", "another page", "another thread", "window"])
async def test_however_a_request_leaves_the_screen_it_is_not_approved(both, how):
    app, first, _ = both
    await awake(app)
    box = dialog(app)
    before = len(app.models.approvals.requests)
    if how == "cross":
        box.put_aside()
    elif how == "escape":
        box.take_keys()
        QTest.keyClick(app.window.focusWidget(), Key.Key_Escape)
        before -= 1  # Escape is Deny
    elif how == "another page":
        app.startup._shell.go("settings")
    elif how == "another thread":
        app.page.open(first)
    else:
        app.window.close()
    await asyncio.sleep(0.1)
    assert written(app) == {}
    assert len(app.models.approvals.requests) == before
    await app.end()
    assert written(app) == {}, "the end of the app denies"


@pytest.mark.spec("R-PRM-13")
async def test_the_activity_says_who_decided_what_in_which_thread(both):
    app, first, second = both
    await awake(app)
    dialog(app).view.answers.allow.click()
    await app.answered("Done.")
    app.page.open(first)
    await app.until(lambda: dialog(app).isVisible() and dialog(app).view.request.thread_id == first, "its own request")
    dialog(app).view.answers.deny.click()
    await app.answered("Done.")
    entries = [entry for _, entry in await calls_noted(app.startup._services.store.audit, limit=10)]
    assert {(e.thread_id, e.tool, e.decision, e.by) for e in entries} == {
        (second, "write-file", "allow_once", "user"),
        (first, "write-file", "deny", "user"),
    }


async def test_whoever_clicks_a_chat_goes_on_to_write_and_no_key_acts_on_the_list(start):
    app = await start([{"text": "Here."}], [{"text": "Here, too."}])
    await activated(app.window)
    app.say("one")
    await app.answered("Here.")
    first = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: not app.models.chat.thread_id, "a new chat")
    rows = app.page.threads.rows
    at = rows.model().index(rows.model().place(first))
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualRect(at).center())
    await app.until(lambda: app.models.chat.thread_id == first, "the chat")
    assert app.composer.text.hasFocus()
    QTest.keyClick(app.window.focusWidget(), Key.Key_Delete)
    assert [thread.thread_id for thread in app.models.threads.threads] == [first]
    rows.setFocus()
    QTest.keyClick(rows, Key.Key_Return)
    assert rows.hasFocus(), "whoever goes through the list by keys stays in it"
    await app.end()
