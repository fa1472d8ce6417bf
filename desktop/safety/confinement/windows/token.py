"""What a process behind the wall is in the eyes of Windows: this person without rights, whom nothing lets write.

Its token has no privilege left, of an administrator's groups none that grants anything, and the lowest level of
integrity with which programs still start: whatever has no lower level, which is nearly everything, it can read by the
person's rights and never write. The one folder that it writes in is made with that
level.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

if sys.platform != "win32":
    raise ImportError("for Windows alone")

_ACCESS = 0x0002 | 0x0001 | 0x0008 | 0x0080
"""Of our own token: to duplicate it, to start a process with it, to ask it, to change its defaults."""
_NO_PRIVILEGES = 0x1
_INTEGRITY_LEVEL = 25
_IS_INTEGRITY = 0x20
_LOW = "S-1-16-4096"
_POWERFUL = ("S-1-5-32-544", "S-1-5-32-547", "S-1-5-32-551", "S-1-5-32-549", "S-1-5-32-548", "S-1-5-32-550")
"""Administrators, power users, and who makes backups or runs servers, accounts or printers."""
_LOW_LABEL = "S:(ML;OICI;NW;;;LW)"
_SDDL = 1


class _Group(ctypes.Structure):
    """``SID_AND_ATTRIBUTES``."""

    _fields_ = [("sid", ctypes.c_void_p), ("attributes", ctypes.c_uint32)]


class _Attributes(ctypes.Structure):
    """``SECURITY_ATTRIBUTES``."""

    _fields_ = [("length", ctypes.c_uint32), ("descriptor", ctypes.c_void_p), ("inherited", ctypes.c_int)]


@contextmanager
def powerless() -> Iterator[int]:
    """A token for one process, by its handle. Raises OSError."""
    kernel, security = ctypes.WinDLL("kernel32", use_last_error=True), _security()
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.CloseHandle.argtypes = (ctypes.c_void_p,)
    ours, made = ctypes.c_void_p(), ctypes.c_void_p()
    _done(security.OpenProcessToken(ctypes.c_void_p(kernel.GetCurrentProcess()), _ACCESS, ctypes.byref(ours)))
    try:
        with _sids(_POWERFUL) as groups:
            given = (_Group * len(groups))(*(_Group(sid, 0) for sid in groups))
            nothing = (0, None, 0, None)
            _done(
                security.CreateRestrictedToken(ours, _NO_PRIVILEGES, len(groups), given, *nothing, ctypes.byref(made))
            )
    finally:
        kernel.CloseHandle(ours)
    try:
        with _sids((_LOW,)) as (low,):
            label = _Group(low, _IS_INTEGRITY)
            size = ctypes.sizeof(label) + security.GetLengthSid(ctypes.c_void_p(low))
            _done(security.SetTokenInformation(made, _INTEGRITY_LEVEL, ctypes.byref(label), size))
        assert made.value is not None
        yield made.value
    finally:
        kernel.CloseHandle(made)


def make_open_folder(folder: str) -> None:
    """Make a folder in which who has that level writes, and in what is made there. Raises OSError."""
    kernel, security, made = ctypes.WinDLL("kernel32", use_last_error=True), _security(), ctypes.c_void_p()
    _done(security.ConvertStringSecurityDescriptorToSecurityDescriptorW(_LOW_LABEL, _SDDL, ctypes.byref(made), None))
    try:
        given = _Attributes(ctypes.sizeof(_Attributes), made, 0)
        _done(kernel.CreateDirectoryW(ctypes.c_wchar_p(folder), ctypes.byref(given)))
    finally:
        kernel.LocalFree(made)


@contextmanager
def _sids(texts: tuple[str, ...]) -> Iterator[list[int]]:
    kernel, security, made = ctypes.WinDLL("kernel32"), _security(), list[int]()
    try:
        for text in texts:
            sid = ctypes.c_void_p()
            _done(security.ConvertStringSidToSidW(text, ctypes.byref(sid)))
            assert sid.value is not None
            made.append(sid.value)
        yield made
    finally:
        for one in made:
            kernel.LocalFree(ctypes.c_void_p(one))


def _security() -> Any:
    return ctypes.WinDLL("advapi32", use_last_error=True)


def _done(worked: int) -> None:
    if not worked:
        raise ctypes.WinError(ctypes.get_last_error())
