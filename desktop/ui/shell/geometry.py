"""Where the window was: plain numbers, checked against the screens there are now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

DEFAULT = (1280, 800)
SMALLEST = (520, 420)


def state_of(window: QMainWindow) -> dict[str, Any]:
    """What to remember."""
    box = window.normalGeometry()
    return {"box": [box.x(), box.y(), box.width(), box.height()], "maximized": window.isMaximized()}


def restore(window: QMainWindow, state: Mapping[str, Any]) -> bool:
    """Size and place the window; anything odd gives the default size. True if it should be shown maximized."""
    window.setMinimumSize(*SMALLEST)
    box = state.get("box")
    if not (isinstance(box, list | tuple) and len(box) == 4 and all(isinstance(n, int) for n in box)):
        window.resize(*DEFAULT)
        return bool(state.get("maximized"))
    wanted = QRect(*box)
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    best = max(screens, key=lambda screen: _area(screen.intersected(wanted)), default=wanted)
    width = max(SMALLEST[0], min(wanted.width(), best.width()))
    height = max(SMALLEST[1], min(wanted.height(), best.height()))
    x = min(max(wanted.x(), best.x()), max(best.x(), best.right() - width))
    y = min(max(wanted.y(), best.y()), max(best.y(), best.bottom() - height))
    window.setGeometry(x, y, width, height)
    return bool(state.get("maximized"))


def _area(rect: QRect) -> int:
    return 0 if rect.isEmpty() else rect.width() * rect.height()
