"""Locks on Windows: ``LockFileEx``, which belongs to the handle.

A locked byte can be read by nobody else there, so that the byte lies far behind all that the file holds.
"""

from __future__ import annotations

import ctypes
import errno
import msvcrt
import os
import sys
from typing import Any

if sys.platform != "win32":
    raise ImportError("for Windows alone")

_AT_ONCE, _ALONE = 1, 2
_VIOLATION, _PENDING = 33, 997
_BYTE = 1 << 30


class _Overlapped(ctypes.Structure):
    """``OVERLAPPED``: where the lock begins."""

    _fields_ = [
        ("internal", ctypes.c_void_p),
        ("internal_high", ctypes.c_void_p),
        ("offset", ctypes.c_uint32),
        ("offset_high", ctypes.c_uint32),
        ("event", ctypes.c_void_p),
    ]


def take(file: int) -> None:
    """Have it alone, until the file is closed. Raises BlockingIOError where somebody has it, or asks just now."""
    _lock(file, _AT_ONCE | _ALONE)


def share(file: int) -> None:
    """Have it with others who share it, until the file is closed. Raises BlockingIOError where somebody has it."""
    _lock(file, _AT_ONCE)


def ask(file: int) -> None:
    """Raises BlockingIOError where somebody has it; who else asks at the same time is in nobody's way."""
    _lock(file, _AT_ONCE)
    kernel, handle = _kernel(), ctypes.c_void_p(msvcrt.get_osfhandle(file))
    kernel.UnlockFileEx(handle, 0, 1, 0, ctypes.byref(_Overlapped(offset=_BYTE)))


def _lock(file: int, how: int) -> None:
    kernel, handle = _kernel(), ctypes.c_void_p(msvcrt.get_osfhandle(file))
    if not kernel.LockFileEx(handle, how, 0, 1, 0, ctypes.byref(_Overlapped(offset=_BYTE))):
        code = ctypes.get_last_error()
        if code in (_VIOLATION, _PENDING):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        raise ctypes.WinError(code)


def _kernel() -> Any:
    return ctypes.WinDLL("kernel32", use_last_error=True)


def read_at(file: int, most: int, place: int) -> bytes:
    """Bytes from a place on. Where reading goes on otherwise is moved: nobody here reads on."""
    os.lseek(file, place, os.SEEK_SET)
    return os.read(file, most)


def write_at(file: int, content: bytes, place: int) -> None:
    """Over what stands at a place. Where writing goes on otherwise is moved: nobody here writes on."""
    os.lseek(file, place, os.SEEK_SET)
    os.write(file, content)
