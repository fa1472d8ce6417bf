"""Processes on Windows: there are no signals, so that what ends a process ends what holds it with all it started: the
job object that it joined before it began (``jobs.py``).
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from desktop.systems.windows.jobs import SUSPENDED, Jobs

if sys.platform != "win32":
    raise ImportError("for Windows alone")

KILL: int = 9
"""Ends a process whatever it does, by TerminateProcess; the number becomes its exit code."""
TELL: int = signal.SIGTERM
_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW | SUSPENDED
"""A Ctrl+C for us does not reach it, and it opens no window of a terminal."""
_ASK = 0x1000
_A_SECOND = 10_000_000

_JOBS = Jobs()


async def start(*argv: str, memory: int = 0, **options: Any) -> asyncio.subprocess.Process:
    """Start one that is held together with all it starts, and ended with us. ``memory``: bytes that all of them get at
    most; 0 means no limit. Raises OSError."""
    process = await asyncio.create_subprocess_exec(*argv, creationflags=_FLAGS, **options)
    try:
        _JOBS.join(process.pid, {"memory": memory})
    except OSError:
        _let_go_of_pipes(process)
        raise
    return process


def _let_go_of_pipes(process: asyncio.subprocess.Process) -> None:
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def start_blocking(argv: Sequence[str], *, tied: bool = True, **options: Any) -> subprocess.Popen[bytes]:
    """The same without a loop; not ``tied``: it goes on when we have ended. Raises OSError."""
    process = subprocess.Popen(argv, creationflags=_FLAGS, **options)
    try:
        _JOBS.join(process.pid, {"tied": tied})
    except OSError:
        process.kill()  # what waits for its first instruction would wait for ever
        raise
    return process


def signal_one(process: int, number: int) -> None:
    """End this process alone. Raises OSError where it is gone."""
    os.kill(process, number)


def signal_all(process: int, number: int) -> None:  # noqa: ARG001 - as on other systems
    """End this process, which ``start`` has started, and all that it started, whatever the number: no request is heard
    by a program without a window. Raises OSError where that was done, or it is gone."""
    if not _JOBS.end(process):
        raise ProcessLookupError(f"nothing holds process {process}")


def let_go(process: int) -> None:
    """One that is not tied to us goes on with all that it started."""
    _JOBS.let_go(process)


def computed_s(process: int) -> float | None:
    """Seconds that it has computed since it began; None where it is gone."""
    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.OpenProcess(_ASK, 0, process))
    if not handle:
        return None
    made, ended, inside, own = (ctypes.c_uint64() for _ in range(4))
    try:
        times = (ctypes.byref(one) for one in (made, ended, inside, own))
        return (inside.value + own.value) / _A_SECOND if kernel.GetProcessTimes(handle, *times) else None
    finally:
        kernel.CloseHandle(handle)
