"""A sentence in a box of the system itself, for what has no window of its own."""

from __future__ import annotations

import ctypes
import sys

_STOPPED, _IN_FRONT = 0x10, 0x10000


def show(title: str, sentence: str) -> bool:
    """Show it until a person has seen it; False where the system has no such box."""
    if sys.platform == "win32":
        return bool(ctypes.WinDLL("user32").MessageBoxW(None, sentence, title, _STOPPED | _IN_FRONT))
    return False
