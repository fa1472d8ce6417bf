"""Which system this is, as plain values: code that asks them is checked and tested on every system."""

from __future__ import annotations

import os
import sys

PLATFORM: str = sys.platform
WINDOWS: bool = PLATFORM == "win32"
MACOS: bool = PLATFORM == "darwin"
LINUX: bool = PLATFORM == "linux"
NAME: str = {"win32": "Windows", "darwin": "macOS", "linux": "Linux"}.get(PLATFORM, PLATFORM)
"""As people call it, and models."""


def processor() -> str:
    """The kind of processor as the system names it, such as ``x86_64``; "" where it is not known."""
    if sys.platform == "win32":
        return os.environ.get("PROCESSOR_ARCHITECTURE", "").lower()
    return os.uname().machine


def system_words() -> str:
    """The system, its release and its processor, without the computer's name."""
    if sys.platform == "win32":
        found = sys.getwindowsversion()
        return f"Windows {found.major}.{found.minor}.{found.build} {processor()}"
    kernel = os.uname()
    return f"{kernel.sysname} {kernel.release} {kernel.machine}"
