"""Processes on Linux and macOS: each in a group of its own, which is signalled as a whole."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

if sys.platform == "win32":
    raise ImportError("Windows has no groups of processes of this kind")

KILL: int = signal.SIGKILL
"""Ends a process whatever it does."""
TELL: int = signal.SIGUSR1
"""Tells the launcher of a confined program to end it and all that it started."""


async def start(*argv: str, memory: int = 0, **options: Any) -> asyncio.subprocess.Process:  # noqa: ARG001
    """Start one in a group of its own. ``memory`` is for a system that bounds all of a group; here it is looked at from
    outside. Raises OSError."""
    return await asyncio.create_subprocess_exec(*argv, start_new_session=True, **options)


def start_blocking(argv: Sequence[str], *, tied: bool = True, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ARG001
    """The same without a loop. ``tied`` is for a system that ends it with us; here its launcher does. Raises
    OSError."""
    return subprocess.Popen(argv, start_new_session=True, **options)


def signal_one(process: int, number: int) -> None:
    """To this process alone. Raises OSError where it is gone."""
    os.kill(process, number)


def signal_all(process: int, number: int) -> None:
    """To this process, which was started apart, and all of its group. Raises OSError where it is gone."""
    os.killpg(process, number)


def let_go(process: int) -> None:
    """It goes on with all that it started: nothing of ours holds it."""


def computed_s(process: int) -> float | None:
    """Seconds that it has computed since it began; None where the system does not tell, as on macOS."""
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~process << 3) | 2)  # CPUCLOCK_SCHED of another process
    except OSError:
        return None
