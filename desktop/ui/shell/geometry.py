"""Where the window was: plain numbers, checked against the screens there are now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6 import QtCore
from PySide6.QtCore import QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

DEFAULT = (1280, 800)
SMALLEST = (520, 420)
FRAME = (8, 40, -8, -8)
"""Pixels that a window manager may want around a window; how many is not known before it is shown."""


def state_of(window: QMainWindow) -> dict[str, Any]:
    """The window's geometry, as ``restore`` reads it."""
    box = window.normalGeometry()
    return {"box": [box.x(), box.y(), box.width(), box.height()], "maximized": window.isMaximized()}


def restore(window: QMainWindow, state: object) -> None:
    """Size and place the window, and maximize it if it was, before it is first shown; anything odd gives the default
    size. What it is when it is not maximized is kept beside that.

    It is never larger than the screen has room for, be that less than its smallest size; where it has to be made to
    fit, as when its screen has gone, its title bar has room as well.
    """
    state = state if isinstance(state, Mapping) else {}
    box = state.get("box")
    known = isinstance(box, list | tuple) and len(box) == 4 and all(isinstance(n, int) for n in box)
    wanted = QRect(*box) if known and box is not None else QRect(0, 0, *DEFAULT)
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    best = max(screens, key=lambda screen: _area(screen.intersected(wanted)), default=wanted)
    fits = best.contains(wanted) if known else best.width() > wanted.width() and best.height() > wanted.height()
    best = best if fits else best.adjusted(*FRAME)
    low, minimum = min(SMALLEST[0], best.width()), min(SMALLEST[1], best.height())
    window.setMinimumSize(low, minimum)
    width = max(low, min(wanted.width(), best.width()))
    height = max(minimum, min(wanted.height(), best.height()))
    if not known:
        window.resize(width, height)
    else:
        x = min(max(wanted.x(), best.x()), max(best.x(), best.right() - width))
        y = min(max(wanted.y(), best.y()), max(best.y(), best.bottom() - height))
        window.setGeometry(x, y, width, height)
    if state.get("maximized") is True:
        window.setWindowState(QtCore.Qt.WindowState.WindowMaximized)  # Qt is named only where it is needed: it is dear


def _area(rect: QRect) -> int:
    return 0 if rect.isEmpty() else rect.width() * rect.height()
