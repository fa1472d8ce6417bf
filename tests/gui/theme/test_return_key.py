"""Return presses the button that has the keys, wherever it stands, and once."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.patient_button import PatientButton
from tests.harness.timeouts import WAIT_MS

Key = Qt.Key
CONTROL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
MAKERS: dict[str, Callable[[], QAbstractButton]] = {
    "button": lambda: Button("Start the demo"),
    "icon": lambda: IconButton("copy", "Copy"),
    "patient": lambda: PatientButton("Deny"),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Enter, Key.Key_Space])
def test_return_and_space_press_it_once(qtbot: QtBot, theme: Theme, kind: str, key: Qt.Key) -> None:
    button, pressed = MAKERS[kind](), []
    qtbot.addWidget(button)
    button.show()
    button.clicked.connect(lambda: pressed.append(1))
    QTest.keyClick(button, key)
    assert len(pressed) == 1
    if key != Key.Key_Space:
        send(button, key, held=True)
        send(button, key, CONTROL)
        button.setEnabled(False)
        send(button, key)
        assert len(pressed) == 1, "not while it is held, with Control, or out of use"


def send(button: QAbstractButton, key: Qt.Key, keys: Qt.KeyboardModifier = NONE, *, held: bool = False) -> None:
    QApplication.sendEvent(button, QKeyEvent(QEvent.Type.KeyPress, key, keys, "\r", held))


@pytest.mark.spec("R-PRM-14")
def test_what_allows_is_as_deaf_to_return_as_to_space(qtbot: QtBot, theme: Theme) -> None:
    button, agreed = AllowButton("Allow once", "primary"), []
    qtbot.addWidget(button)
    button.agreed.connect(lambda: agreed.append(1))
    button.show()
    button.arm()
    for key in (Key.Key_Return, Key.Key_Enter, Key.Key_Space):
        QTest.keyClick(button, key)
    assert agreed == []
    qtbot.waitUntil(lambda: not button.deaf, timeout=WAIT_MS)
    QTest.keyClick(button, Key.Key_Return)
    assert agreed == [1]
