"""What shuts in the worker of model-written code: no files at all, no network, no other processes (R-COD-5).

The worker does it to itself with the launcher's own functions, once its engine is loaded and before it reads a line.
"""

from __future__ import annotations

import ctypes
import os
import sys

from desktop.safety import launcher
from desktop.safety.syscall_filter import Held, program, supports


def code_walls() -> tuple[str, str]:
    """(the file that knows how, the filter of system calls in hexadecimal), or two empty texts where the system has no
    such walls: then the engine's own emptiness and the process are what holds. Blocks for a moment."""
    if sys.platform != "linux" or not supports(os.uname().machine):
        return "", ""
    if launcher.landlock_abi(ctypes.CDLL(None, use_errno=True)) < 1:
        return "", ""
    return launcher.__file__, program(os.uname().machine, Held((), apart=True, frozen=True)).hex()
