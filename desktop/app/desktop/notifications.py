"""One notification of ours on the desktop (org.freedesktop.Notifications): said, replaced, pressed, taken back.

Linux only. The words come from the window and hold no content. The bus is asked without waiting on Qt's thread, and
each step has a time limit: a desktop that does not answer, or has no such service, only costs the notification.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, Parser, new_method_call
from jeepney.auth import BEGIN, AuthenticationError, Authenticator
from jeepney.bus_messages import message_bus
from PySide6.QtCore import QObject, Signal

from desktop.app.desktop.identity import APP_ID
from desktop.app.desktop.session_bus import bus_address, socket_of
from desktop.app.home.instance import is_token
from desktop.presenter.events.bridge import Bridge
from desktop.systems import local_lines

SERVICE, PLACE = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
NOTES = DBusAddress(PLACE, bus_name=SERVICE, interface=SERVICE)
RULE = f"type='signal',sender='{SERVICE}',path='{PLACE}',interface='{SERVICE}'"
TITLE, SHOW = "Assent", "Show"
TIMEOUT = 5.0
"""Seconds for each step."""
_BROKEN = (OSError, EOFError, ValueError, TimeoutError, AuthenticationError)

logger = logging.getLogger(__name__)


class DesktopNotifications(QObject):
    """``pressed`` when the person pressed it; ``failed`` when what was said last cannot be shown here."""

    pressed = Signal()
    failed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._wanted = ""
        self._said = ""
        self._number = 0
        self._changed = asyncio.Event()
        self._answered = asyncio.Event()
        self._running = False
        self._serial = 0
        self._asked = 0
        self._service = ""

    def say(self, sentence: str) -> None:
        """Show this, in the place of what was shown before. While one is on its way, only the newest follows."""
        self._want(sentence)

    def withdraw(self) -> None:
        """Withdraw the notification."""
        self._want("")

    def _want(self, sentence: str) -> None:
        self._wanted = sentence
        self._changed.set()
        if sentence and not self._running:
            self._running = True
            self._bridge.spawn(self._live(), name="desktop notifications")

    async def _live(self) -> None:
        """From the first notification to the end of the app, or of the bus."""
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await _opened()
        except _BROKEN as error:
            logger.info("no desktop notifications: %s", type(error).__name__)
            self._running = False
            self.failed.emit()
            return
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen(reader))
                group.create_task(self._talk(writer))
        except* _BROKEN as errors:
            logger.info("no desktop notifications any more: %s", type(errors.exceptions[0]).__name__)
            self.failed.emit()
        finally:
            self._running = False
            if self._number:  # a note that outlives the window could only disappoint
                with contextlib.suppress(*_BROKEN):
                    self._send(writer, new_method_call(NOTES, "CloseNotification", "u", (self._number,)))
            self._number, self._said = 0, ""
            writer.close()

    # -- what we say ----------------------------------------------------------------------------------------------

    async def _talk(self, writer: asyncio.StreamWriter) -> None:
        self._send(writer, message_bus.Hello())
        self._send(writer, message_bus.AddMatch(RULE))
        while True:
            self._changed.clear()
            if self._wanted != self._said:
                await self._tell(writer, self._wanted)
                continue
            await self._changed.wait()

    async def _tell(self, writer: asyncio.StreamWriter, sentence: str) -> None:
        self._said = sentence
        if not sentence:
            if self._number:
                self._send(writer, new_method_call(NOTES, "CloseNotification", "u", (self._number,)))
                self._number = 0
            return
        hints = {"desktop-entry": ("s", APP_ID), "urgency": ("y", 1)}
        body = (TITLE, self._number, APP_ID, TITLE, sentence, ["default", SHOW], hints, -1)
        self._answered.clear()
        self._asked = self._send(writer, new_method_call(NOTES, "Notify", "susssasa{sv}i", body))
        async with asyncio.timeout(TIMEOUT):
            await writer.drain()
            await self._answered.wait()

    def _send(self, writer: asyncio.StreamWriter, message: Message) -> int:
        self._serial += 1
        writer.write(message.serialise(self._serial))
        return self._serial

    # -- what we hear ---------------------------------------------------------------------------------------------

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        parser = Parser()
        while True:
            message = parser.get_next_message()
            if message is not None:
                self._heard(message)
                continue
            data = await reader.read(4096)
            if not data:
                raise EOFError
            parser.add_data(data)

    def _heard(self, message: Message) -> None:
        """An answer to ``Notify``, or what became of the note."""
        fields = message.header.fields
        kind, body = message.header.message_type, message.body
        if self._asked and fields.get(HeaderFields.reply_serial) == self._asked:
            self._asked = 0
            self._answered.set()
            if kind == MessageType.method_return and body and isinstance(body[0], int):
                self._number = body[0]
                self._service = str(fields.get(HeaderFields.sender, ""))
            else:
                self.failed.emit()
        elif kind == MessageType.signal and self._number and fields.get(HeaderFields.sender) == self._service:
            self._told(str(fields.get(HeaderFields.member, "")), body)

    def _told(self, member: str, body: tuple[Any, ...]) -> None:
        if not body or body[0] != self._number:
            return
        if member == "ActivationToken" and len(body) > 1 and is_token(body[1]):
            os.environ["XDG_ACTIVATION_TOKEN"] = body[1]  # read and removed by Qt where a window needs it to come up
        elif member == "ActionInvoked":
            self.pressed.emit()
            os.environ.pop("XDG_ACTIVATION_TOKEN", None)
        elif member == "NotificationClosed":
            self._number = 0


async def _opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A line to the bus, past its greeting. Raises OSError, EOFError or AuthenticationError."""
    place = socket_of(bus_address())
    if not place:
        raise OSError("there is no session bus")
    reader, writer = await local_lines.streams(await local_lines.reach(place))
    try:
        greeting = Authenticator()
        for line in greeting:
            writer.write(line)
            await writer.drain()
            answer = await reader.read(1024)
            if not answer:
                raise EOFError
            greeting.feed(answer)
        writer.write(BEGIN)
    except BaseException:
        writer.close()
        raise
    return reader, writer
