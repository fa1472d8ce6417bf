"""What Windows says of a place."""

from __future__ import annotations

import ctypes
import msvcrt
import sys

if sys.platform != "win32":
    raise ImportError("for Windows alone")

IGNORES_CASE = True
"""How names are compared where nothing says. A folder can be marked for the other way, which is not asked: rather one
name too many is alike than one too few."""
_LONGEST = 32_768


def marked_caseless(folder: str) -> bool:  # noqa: ARG001 - as on other systems
    """There is only the mark for the other way."""
    return False


def kernel_path(descriptor: int) -> str | None:
    """The path that the system itself knows for an open descriptor: links followed, long names, one drive; or None
    where it does not say."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    handle, buffer = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor)), ctypes.create_unicode_buffer(_LONGEST)
    length = kernel.GetFinalPathNameByHandleW(handle, buffer, _LONGEST, 0)
    if not 0 < length < _LONGEST:
        return None
    found = buffer.value
    if found.startswith("\\\\?\\UNC\\"):
        return "\\\\" + found[8:]
    return found.removeprefix("\\\\?\\")
