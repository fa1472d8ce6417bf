"""Keys that are pressed before the window has a page are for the message that a person begins to write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.chat.composer.pane import DRAFT_DELAY, ComposerPane
from desktop.ui.chat.composer.view import Composer
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.shell.stand_in import StandIn
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from tests.harness.timeouts import WAIT_S
from tests.harness.windows import activate

Starts = Callable[..., Any]


async def test_what_is_typed_before_there_is_a_page_stands_in_the_composer(start: Starts) -> None:
    app = await start(typed="hello th")
    assert app.composer.text.toPlainText() == "hello th"
    QTest.keyClicks(app.composer.text, "ere")
    assert app.composer.text.toPlainText() == "hello there", "the cursor stands behind it"


async def test_it_stands_behind_the_draft_that_was_kept_and_is_kept_with_it(start: Starts) -> None:
    app = await start()
    app.composer.text.setPlainText("first, ")
    await app.end()
    again = await start(typed="then")
    assert again.composer.text.toPlainText() == "first, then"
    await again.end()
    assert (await start()).composer.text.toPlainText() == "first, then"


async def test_the_kept_draft_is_not_overwritten_before_it_has_come(start: Starts, qtbot: QtBot) -> None:
    app = await start()
    app.composer.text.setPlainText("first, ")
    app.page.pane.foot.keep_draft()
    drafts = app.models.chat.drafts
    pane = ComposerPane(app.page._models, app.page, Composer())
    qtbot.addWidget(pane)
    pane.composer.text.insertPlainText("then")
    await asyncio.sleep(2 * DRAFT_DELAY / 1000)
    assert (await drafts.draft("")).text == "first, "
    app.models.chat.open_thread("")
    await app.until(lambda: pane.composer.text.toPlainText() == "first, then", "the draft")
    async with asyncio.timeout(WAIT_S):
        while (await drafts.draft("")).text != "first, then":
            await asyncio.sleep(0.05)


async def test_what_is_typed_at_the_start_with_another_page_waits_for_the_composer(start: Starts) -> None:
    app = await start()
    app.window._shell.go("settings")
    await app.end()
    again = await start(typed="later")
    again.window._shell.go("chats")
    assert again.composer.text.toPlainText() == "later"


async def test_the_place_of_the_page_says_what_is_waited_for(start: Starts) -> None:
    app = await start(whole=False)
    (page,) = app.window.findChildren(StandIn)
    app.window.say_starting("Opening the database")
    assert page._words.text() == "Opening the database"
    await app.opened()


def test_a_window_takes_texts_alone_and_gives_them_once(theme: Theme, qtbot: QtBot) -> None:
    taken: list[str] = []

    class Page(QWidget):
        def take_typed(self, text: str) -> None:
            taken.append(text)

    window = MainWindow(None)
    qtbot.addWidget(window)
    for key in ("a", Qt.Key.Key_Tab, "b", "c", Qt.Key.Key_Backspace, Qt.Key.Key_Escape, Qt.Key.Key_Return):
        QTest.keyClick(window, key)
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    shell = ShellViewModel(lambda _key, _value: None)
    window.furnish(theme, shell, {})
    for key in ("d", Qt.Key.Key_Return):
        QTest.keyClick(window.stack.currentWidget(), key)
    window.install({"chats": Page, "skills": QWidget})
    for page in ("skills", "chats"):
        shell.go(page)
    assert taken == ["ab\nd"]


class Written(QWidget):
    """A page with a button before the field that is written in."""

    def __init__(self) -> None:
        super().__init__()
        self.field = QLineEdit()
        column = QVBoxLayout(self)
        column.addWidget(Button("First in order"))
        column.addWidget(self.field)

    def first_focus(self) -> QWidget:
        return self.field


def test_the_keys_go_from_the_place_of_the_page_to_the_page_and_nowhere_between(theme: Theme, qtbot: QtBot) -> None:
    """On their way they would bring a ring around a button, which takes long to be made."""
    window = MainWindow(None)
    qtbot.addWidget(window)
    window.furnish(theme, ShellViewModel(lambda _key, _value: None), {})
    activate(window)
    qtbot.waitUntil(lambda: isinstance(window.focusWidget(), StandIn))
    had: list[QWidget | None] = []
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.focusChanged.connect(lambda _old, now: had.append(now))
    window.install({"chats": Written})
    assert [type(one) for one in had if one is not None] == [QLineEdit]
