"""The composition root proper: first a window that can paint, then, after its first paint, everything else.

``make_window``, ``furnish`` and ``build`` are the contract of ``composition``. Nothing imported here may import asyncio
or a room of the runtime: those are loaded by ``build`` and by ``startup`` once the window is on screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtWidgets import QApplication, QWidget

from desktop.app.home.folder import Home
from desktop.app.home.window_state import WindowState
from desktop.domain.loading.lazy import lazy_module, load
from desktop.ui.shell.frame import make_frame
from desktop.ui.shell.main_window import NEEDED_AT_ONCE, MainWindow, make_rail

if TYPE_CHECKING:
    from desktop.app.lifecycle import startup
    from desktop.app.lifecycle.composition import App, Hooks
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.shell import window as shell_window
    from desktop.ui.theme import active, fonts
else:
    startup = lazy_module("desktop.app.lifecycle.startup")
    shell_window = lazy_module("desktop.presenter.shell.window")
    active = lazy_module("desktop.ui.theme.active")
    fonts = lazy_module("desktop.ui.theme.fonts")

REMEMBERED = "window.json"


def make_window(home: Home) -> QWidget:
    """The main window as it was left: the colours of its theme, and its place."""
    window_state = WindowState(home.data / REMEMBERED)
    choice, scale = _look(window_state)
    window = MainWindow(window_state.values.get("shell.window"), make_frame(choice, scale, QApplication.palette()))
    window.setProperty("parts", (window_state,))
    return window


def _look(window_state: WindowState) -> tuple[str, float]:
    """The theme and the text size of the last session."""
    return window_state.text("theme", "system"), window_state.number("scale", 1.0)


def furnish(window: QWidget) -> Iterator[Callable[[], None] | None]:
    """Its theme, rail and shortcuts, as they were left; its pages come with ``build``."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    assert isinstance(window, MainWindow)
    (window_state,) = window.property("parts")
    yield _load_furniture
    if not active.Theme.is_installed(application):
        fonts.load_fonts()
    yield None
    theme = active.Theme.install(application, *_look(window_state), prepared=True)
    yield None
    QtGui.QFontMetrics(theme.font("caption")).height()  # the first text to be measured has Qt read its fonts: 5 ms
    yield None
    rail = make_rail()
    yield None
    shell = shell_window.ShellViewModel(window_state.put)
    shell.restore(window_state.values)
    window.furnish(theme, shell, {}, rail)
    window.setProperty("parts", (theme, shell, window_state))


def _load_furniture() -> None:
    for module in (active, fonts, shell_window, *NEEDED_AT_ONCE):
        load(module)


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    """Everything else, as an ``App`` whose ``start`` does the work."""
    assert isinstance(window, MainWindow)
    theme, shell, window_state = window.property("parts")
    return startup.Startup(home, window, bridge, hooks, theme, shell, window_state).app()
