"""Keys that are pressed before the window has a page are for the message that a person begins to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.shell.stand_in import StandIn
from desktop.ui.theme import Theme

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
