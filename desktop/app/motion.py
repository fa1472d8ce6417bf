"""Whether the desktop asks programs to move less: the portal's settings, else GNOME's; followed while Assent lives.

Linux only: nothing else has a bus to ask. Everything that waits for another process does so in a thread.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage, QDBusVariant

from desktop.presenter.bridge import Bridge

SERVICE, PLACE = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
INTERFACE = "org.freedesktop.portal.Settings"
PATIENCE = 2.0
"""Seconds for each question. A desktop that does not answer has not asked for anything."""

_ASKS_FOR_LESS: Mapping[tuple[str, str], Callable[[Any], bool]] = {
    ("org.freedesktop.appearance", "reduced-motion"): lambda value: value == 1,
    ("org.gnome.desktop.interface", "enable-animations"): lambda value: value is False,
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): lambda value: str(value) in ("0", "0.0"),
}


class SystemMotion(QObject):
    """``changed`` says what the desktop wants, once ``start`` has found out and whenever it changes."""

    changed = Signal(bool)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._name = f"assent-motion-{uuid.uuid4().hex}"
        self.destroyed.connect(partial(QDBusConnection.disconnectFromBus, self._name))

    def start(self) -> None:
        """Ask, and follow."""
        self._bridge.spawn(self._follow(), name="follow motion")

    async def _follow(self) -> None:
        bus = await self._bridge.in_thread(_connected, self._name)
        if bus is not None:
            told = SLOT("_told(QDBusMessage)")
            bus.connect(SERVICE, PLACE, INTERFACE, "SettingChanged", self, told)  # type: ignore[call-overload]
        await self._look()

    async def _look(self) -> None:
        self.changed.emit(await self._bridge.in_thread(_wants_less, self._name))

    @Slot(QDBusMessage)
    def _told(self, message: QDBusMessage) -> None:
        if tuple(message.arguments()[:2]) in _ASKS_FOR_LESS:
            self._bridge.spawn(self._look(), name="look at motion")


def _connected(name: str) -> QDBusConnection | None:
    """By address where one is given: Qt's library reads it from the environment once and for all."""
    address = os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    bus = QDBusConnection.connectToBus(address or QDBusConnection.BusType.SessionBus, name)
    return bus if bus.isConnected() else None


def _wants_less(name: str) -> bool:
    answers = [(asks, _portal(name, *key)) for key, asks in _ASKS_FOR_LESS.items()]
    if all(value is None for _, value in answers):
        return _gnome_says("enable-animations") == "false"
    return any(asks(value) for asks, value in answers)


def _portal(name: str, namespace: str, key: str) -> Any:
    """A setting of the desktop, or None when there is no portal or no such setting."""
    bus = QDBusConnection(name)
    if not bus.isConnected():
        return None
    question = QDBusMessage.createMethodCall(SERVICE, PLACE, INTERFACE, "Read")
    question.setArguments([namespace, key])
    answer = bus.call(question, QDBus.CallMode.Block, round(PATIENCE * 1000))
    if answer.type() != QDBusMessage.MessageType.ReplyMessage or not answer.arguments():
        return None
    value = answer.arguments()[0]
    while isinstance(value, QDBusVariant):
        value = value.variant()
    return value


def _gnome_says(key: str) -> str:
    program = shutil.which("gsettings")
    if program is None:
        return ""
    command = [program, "get", "org.gnome.desktop.interface", key]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout.strip()
