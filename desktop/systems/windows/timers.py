"""Windows has no timers that count what a process computes: what is silent for too long is ended from outside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

if sys.platform != "win32":
    raise ImportError("for Windows alone")


def watch(seconds: float) -> None:
    """There is no such timer."""


def interrupts(act: Callable[[int, FrameType | None], None]) -> None:
    """There is no such timer."""


def interrupted_after(seconds: float, again: float = 0.0) -> None:
    """There is no such timer."""
