"""Starts a program behind the wall, waits for its end and ends with its code; nothing that it started goes on.

Runs as ``python -I launcher.py FOLDER PROCESSES MEMORY PROGRAM …``: the folder, made here, that the program is in and
writes in; how many processes there may be at once; bytes that all of them get. What it inherits is named one by one:
the three ends of its pipes. Ends with ``NOT_HELD`` where something of the wall cannot be made, and nothing was started.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    raise ImportError("for Windows alone")

if __name__ == "__main__":  # started by its file: our packages lie four folders above
    sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from desktop.safety.confinement.windows.token import make_open_folder, powerless
from desktop.systems.windows.jobs import SUSPENDED, JobObject

NOT_HELD = 126
_EXTENDED, _NO_WINDOW, _STD_HANDLES = 0x80000, 0x08000000, 0x100
_HANDLE_LIST = 0x20002
_ENDS = (-10, -11, -12)
_FOREVER = 0xFFFFFFFF
_HANDLE = ctypes.c_void_p


class _Startup(ctypes.Structure):
    """``STARTUPINFOEXW``."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        *((name, ctypes.c_void_p) for name in ("reserved", "desktop", "title")),
        *((name, ctypes.c_uint32) for name in ("x", "y", "width", "height", "columns", "rows", "fill", "flags")),
        ("show", ctypes.c_uint16),
        ("more", ctypes.c_uint16),
        *((name, ctypes.c_void_p) for name in ("at_more", "stdin", "stdout", "stderr", "attributes")),
    ]


class _Started(ctypes.Structure):
    """``PROCESS_INFORMATION``."""

    _fields_ = [
        ("process", ctypes.c_void_p),
        ("thread", ctypes.c_void_p),
        ("number", ctypes.c_uint32),
        ("thread_number", ctypes.c_uint32),
    ]


def held(folder: str, argv: list[str], *, processes: int, memory: int) -> int:
    """Run a program behind the wall; its exit code. Raises OSError where it cannot be held."""
    kernel = _kernel()
    make_open_folder(folder)
    job = JobObject(processes=processes, memory=memory, walled=True)
    try:
        with powerless() as token:
            started = _suspended(kernel, token, folder, argv)
        try:
            try:
                job.add(started.process)
            except OSError:
                kernel.TerminateProcess(started.process, NOT_HELD)
                raise
            kernel.ResumeThread(started.thread)
            kernel.WaitForSingleObject(started.process, _FOREVER)
            code = ctypes.c_uint32()
            kernel.GetExitCodeProcess(started.process, ctypes.byref(code))
            return code.value
        finally:
            kernel.CloseHandle(started.thread)
            kernel.CloseHandle(started.process)
    finally:
        job.close()


def _suspended(kernel: Any, token: int, folder: str, argv: list[str]) -> _Started:
    """The process with its first instruction still to come. Raises OSError."""
    ends = [kernel.GetStdHandle(number) for number in _ENDS]
    inherited = list(dict.fromkeys(end for end in ends if end and end != _HANDLE(-1).value))
    for end in inherited:
        kernel.SetHandleInformation(end, 1, 1)
    listed, size = (_HANDLE * len(inherited))(*inherited), ctypes.c_size_t()
    kernel.InitializeProcThreadAttributeList(None, 1, 0, ctypes.byref(size))
    attributes = ctypes.create_string_buffer(size.value)
    _done(kernel.InitializeProcThreadAttributeList(attributes, 1, 0, ctypes.byref(size)))
    try:
        _done(kernel.UpdateProcThreadAttribute(attributes, 0, _HANDLE_LIST, listed, ctypes.sizeof(listed), None, None))
        startup = _Startup(size=ctypes.sizeof(_Startup), flags=_STD_HANDLES, attributes=ctypes.addressof(attributes))
        startup.stdin, startup.stdout, startup.stderr = ends
        started, line = _Started(), ctypes.create_unicode_buffer(subprocess.list2cmdline(argv))
        flags = _EXTENDED | _NO_WINDOW | SUSPENDED
        security = ctypes.WinDLL("advapi32", use_last_error=True)
        given = (None, line, None, None, 1, flags, None, folder, ctypes.byref(startup), ctypes.byref(started))
        _done(security.CreateProcessAsUserW(_HANDLE(token), *given))
        return started
    finally:
        kernel.DeleteProcThreadAttributeList(attributes)


def _kernel() -> Any:
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.GetStdHandle.restype = _HANDLE
    kernel.SetHandleInformation.argtypes = (_HANDLE, ctypes.c_uint32, ctypes.c_uint32)
    kernel.UpdateProcThreadAttribute.argtypes = (
        *(_HANDLE, ctypes.c_uint32, ctypes.c_size_t, _HANDLE, ctypes.c_size_t),
        *(_HANDLE, _HANDLE),
    )
    for name in ("ResumeThread", "CloseHandle"):
        getattr(kernel, name).argtypes = (_HANDLE,)
    for name in ("TerminateProcess", "WaitForSingleObject"):
        getattr(kernel, name).argtypes = (_HANDLE, ctypes.c_uint32)
    kernel.GetExitCodeProcess.argtypes = (_HANDLE, _HANDLE)
    return kernel


def _done(worked: int) -> None:
    if not worked:
        raise ctypes.WinError(ctypes.get_last_error())


def main(words: list[str]) -> int:
    """The program's exit code, or ``NOT_HELD``."""
    folder, processes, memory, *argv = words
    try:
        return held(folder, argv, processes=int(processes), memory=int(memory))
    except OSError as error:
        sys.stderr.write(f"not started, for it cannot be held: {error}\n")
        return NOT_HELD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
