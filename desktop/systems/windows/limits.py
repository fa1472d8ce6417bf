"""Limits of a process on Windows: none that a process sets for itself. What reads what strangers send is ended from
outside when it is silent for too long."""

from __future__ import annotations

import ctypes
import sys

if sys.platform != "win32":
    raise ImportError("for Windows alone")


class _MemoryStatus(ctypes.Structure):
    """``MEMORYSTATUSEX``."""

    _fields_ = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "free", "pages", "free_pages", "own", "free_own", "extended")),
    ]


def no_core_files(*, for_good: bool = False) -> None:
    """Windows makes none by itself, unless somebody with the computer's rights switches them on."""


def bound(name: str, most: int) -> None:
    """Windows has no such limit."""


def bound_memory(most: int) -> None:
    """Windows has no such limit without a job object."""


def free_memory_of(process: int) -> None:
    """Nothing to take back."""


def physical_memory() -> int:
    """Bytes of memory that the computer has; 0 where it does not say."""
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    found = ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.total) if found else 0
