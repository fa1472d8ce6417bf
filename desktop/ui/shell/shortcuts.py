"""Keys that work from anywhere in the window; made right after the first paint."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from desktop.presenter.shell import ShellViewModel

PALETTE = "Ctrl+K"
ALSO = {"Ctrl++": ("Ctrl+=",)}
"""Where plus needs Shift, the key is pressed without it as well."""


def bind(window: QWidget, shell: ShellViewModel, open_palette: Callable[[], None]) -> None:
    """A shortcut for each command that has one, and one for the palette."""
    for command in shell.commands():
        if command.shortcut:
            for keys in (command.shortcut, *ALSO.get(command.shortcut, ())):
                _shortcut(window, keys, partial(shell.run_command, command.id))
    _shortcut(window, PALETTE, open_palette)


def _shortcut(window: QWidget, keys: str, work: Callable[[], None]) -> None:
    shortcut = QShortcut(QKeySequence(keys), window)
    shortcut.setAutoRepeat(False)
    shortcut.activated.connect(work)
