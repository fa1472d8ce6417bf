"""A refusal to start, in a window of its own, for a person who has no terminal to read it on."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from desktop.app.lifecycle.beginning import Beginning, Refuse
from desktop.domain.errors import KnownError
from desktop.ui.shell.startup_error import StartupErrorWindow
from desktop.ui.theme import Theme


def show(error: KnownError, refuse: Refuse) -> None:
    """Returns when it was read. There is no loop of ours that it could stall. Where Qt opens no window either, the
    process ends with what ``refuse`` says to this error: it is the one that a person can do something about first."""
    there = QCoreApplication.instance()
    if there is None:
        Beginning(lambda _no_window: refuse(error))
    application = there if isinstance(there, QApplication) else QApplication(["assent"])
    Theme.install(application).settle()
    window = StartupErrorWindow(str(error), error.next_step)
    window.closed.connect(application.quit)
    window.show()
    application.exec()
