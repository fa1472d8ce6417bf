"""Whoever's control goes or is greyed goes on beside it: same row, same card, same page, never in the rail."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from tests.gui.shell.test_window import spin
from tests.harness.windows import activate

Key = Qt.Key


class Cards(Scroller):
    """Named cards, each made anew by ``fill``, above a field."""

    def __init__(self) -> None:
        super().__init__(margins=24, spacing=8)
        self.cards = Column(spacing=8)
        self.column.addLayout(self.cards)
        self.field = Field("Below")
        self.column.addWidget(self.field)
        self.column.addStretch(1)
        self.fill("one", "two", "three")

    def fill(self, *names: str) -> None:
        clear(self.cards)
        for name in names:
            card = pane("card")
            card.setAccessibleName(name)
            row = Row(card, margins=8, spacing=4)
            for button in (Button("Test"), Button("Edit"), Button("Delete", "danger"), IconButton("close", "Remove")):
                row.addWidget(button)
            self.cards.addWidget(card)

    def button(self, card: str, name: str) -> QWidget:
        made = [one for one in self.findChildren(QWidget) if one.accessibleName() == name and one.isVisible()]
        return next(one for one in made if one.parentWidget().accessibleName() == card)


class House:
    def __init__(self, theme: Theme) -> None:
        self.shell = ShellViewModel(lambda _key, _value: None)
        self.page = Cards()
        self.window = MainWindow(self.shell.window_state())
        self.window.furnish(theme, self.shell, {"chats": lambda: self.page})
        self.window.resize(1280, 800)
        activate(self.window)

    @property
    def at(self) -> str:
        """Card and control that has the keys."""
        spin()
        focus = self.window.focusWidget()
        return f"{focus.parentWidget().accessibleName()}/{focus.accessibleName()}" if focus is not None else "nowhere"

    def stand(self, card: str, name: str) -> QWidget:
        button = self.page.button(card, name)
        button.setFocus(Qt.FocusReason.TabFocusReason)
        return button


@pytest.fixture
def house(qtbot: QtBot, theme: Theme) -> House:
    made = House(theme)
    qtbot.addWidget(made.window)
    return made


@pytest.mark.parametrize("leave", [lambda one: one.setEnabled(False), lambda one: one.hide()])
def test_keys_of_a_button_that_is_greyed_or_hidden_go_on_to_the_next_one_of_its_card(
    house: House, leave: Callable[[QWidget], None]
) -> None:
    leave(house.stand("two", "Test"))
    assert house.at == "two/Edit"


def test_they_go_back_rather_than_to_what_deletes(house: House) -> None:
    house.stand("two", "Edit").setEnabled(False)
    assert house.at == "two/Test"


def test_in_cards_that_are_made_anew_they_are_where_they_were(house: House) -> None:
    house.stand("two", "Test")
    house.page.fill("one", "two", "three")
    assert house.at == "two/Test"


def test_with_a_card_that_goes_they_go_to_the_next_one_and_not_to_what_deletes_it(house: House) -> None:
    house.stand("two", "Delete")
    house.page.fill("one", "three")
    assert house.at == "three/Test"
    house.stand("three", "Delete")
    house.page.fill("one")
    assert house.at.split("/")[1] == "Below"
    house.stand("one", "Delete")
    house.page.fill()
    assert house.at.split("/")[1] == "Below"


def test_keys_of_a_card_that_is_greyed_as_a_whole_go_on_to_the_next_card(house: House) -> None:
    house.stand("two", "Edit").parentWidget().setEnabled(False)
    assert house.at == "three/Test"


def test_whoever_has_gone_elsewhere_meanwhile_is_left_there(house: House) -> None:
    house.stand("two", "Test")
    house.page.fill("one", "two", "three")
    house.page.field.setFocus()
    assert house.at.split("/")[1] == "Below"


def test_a_dialog_gives_the_keys_to_the_card_that_was_made_anew_meanwhile(house: House) -> None:
    house.stand("two", "Delete")
    dialog = Dialog(house.window, "Delete?")
    dialog.open()
    house.page.fill("one", "two", "three")
    spin()
    QTest.keyClick(house.window.focusWidget(), Key.Key_Escape)
    assert house.at == "two/Delete"


def test_they_never_go_to_what_allows_a_call(house: House) -> None:
    card = house.stand("three", "Edit").parentWidget()
    row = card.layout()
    assert isinstance(row, Row)
    for name in ("Test", "Delete", "Remove"):
        house.page.button("three", name).hide()
    row.addWidget(AllowButton("Allow once", "normal"))
    spin()
    house.page.button("three", "Edit").setEnabled(False)
    assert house.at.split("/")[1] == "Below"


def test_a_toast_that_goes_gives_the_keys_back_to_a_card_that_was_made_anew(house: House) -> None:
    house.stand("two", "Edit")
    house.window.show_toast("Deleted", "token")
    house.window.toast._undo.setFocus(Qt.FocusReason.TabFocusReason)
    house.page.fill("one", "two", "three")
    spin()
    house.window.toast._undo.click()
    assert house.at == "two/Edit"
