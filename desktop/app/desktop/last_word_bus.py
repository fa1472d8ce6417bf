"""A refusal to start as a notification of the desktop, by the session bus (Linux). Blocks for seconds at most."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from html import escape
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, Parser, new_method_call
from jeepney.auth import BEGIN, AuthenticationError, Authenticator
from jeepney.bus_messages import message_bus

from desktop.app.desktop.identity import APP_ID
from desktop.app.desktop.session_bus import bus_address, socket_of
from desktop.domain.errors import KnownError
from desktop.systems import local_lines

SERVICE, PLACE = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
TIMEOUT = 2.0
"""Seconds for each step."""
FOR_GOOD = 0
"""Milliseconds after which it goes: never by itself."""
URGENT = 2
_BROKEN = (OSError, EOFError, ValueError, AuthenticationError)


def notify(error: KnownError) -> bool:
    """Show it; False where the desktop takes no notifications."""
    words = escape(f"{error} {error.next_step}".strip())
    hints = {"desktop-entry": ("s", APP_ID), "urgency": ("y", URGENT)}
    body: tuple[Any, ...] = ("Assent", 0, APP_ID, "Assent cannot start", words, [], hints, FOR_GOOD)
    note = new_method_call(DBusAddress(PLACE, bus_name=SERVICE, interface=SERVICE), "Notify", "susssasa{sv}i", body)
    with contextlib.suppress(*_BROKEN), _bus() as line:
        line.sendall(message_bus.Hello().serialise(1) + note.serialise(2))
        return bool(_answer(line, 2).header.message_type == MessageType.method_return)
    return False


def _answer(line: socket.socket, serial: int) -> Message:
    """Raises EOFError when the bus goes, TimeoutError when it is silent."""
    parser = Parser()
    while True:
        message = parser.get_next_message()
        if message is None:
            data = line.recv(4096)
            if not data:
                raise EOFError
            parser.add_data(data)
        elif message.header.fields.get(HeaderFields.reply_serial) == serial:
            return message


@contextlib.contextmanager
def _bus() -> Iterator[socket.socket]:
    """A line to the session bus, past its greeting."""
    place = socket_of(bus_address())
    if not place:
        raise OSError("there is no session bus")
    with local_lines.connect(place, TIMEOUT) as line:
        greeting = Authenticator()
        for words in greeting:
            line.sendall(words)
            answer = line.recv(1024)
            if not answer:
                raise EOFError
            greeting.feed(answer)
        line.sendall(BEGIN)
        yield line
