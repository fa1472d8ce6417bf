"""The composition root proper: first a window that can paint, then, after its first paint, everything else.

``make_window`` and ``build`` are the contract of ``composition``. Nothing imported here may import asyncio or a room of
the runtime: those are loaded by ``build`` and by ``startup`` once the window is on screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QWidget

from desktop.app.home.folder import Home
from desktop.app.home.window_state import WindowState
from desktop.domain.lazy import lazy_module
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.app.lifecycle import startup
    from desktop.app.lifecycle.composition import App, Hooks
    from desktop.presenter.events.bridge import Bridge
else:
    startup = lazy_module("desktop.app.lifecycle.startup")

REMEMBERED = "window.json"


def make_window(home: Home) -> QWidget:
    """The main window as it was left: theme, text size, place and page; its pages come with ``build``."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    window_state = WindowState(home.data / REMEMBERED)
    choice, scale = window_state.text("theme", "system"), window_state.number("scale", 1.0)
    theme = Theme.install(application, choice, scale, styled=True)
    shell = ShellViewModel(window_state.put)
    shell.restore(window_state.values)
    window = MainWindow(theme, shell, {})
    window.setProperty("parts", (theme, shell, window_state))
    return window


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    """Everything else, as an ``App`` whose ``start`` does the work."""
    assert isinstance(window, MainWindow)
    theme, shell, window_state = window.property("parts")
    return startup.Startup(home, window, bridge, hooks, theme, shell, window_state).app()
