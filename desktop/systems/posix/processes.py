"""Processes on Linux and macOS: each in a group of its own, which is signalled as a whole."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

if sys.platform == "win32":
    raise ImportError("Windows has no groups of processes of this kind")

APART: Mapping[str, Any] = {"start_new_session": True}
"""How ``subprocess`` starts one that has a group of its own."""
KILL: int = signal.SIGKILL
"""Ends a process whatever it does."""
TELL: int = signal.SIGUSR1
"""Tells the launcher of a confined program to end it and all that it started."""


def signal_one(process: int, number: int) -> None:
    """To this process alone. Raises OSError where it is gone."""
    os.kill(process, number)


def signal_all(process: int, number: int) -> None:
    """To this process, which was started apart, and all of its group. Raises OSError where it is gone."""
    os.killpg(process, number)


def computed_s(process: int) -> float | None:
    """Seconds that it has computed since it began; None where the system does not tell, as on macOS."""
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~process << 3) | 2)  # CPUCLOCK_SCHED of another process
    except OSError:
        return None
