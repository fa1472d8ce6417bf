"""Tells the desktop that something waits, and nothing else: no tool, no path, no word of a conversation."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from desktop.ui.theme import theme

WAITING = "Something waits for your answer."
FINISHED = "A run has finished."


class Notifier(QObject):
    """Speaks only while the window is not active. A tray icon is made at the first message, if there is a tray."""

    clicked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def say(self, sentence: str = WAITING) -> bool:
        """Notify; False when the window has the person's attention already."""
        if self._window.isActiveWindow() and not self._window.isMinimized():
            return False
        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable():
            tray = self._made()
            tray.show()
            tray.showMessage("Assent", sentence, QSystemTrayIcon.MessageIcon.NoIcon)
        return True

    def quiet(self) -> None:
        """Nothing waits any more."""
        if self._tray is not None:
            self._tray.hide()

    def _made(self) -> QSystemTrayIcon:
        if self._tray is None:
            self._tray = QSystemTrayIcon(QIcon(theme().mark(64)), self)
            self._tray.setToolTip(f"Assent. {WAITING}")
            self._tray.activated.connect(self._activated)
            self._tray.messageClicked.connect(self._activated)
        return self._tray

    def _activated(self) -> None:
        self._window.showNormal() if self._window.isMinimized() else self._window.show()
        self._window.activateWindow()
        self.clicked.emit()
