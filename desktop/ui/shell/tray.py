"""The one icon of the app in the desktop's tray: there while something waits, or while the window is put away."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon, QWidget

from desktop.ui.shell.window_icon import app_icon

SHOW, QUIT = "Show Assent", "Quit Assent"


class Tray(QObject):
    """Shown as long as there is a reason; the reason given last says its tool tip. ``pressed``: on the icon, on what it
    said, or on *Show Assent*."""

    pressed = Signal()
    quit_wanted = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._reasons: dict[str, str] = {}
        self._menu: QMenu | None = None
        self.icon: QSystemTrayIcon | None = None

    @staticmethod
    def available() -> bool:
        """Whether the desktop has a tray now."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show_for(self, reason: str, words: str) -> None:
        """Be there for this reason, or say other words for it."""
        self._reasons.pop(reason, None)
        self._reasons[reason] = words
        icon = self.made()
        icon.setToolTip(f"Assent. {words}")
        icon.show()

    def leave(self, reason: str) -> None:
        """The reason is over; the icon goes with the last one."""
        if self._reasons.pop(reason, None) is None or self.icon is None:
            return
        if self._reasons:
            self.icon.setToolTip(f"Assent. {list(self._reasons.values())[-1]}")
        else:
            self.icon.hide()

    def speak(self, words: str) -> None:
        """Show a message at the icon."""
        self.made().showMessage("Assent", words, QSystemTrayIcon.MessageIcon.NoIcon)

    def made(self) -> QSystemTrayIcon:
        """The icon, made when it is first needed."""
        if self.icon is None:
            self.icon = QSystemTrayIcon(app_icon(), self)
            self.icon.activated.connect(self._activated)
            self.icon.messageClicked.connect(self.pressed)
            self._menu = QMenu(self._window)
            for words, signal in ((SHOW, self.pressed), (QUIT, self.quit_wanted)):
                action = QAction(words, self._menu)
                action.triggered.connect(signal)
                self._menu.addAction(action)
            self.icon.setContextMenu(self._menu)
        return self.icon

    def _activated(self, how: QSystemTrayIcon.ActivationReason) -> None:
        if how is not QSystemTrayIcon.ActivationReason.Context:  # that one opens the menu
            self.pressed.emit()


def bring_to_front(window: QWidget) -> None:
    """Show a window that is minimised, put away or behind others, and ask for the keys."""
    window.showNormal() if window.isMinimized() else window.show()
    window.activateWindow()
