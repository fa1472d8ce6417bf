"""Whether the desktop asks programs to move less: the portal's settings, else GNOME's; followed while Assent lives.

Linux only: nothing else has a bus to ask. Nothing here waits for another process on Qt's thread; and a call of
QtDBus that waits keeps Python's lock, in whatever thread it is, so that it stops the window all the same: questions are
asked without waiting, and a bus is only connected to once it has spoken (see ``_speaks``).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher, QDBusVariant

from desktop.app.desktop.session_bus import bus_address, socket_of
from desktop.presenter.events.bridge import Bridge
from desktop.systems import local_lines

SERVICE, PLACE = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
INTERFACE = "org.freedesktop.portal.Settings"
NO_REPLY = "org.freedesktop.DBus.Error.NoReply"
TIMEOUT = 2.0
"""Seconds for each question. A desktop that does not answer has not asked for anything."""

_ASKS_FOR_LESS: Mapping[tuple[str, str], Callable[[Any], bool]] = {
    ("org.freedesktop.appearance", "reduced-motion"): lambda value: value == 1,
    ("org.gnome.desktop.interface", "enable-animations"): lambda value: value is False,
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): lambda value: str(value) in ("0", "0.0"),
}


class SystemReducedMotion(QObject):
    """``changed`` says what the desktop wants, once ``start`` has found out and whenever it changes."""

    changed = Signal(bool)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._name = f"assent-motion-{uuid.uuid4().hex}"
        self.destroyed.connect(partial(QDBusConnection.disconnectFromBus, self._name))

    def start(self) -> None:
        """Ask for the system's setting and follow its changes."""
        self._bridge.spawn(self._follow(), name="follow motion")

    async def _follow(self) -> None:
        bus = await self._bridge.in_thread(_connected, self._name)
        if bus is not None:
            told = SLOT("_told(QDBusMessage)")
            bus.connect(SERVICE, PLACE, INTERFACE, "SettingChanged", self, told)  # type: ignore[call-overload]
        await self._look()

    async def _look(self) -> None:
        values = {}
        for key in _ASKS_FOR_LESS:
            answer = await self._portal(*key)
            if answer.errorName() == NO_REPLY:
                break  # it would be as silent about the rest
            values[key] = _value(answer)
        if all(value is None for value in values.values()):
            less = await self._bridge.in_thread(_gnome_says, "enable-animations") == "false"
        else:
            less = any(_ASKS_FOR_LESS[key](value) for key, value in values.items())
        self.changed.emit(less)

    async def _portal(self, namespace: str, key: str) -> QDBusMessage:
        """The portal's answer about one setting, which may be an error: no portal, no such setting, no reply."""
        question = QDBusMessage.createMethodCall(SERVICE, PLACE, INTERFACE, "Read")
        question.setArguments([namespace, key])
        answered = asyncio.Event()
        call = QDBusPendingCallWatcher(QDBusConnection(self._name).asyncCall(question, round(TIMEOUT * 1000)), self)
        call.finished.connect(lambda _: answered.set())
        if not call.isFinished():
            await answered.wait()  # for at most TIMEOUT: the bus's own time limit
        answer = call.reply()
        call.deleteLater()
        return answer

    @Slot(QDBusMessage)
    def _told(self, message: QDBusMessage) -> None:
        if tuple(message.arguments()[:2]) in _ASKS_FOR_LESS:
            self._bridge.spawn(self._look(), name="look at motion")


def _value(answer: QDBusMessage) -> Any:
    """What a setting is, or None where there is none."""
    if answer.type() != QDBusMessage.MessageType.ReplyMessage or not answer.arguments():
        return None
    value = answer.arguments()[0]
    while isinstance(value, QDBusVariant):
        value = value.variant()
    return value


def _connected(name: str) -> QDBusConnection | None:
    """A connection to the session bus by its address: Qt's library reads the address from the environment only once."""
    address = bus_address()
    if not _speaks(address):
        return None
    bus = QDBusConnection.connectToBus(address, name)
    return bus if bus.isConnected() else None


def _speaks(address: str) -> bool:
    """Whether somebody answers a greeting there. Qt's library would wait for one that never does, for good."""
    name = socket_of(address)
    if not name:
        return False
    try:
        with local_lines.connect(name, TIMEOUT) as line:
            line.sendall(b"\0AUTH EXTERNAL " + str(local_lines.own_user()).encode().hex().encode() + b"\r\n")
            return bool(line.recv(2))
    except OSError:
        return False


_PASSED = frozenset(("PATH", "HOME", "USER", "LANG", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"))
"""What gsettings needs of the environment: no key of the person's is passed on to it (R-ENV-6)."""


def _gnome_says(key: str) -> str:
    program = shutil.which("gsettings")
    if program is None:
        return ""
    command = [program, "get", "org.gnome.desktop.interface", key]
    passed = {name: value for name, value in os.environ.items() if name in _PASSED or name.startswith("XDG_")}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, env=passed
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout.strip()
