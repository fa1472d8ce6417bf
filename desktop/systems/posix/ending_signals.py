"""Signals on Linux and macOS, which the loop hears."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable

if sys.platform == "win32":
    raise ImportError("Windows has no signals of this kind")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def hear(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """Call ``act`` on the loop for each of them."""
    for number in SIGNALS:
        loop.add_signal_handler(number, act)


def hear_interrupts(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """The same of a command, which may have been started to outlive its terminal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, act)


def as_usual() -> None:
    """Each ends the process again."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def ignore(loop: asyncio.AbstractEventLoop) -> None:
    """From the loop's handlers to none, with no moment between in which a signal would end the process half-way."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
