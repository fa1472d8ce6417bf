"""The line below a list with which one more is added."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.ui.settings.add_row import AddRow
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.files import FileDialog


@pytest.fixture
def row(qtbot: QtBot, qapp: QApplication) -> AddRow:
    Theme.install(qapp, "light", 1.0)
    made = AddRow("the folders", folders=True)
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_folder_that_is_picked_is_added_at_once(row: AddRow, qtbot: QtBot) -> None:
    (choose,) = [button for button in row.findChildren(Button) if button.label == "Choose…"]
    choose.click()
    (dialog,) = row.findChildren(FileDialog)
    with qtbot.waitSignal(row.wanted):
        dialog.fileSelected.emit("/srv/data")
    dialog.reject()
    assert row.field.text() == "/srv/data"


def test_what_is_typed_is_added_by_return_and_by_the_button(row: AddRow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(row.wanted):
        row.field.returnPressed.emit()
    with qtbot.waitSignal(row.wanted):
        row.add.click()
