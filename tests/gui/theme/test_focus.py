"""The ring around what keys reached, for everything that can be pressed; never after a click."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.toggles import CheckBox, Chip, Switch
from desktop.ui.widgets.focus import FocusRing
from desktop.ui.widgets.layout.tabs import Tabs
from tests.harness.timeouts import WAIT_MS

MAKERS: dict[str, Callable[[], QWidget]] = {
    "button": lambda: Button("Save"),
    "allow": lambda: AllowButton("Allow", "primary"),
    "icon": lambda: IconButton("copy", "Copy"),
    "switch": lambda: Switch("Send on Enter"),
    "check": lambda: CheckBox("Remember"),
    "chip": lambda: Chip("running"),
    "tab": lambda: Tabs("Lists", (("a", "One"), ("b", "Two"))),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_keys_show_the_ring_and_a_click_does_not(qtbot: QtBot, theme: Theme, kind: str) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    made, other = MAKERS[kind](), Button("Other")
    column = QVBoxLayout(window)
    column.addWidget(made)
    column.addWidget(other)
    with qtbot.waitActive(window, timeout=WAIT_MS):
        window.show()
        window.activateWindow()
    target = made.findChildren(QWidget)[0] if isinstance(made, Tabs) else made

    def ringed() -> QWidget | None:
        ring = window.findChild(FocusRing)
        return ring.widget() if isinstance(ring, FocusRing) else None

    target.setFocus(Qt.FocusReason.MouseFocusReason)
    assert (target.hasFocus(), ringed()) == (True, None)
    other.setFocus(Qt.FocusReason.MouseFocusReason)
    target.setFocus(Qt.FocusReason.TabFocusReason)
    assert ringed() is target
    other.setFocus(Qt.FocusReason.BacktabFocusReason)
    assert ringed() is other
    other.clearFocus()
    assert ringed() is None
