"""Tells the desktop that something waits and how much, and nothing else: no tool, no path, no word of a chat."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QApplication, QWidget

from desktop.ui.shell.tray import Tray, bring_to_front

TOGETHER_MS = 250
"""What is asked within this time is told of together; so a burst of requests is one notification."""

WAITING = "waiting"
"""Why the tray icon is there: somebody is asked something."""


class NotesPort(Protocol):
    """The desktop's own notifications, where it has them: one of ours at a time
    (``desktop.app.desktop.notifications``)."""

    @property
    def pressed(self) -> SignalInstance: ...

    @property
    def failed(self) -> SignalInstance: ...

    def say(self, sentence: str) -> None: ...

    def withdraw(self) -> None: ...


def words(waiting: int) -> str:
    """The whole text of the notification."""
    return "A request waits for your answer." if waiting == 1 else f"{waiting} requests wait for your answer."


class Notifier(QObject):
    """``waiting(number)`` follows how many requests wait. It speaks only while the window is not active, and is quiet
    again once the person is there or nothing waits. Without ``notes``, or where they fail, a tray icon speaks, if there
    is a tray; where there is neither, the window asks for attention in the list of windows, and that is all.

    ``allowed`` is the person's setting, asked each time.
    """

    clicked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.tray = Tray(window)
        self.tray.pressed.connect(self._tray_pressed)
        self._notes: NotesPort | None = None
        self._waiting = 0
        self._told = 0
        self._wanted = False
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(TOGETHER_MS)
        self._later.timeout.connect(self._speak)
        window.installEventFilter(self)

    def speak_through(self, notes: NotesPort) -> None:
        """From now on the desktop's own notifications are used."""
        self._notes = notes
        notes.pressed.connect(self._activated)
        notes.failed.connect(self._by_tray)

    def waiting(self, number: int, *, allowed: bool) -> None:
        """Note how many requests wait; a rise is announced."""
        more, self._waiting = number > self._waiting, number
        if not number or not allowed:
            self.quiet()
        elif more and self._in_background():
            self._wanted = True
            self._later.start()
        elif self._told:  # some were answered elsewhere, or ended with their run: the number is put right
            self._later.start()

    def quiet(self) -> None:
        """Nothing waits any more, or the person is here."""
        self._later.stop()
        self._wanted = False
        self._told = 0
        if self._notes is not None:
            self._notes.withdraw()
        self.tray.leave(WAITING)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The person has come to the window: what was said has reached them."""
        if event.type() == QEvent.Type.WindowActivate:
            self.quiet()
        return False

    def _in_background(self) -> bool:
        return not self._window.isActiveWindow() or self._window.isMinimized()

    def _speak(self) -> None:
        if not self._waiting or not self._in_background() or self._told == self._waiting:
            return
        fresh, self._wanted = self._wanted, False
        self._told = self._waiting
        if fresh:
            QApplication.alert(self._window)
        if self._notes is not None:
            self._notes.say(words(self._waiting))
        else:
            self._by_tray()

    def _by_tray(self) -> None:
        if not self._told or not Tray.available():
            return
        self.tray.show_for(WAITING, words(self._told))
        self.tray.speak(words(self._told))

    def _tray_pressed(self) -> None:
        if self._told:
            self._activated()

    def _activated(self) -> None:
        bring_to_front(self._window)
        self.clicked.emit()
