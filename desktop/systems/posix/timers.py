"""Timers on Linux and macOS that count what a process computes, not the time that passes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType

if sys.platform == "win32":
    raise ImportError("Windows has no timers of this kind")


def watch(seconds: float) -> None:
    """The process ends when it computes for so long; 0 ends the watch."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def interrupts(act: Callable[[int, FrameType | None], None]) -> None:
    """What ``interrupted_after`` calls. On the main thread only."""
    signal.signal(signal.SIGVTALRM, act)


def interrupted_after(seconds: float, again: float = 0.0) -> None:
    """Interrupt what computes for so long, and again after each ``again``; 0 ends that."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, again)
