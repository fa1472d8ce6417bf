"""What a person meets in the first hour: the demo plays, slips are said, and what was deleted leaves its neighbour."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.presenter.chat.threads import ThreadRole
from desktop.ui.model_picker.popup import ModelPopup
from desktop.ui.settings.models.page import ModelsPage
from tests.gui.app.kit import HELLO


async def test_start_the_demo_starts_it(start: Callable[..., Any]) -> None:
    app = await start(HELLO, joined=True)
    app.models.setup.start_demo()
    await app.until(lambda: app.models.chat.meters.model == "demo/demo", "the demo model")
    await app.until(lambda: app.models.approvals.requests, "the question of the demo")
    assert app.page.pane.transcript.page.messages[0].source().strip() == "start"
    request = app.models.approvals.requests[0]
    assert request.thread_id == app.models.chat.thread_id
    dialog = app.startup._pages._dialog
    await app.until(lambda: dialog.dialog is not None and dialog.dialog.isVisible(), "the request over its thread")
    assert app.page.threads.rows.currentIndex().data(ThreadRole.ID) == request.thread_id


async def test_a_name_of_no_skill_is_said_before_it_is_sent(start: Callable[..., Any]) -> None:
    app = await start(HELLO, joined=True)
    app.composer.text.setFocus()
    await app.until(lambda: app.models.offers._names is not None, "the names")
    app.composer.text.setPlainText("/no-such-skill do it")
    assert app.composer.note.isVisible(), "while one types on"
    assert "no-such-skill" in app.composer.note.text()
    app.composer.text.setPlainText("")
    assert not app.composer.note.isVisible()
    QTest.keyClicks(app.composer.text, "/no-such-skill")
    assert not app.composer.note.isVisible(), "nor while one types it"
    app.composer.submit()
    assert app.composer.note.isVisible(), "the first Enter says it"
    assert app.composer.text.toPlainText() == "/no-such-skill"
    app.composer.submit()
    await app.answered("Hello there.")
    assert not app.composer.note.isVisible()
    app.composer.text.setPlainText("/tmp/x is a path")
    assert not app.composer.note.isVisible()


async def test_after_deleting_the_open_thread_its_neighbour_is_shown(start: Callable[..., Any]) -> None:
    app = await start(HELLO, HELLO, HELLO, joined=True)
    made = []
    for text in ("one", "two", "three"):
        app.page.new_chat()
        await app.until(lambda: app.models.chat.thread_id == "", "a new chat")
        app.say(text)
        await app.until(lambda text=text: text in app.text and "Hello there." in app.text, text)
        await app.until(lambda: not app.running, "its end")
        made.append(app.models.chat.thread_id)
    await app.until(lambda: app.models.threads.model().place(made[2]) >= 0, "the list")
    app.page.open(made[1])
    await app.until(lambda: "two" in app.text, "the second")
    below = app.models.threads.model().beside((made[1],))
    assert below == made[0]
    app.models.threads.delete(made[1])
    await app.until(lambda: app.models.chat.thread_id == made[0], "the one below")
    app.models.threads.delete(made[0])
    await app.until(lambda: app.models.chat.thread_id == made[2], "the one above, for want of one below")
    app.models.threads.delete(made[2])
    await app.until(lambda: app.models.chat.thread_id == "", "a new chat")


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
async def test_the_model_of_new_chats_leaves_the_open_chat_and_the_settings_as_they_are(
    start: Callable[..., Any],
) -> None:
    app = await start(HELLO, joined=True)
    app.say("hello")
    await app.answered("Hello there.")
    thread_id = app.models.chat.thread_id
    app.startup._pages._show_settings("Models and keys")
    page = app.window.page("settings").findChild(ModelsPage)
    listed = app.models.setup.model
    await app.until(lambda: listed("demo/demo") is not None, "the models to choose from")
    page.default.open_list()
    popup = page.findChild(ModelPopup)
    popup.chooser.field.setText("demo")
    QTest.keyClick(popup.chooser.field, Qt.Key.Key_Return)
    await app.until(lambda: app.models.setup.default_model == "demo/demo", "it is kept")
    await app.until(lambda: "choose model" not in app.bridge.task_names, "and told")
    await app.until(lambda: "save choice" not in app.bridge.task_names, "to all")
    assert app.startup._shell.page == "settings"
    assert app.models.chat.meters.model == "scripted/scripted"
    assert (await app.models.threads._service.thread(thread_id)).model == "scripted/scripted"
    app.models.chat.new_thread()
    assert app.models.chat.thread_id == ""
    await app.until(lambda: app.models.chat.meters.model == "demo/demo", "a new chat has it")
