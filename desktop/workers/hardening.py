"""What a child that holds keys does first: no core file of it, and no other program of this person looks into it."""

from __future__ import annotations

import contextlib
import ctypes
import sys

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PR_SET_DUMPABLE = 4


def harden() -> None:
    """No core dumps, and on Linux neither memory nor environment can be read through /proc or a debugger, except by
    root. What a system does not have is passed over: nothing else depends on it."""
    if resource is not None:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
