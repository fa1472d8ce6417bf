"""Links `assent:…` in the whole app: they show a place, and whatever is typed then does nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from desktop.app.desktop.links import GONE, NOTHING
from desktop.domain.text.links import UNKNOWN
from desktop.ui.widgets.dialogs.base import dialog_open
from tests.gui.app.kit import HELLO, Running, call
from tests.harness.timeouts import until
from tests.harness.windows import activated

Starts = Callable[..., Any]
PLACES = (
    "assent:",
    "assent:chats",
    "assent:debates",
    "assent:skills",
    "assent:approvals",
    "assent:schedules",
    "assent:settings",
    "assent:settings/approvals",
    "assent:settings/models-and-keys",
    "assent:help/safety",
    "assent:chat/0123456789abcdef",
    UNKNOWN,
)
TYPED = (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_A, Qt.Key.Key_Y, Qt.Key.Key_Enter, Qt.Key.Key_Delete)


def press(app: Running, *keys: Qt.Key) -> None:
    """Keys of a person who types into another window, which this one has come in front of."""
    for key in keys:
        QTest.keyClick(QApplication.focusWidget() or app.window, key)


def toast(app: Running) -> str:
    shown = app.window.toast
    return str(shown.text) if shown.isVisible() else ""


async def followed(app: Running, link: str) -> None:
    assert app.app.follow(link) is True
    await until(lambda: not any(name.startswith("links") for name in app.bridge.task_names), "the link followed")


async def test_a_link_shows_a_page_a_page_of_settings_or_a_chat(start: Starts) -> None:
    app = await start(HELLO)
    app.say("hi")
    await app.answered("Hello there.")
    thread = app.models.chat.thread_id
    app.models.chat.new_thread()
    for link, page in (("assent:skills", "skills"), ("ASSENT://Debates/", "debates"), ("assent:settings", "settings")):
        await followed(app, link)
        assert app.startup._shell.page == page
    await followed(app, "assent:settings/filesystem-boundaries")
    settings = app.window.page("settings")
    assert settings._rows[settings.nav.currentIndex().row()].title == "Filesystem boundaries"
    await followed(app, f"assent:chat/{thread}")
    assert (app.startup._shell.page, app.models.chat.thread_id) == ("chats", thread)
    await followed(app, "assent:help/safety")
    await app.until(lambda: app.startup._pages.help.panel is not None, "the panel of help")
    await app.until(app.startup._pages.help.panel.isVisible, "help beside the chat")
    assert toast(app) == ""


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (UNKNOWN, NOTHING),
        ("assent:settings/nothing", NOTHING),
        ("assent:chats/0123", NOTHING),
        ("Your account was closed, call 0123", NOTHING),
        ("assent:chat/0123", GONE),
    ],
)
async def test_a_link_that_leads_nowhere_leaves_the_page_and_says_so_in_our_own_words(
    start: Starts, link: str, words: str
) -> None:
    app = await start()
    await followed(app, "assent:skills")
    await followed(app, link)
    assert app.startup._shell.page == "skills"
    assert toast(app) == words


@pytest.mark.spec("R-PKG-2")
async def test_what_is_typed_after_a_link_sends_nothing_and_changes_no_setting(start: Starts) -> None:
    app = await start(HELLO)
    await activated(app.window)
    app.composer.text.setPlainText("not to be sent")
    before = app.startup._settings.current
    for link in PLACES:
        app.startup._shell.go("chats")
        app.composer.text.setFocus()
        await followed(app, link)
        press(app, *TYPED)
        assert app.composer.text.toPlainText() == "not to be sent", link
        assert app.items == {}, link
    assert app.startup._settings.current == before


@pytest.mark.spec("R-PKG-2")
async def test_what_is_typed_after_a_link_answers_no_request(start: Starts) -> None:
    app = await start(call("write_file", path="a.txt", content="x"), HELLO)
    await activated(app.window)
    app.say("write")
    request = await app.asked()
    dialog = app.startup._pages._dialog.dialog
    await app.until(lambda: dialog.view.request == request, "the dialog")
    answers = dialog.view.answers
    for link in (*PLACES, f"assent:chat/{app.models.chat.thread_id}"):
        app.startup._shell.go("chats")
        await app.until(lambda: not answers.allow.deaf, "the end of the deaf time")
        answers.allow.setFocus()
        await followed(app, link)
        press(app, *TYPED)
        assert app.models.approvals.requests == (request,), link
    assert not (app.home.path / "workspace" / "a.txt").exists()


async def test_a_dialog_that_waits_for_a_key_is_not_put_before_the_person_by_a_link(start: Starts) -> None:
    app = await start()
    app.window.show_error("Something went wrong", "It is over.", "the report")
    assert dialog_open(app.window)
    for link in ("assent:skills", "assent:chat/0123", UNKNOWN):
        await followed(app, link)
    assert app.startup._shell.page == "chats"
    assert toast(app) == ""


async def test_a_link_that_comes_before_there_are_pages_is_followed_when_they_stand(start: Starts) -> None:
    app = await start(whole=False)
    assert app.app.follow("assent:skills") is False
    assert app.app.follow("assent:debates") is False
    await app.until_true(lambda: app.startup._shell.page == "debates", "the page of the last one")


async def test_of_links_that_come_at_once_the_last_one_counts(start: Starts) -> None:
    app = await start(HELLO)
    app.say("hi")
    await app.answered("Hello there.")
    thread = app.models.chat.thread_id
    app.models.chat.new_thread()
    app.app.follow(f"assent:chat/{thread}")
    await followed(app, "assent:skills")
    assert app.startup._shell.page == "skills"
    assert app.models.chat.thread_id != thread


async def test_a_window_that_a_link_brings_to_the_front_has_the_keys_on_no_control(start: Starts) -> None:
    app, other = await start(HELLO), QWidget()
    app.composer.text.setPlainText("not to be sent")
    app.composer.text.setFocus()
    await activated(other)
    await followed(app, "assent:chats")
    await until(app.window.isActiveWindow, "the window in front")
    assert QApplication.focusWidget() in (None, app.window)
    other.deleteLater()
