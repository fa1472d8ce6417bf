"""The ways to the Help panel in the heads of pages. The window knows what to do; a page without one needs nothing."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.controls.buttons import Button, IconButton

KEYS = "F1"


class HelpIcon(IconButton):
    """In a narrow head: its icon alone."""

    def __init__(self) -> None:
        super().__init__("info", "Help", shortcut=KEYS)
        self.clicked.connect(lambda: _ask(self))


class HelpButton(Button):
    """In a head that has room for its name and key."""

    def __init__(self) -> None:
        super().__init__("Help", "quiet", icon="info", key=KEYS, shrinks=True, tip=f"Help ({KEYS})")
        self.clicked.connect(lambda: _ask(self))


def _ask(button: QWidget) -> None:
    wanted = getattr(button.window(), "help_wanted", None)
    if wanted is not None:
        wanted.emit()
