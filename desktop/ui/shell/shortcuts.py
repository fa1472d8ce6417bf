"""Keys that work from anywhere in the window; made right after the first paint.

Over an open dialog those do nothing that would lead away from it: the keys would go to what lies under its scrim.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.widgets.dialogs.base import dialog_open

PALETTE = "Ctrl+K"
ALSO = {"Ctrl++": ("Ctrl+=",)}
"""Where plus needs Shift, the key is pressed without it as well."""
_OVER_DIALOGS = ("help", "stop", "quit", "text:larger", "text:smaller", "text:normal")


def bind(window: QWidget, shell: ShellViewModel, open_palette: Callable[[], None]) -> None:
    """A shortcut for each command that has one, and one for the palette."""
    for command in shell.commands():
        if command.shortcut:
            for keys in (command.shortcut, *ALSO.get(command.shortcut, ())):
                _shortcut(window, keys, partial(shell.run_command, command.id), command.id in _OVER_DIALOGS)
    _shortcut(window, PALETTE, open_palette)


def _shortcut(window: QWidget, keys: str, work: Callable[[], None], over_dialogs: bool = False) -> None:
    shortcut = QShortcut(QKeySequence(keys), window)
    shortcut.setAutoRepeat(False)
    shortcut.activated.connect(lambda: work() if over_dialogs or not dialog_open(window) else None)
