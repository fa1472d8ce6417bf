"""Signals on Windows: Ctrl+C and Ctrl+Break of a terminal. That the session ends Qt hears by itself."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from types import FrameType

if sys.platform != "win32":
    raise ImportError("for Windows alone")

SIGNALS = (signal.SIGINT, signal.SIGBREAK)


def hear(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """Call ``act`` on the loop for each of them: its own handlers the loop has on other systems only."""

    def heard(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(act)

    for number in SIGNALS:
        signal.signal(number, heard)


hear_interrupts = hear
"""The same of a command."""


def as_usual() -> None:
    """Each ends the process again."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def ignore(loop: asyncio.AbstractEventLoop) -> None:  # noqa: ARG001 - as on other systems
    """They end nothing any more."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
