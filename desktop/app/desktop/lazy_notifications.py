"""The desktop's notifications, whose code (0.5 MB with D-Bus) is loaded in a thread with the first sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.loading.lazy import lazy_module, load
from desktop.presenter.events.bridge import Bridge

if TYPE_CHECKING:
    from desktop.app.desktop import notifications as desktop_notifications
    from desktop.app.desktop.notifications import DesktopNotifications
else:
    desktop_notifications = lazy_module("desktop.app.desktop.notifications")


class LazyNotes(QObject):
    """A stand-in for ``DesktopNotifications`` that imports it with the first notification."""

    pressed = Signal()
    failed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._wanted = ""
        self._loading = False
        self._notes: DesktopNotifications | None = None

    def say(self, sentence: str) -> None:
        """Show this, in the place of what was shown before."""
        self._wanted = sentence
        if self._notes is not None:
            self._notes.say(sentence)
        elif sentence and not self._loading:
            self._loading = True
            self._bridge.spawn(self._load(), name="desktop notifications: code")

    def withdraw(self) -> None:
        """Withdraw the notification."""
        self.say("")

    async def _load(self) -> None:
        await self._bridge.in_thread(load, desktop_notifications)
        self._notes = notes = desktop_notifications.DesktopNotifications(self._bridge, self)
        notes.pressed.connect(self.pressed)
        notes.failed.connect(self.failed)
        notes.say(self._wanted)
