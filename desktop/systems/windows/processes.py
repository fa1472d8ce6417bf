"""Processes on Windows: there are no signals, so that what ends a process ends what it started by its tree.

``taskkill /T`` goes by parents: what a process started and left behind is not found any more. A job object would hold
those, too; there is none yet, and nothing else that confines on Windows.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

if sys.platform != "win32":
    raise ImportError("for Windows alone")

APART: Mapping[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
"""How ``subprocess`` starts one that a Ctrl+C for us does not reach, and that opens no window of a terminal."""
KILL: int = 9
"""Ends a process whatever it does, by TerminateProcess; the number becomes its exit code."""
TELL: int = signal.SIGTERM
_PATIENCE_S = 5.0


def signal_one(process: int, number: int) -> None:
    """End this process alone. Raises OSError where it is gone."""
    os.kill(process, number)


def signal_all(process: int, number: int) -> None:
    """End this process and all that it started: a request where the number is none that ends, which a program without
    a window does not hear. Raises OSError where it is gone, or cannot be ended."""
    folder = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
    force = ["/F"] if number == KILL else []
    try:
        done = subprocess.run(
            [folder, "/T", "/PID", str(process), *force],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            creationflags=subprocess.CREATE_NO_WINDOW,
        )
    except subprocess.TimeoutExpired as error:
        raise PermissionError("taskkill did not end it in time") from error
    if done.returncode != 0:
        raise ProcessLookupError(done.stderr.decode("utf-8", "replace").strip()[:200])


def computed_s(process: int) -> float | None:  # noqa: ARG001 - as on other systems
    """Not asked here."""
    return None
