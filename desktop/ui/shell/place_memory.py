"""Where the window is, remembered while it is used: quitting by a key, a signal or a crash closes none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QMainWindow

from desktop.ui.shell.geometry import state_of

AFTER_MS = 400
"""Milliseconds after the last change: a window that is being dragged changes all the time."""
_CHANGES = frozenset({QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowStateChange})


class PlaceMemory(QObject):
    """Hands ``save`` the place of ``window`` soon after each change."""

    def __init__(self, window: QMainWindow, save: Callable[[Mapping[str, Any]], None]) -> None:
        super().__init__(window)
        self._later = QTimer(self, singleShot=True, interval=AFTER_MS)
        self._later.timeout.connect(lambda: save(state_of(window)))
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A window that is put away or not shown yet has no place."""
        if event.type() in _CHANGES and isinstance(watched, QMainWindow) and watched.isVisible():
            self._later.start()
        return False
