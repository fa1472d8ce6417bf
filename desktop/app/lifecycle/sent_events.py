"""Keys and presses that another program sent to the window (XSendEvent on X11) are not heard, as xterm does by default.

What a person does, and what XTEST does in their place (on-screen keyboards, remote desktops), comes from the server and
is heard; what was merely sent says so in its first byte. No answer to a request can be given by it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray
from PySide6.QtWidgets import QApplication

_SENT = 0x80
_INPUT = frozenset(range(2, 11))
"""Keys, buttons and moves of the pointer (2 to 6), entering and leaving (7, 8), the focus (9, 10)."""


def is_sent_input(kind: int) -> bool:
    """Whether an event of X11 with this first byte is input that a program sent."""
    return kind >= _SENT and kind & ~_SENT in _INPUT


class SentEvents(QAbstractNativeEventFilter):
    """Drops input that a program sent, before Qt makes anything of it."""

    def nativeEventFilter(self, kind: QByteArray | bytes | bytearray | memoryview, message: int) -> object:
        """True for an event that Qt must not see."""
        return is_sent_input(ctypes.c_uint8.from_address(int(message)).value), 0


@contextlib.contextmanager
def sent_events_refused(application: QApplication) -> Iterator[None]:
    """Inside the ``with``, events that other programs send are refused; X11 alone has such events."""
    filter_ = SentEvents()
    if application.platformName() == "xcb":
        application.installNativeEventFilter(filter_)
    yield
    application.removeNativeEventFilter(filter_)
