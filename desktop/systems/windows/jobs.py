"""Job objects: what holds a process together with all that it starts, whoever their parents are, and ends them all.

A process joins before its first instruction runs, so that nothing of it is outside; what it starts is inside by itself,
and no flag lets it out. The last handle to a job is ours: when we are gone, however we ended, so is everything in it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from typing import Any

if sys.platform != "win32":
    raise ImportError("for Windows alone")

ENDED_BY_US = 1
"""Exit code of what was ended with its job."""
SUSPENDED = 0x4
"""Of ``CreateProcess``: its first instruction waits for ``join``."""
_KILL_ON_CLOSE, _ACTIVE_PROCESSES, _PROCESS_MEMORY, _JOB_MEMORY = 0x2000, 0x8, 0x100, 0x200
_DIE_ON_EXCEPTION = 0x400
_ACCOUNTING, _UI, _EXTENDED = 1, 4, 9
_ALL_UI = 0xFF
"""No handles of others' windows, no clipboard, no settings of the system, no desktop, no end of the session."""
_TO_JOIN = 0x0100 | 0x0001 | 0x0800 | 0x0400
"""Rights to a process: set its quota, end it, go on with it, ask about it."""


class _Accounting(ctypes.Structure):
    """``JOBOBJECT_BASIC_ACCOUNTING_INFORMATION``."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("user", "kernel", "period_user", "period_kernel")),
        *((name, ctypes.c_uint32) for name in ("faults", "processes", "active", "ended")),
    ]


class _Basic(ctypes.Structure):
    """``JOBOBJECT_BASIC_LIMIT_INFORMATION``."""

    _fields_ = [
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_set", ctypes.c_size_t),
        ("most_set", ctypes.c_size_t),
        ("active", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    ]


class _Extended(ctypes.Structure):
    """``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``."""

    _fields_ = [
        ("basic", _Basic),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process", ctypes.c_size_t),
        ("peak_job", ctypes.c_size_t),
    ]


class JobObject:
    """One job object. Closing it, or the end of our process, ends all in it, unless it was made not to (``tied``).

    ``processes``: how many there may be at once. ``memory``: bytes of all together, ``process_memory`` of each; 0 means
    no limit. ``walled``: nothing of the desktop is reached (windows of others, the clipboard). Raises OSError.
    """

    def __init__(
        self, *, tied: bool = True, processes: int = 0, memory: int = 0, process_memory: int = 0, walled: bool = False
    ) -> None:
        self._kernel = _kernel()
        self._handle = self._kernel.CreateJobObjectW(None, None)
        if not self._handle:
            raise ctypes.WinError(ctypes.get_last_error())
        flags = _DIE_ON_EXCEPTION | (_KILL_ON_CLOSE if tied else 0)
        flags |= (_ACTIVE_PROCESSES if processes else 0) | (_JOB_MEMORY if memory else 0)
        flags |= _PROCESS_MEMORY if process_memory else 0
        limits = _Extended(
            basic=_Basic(flags=flags, active=processes), job_memory=memory, process_memory=process_memory
        )
        try:
            self._set(_EXTENDED, limits)
            if walled:
                self._set(_UI, ctypes.c_uint32(_ALL_UI))
        except OSError:
            self.close()
            raise

    def _set(self, what: int, value: Any) -> None:
        done = self._kernel.SetInformationJobObject(self._handle, what, ctypes.byref(value), ctypes.sizeof(value))
        if not done:
            raise ctypes.WinError(ctypes.get_last_error())

    def add(self, process: int) -> None:
        """Put a process in, by its handle. Raises OSError."""
        if not self._kernel.AssignProcessToJobObject(self._handle, ctypes.c_void_p(process)):
            raise ctypes.WinError(ctypes.get_last_error())

    def active(self) -> int:
        """How many processes in it run; 0 where it does not say."""
        found = _Accounting()
        size = ctypes.sizeof(found)
        asked = self._kernel.QueryInformationJobObject(self._handle, _ACCOUNTING, ctypes.byref(found), size, None)
        return int(found.active) if asked else 0

    def end(self) -> None:
        """End everything in it. Raises OSError."""
        if not self._kernel.TerminateJobObject(self._handle, ENDED_BY_US):
            raise ctypes.WinError(ctypes.get_last_error())

    def close(self) -> None:
        """Let go of it."""
        handle, self._handle = self._handle, None
        if handle:
            self._kernel.CloseHandle(handle)


class Jobs:
    """The jobs of processes that we have started, by the number of the first process in each."""

    def __init__(self) -> None:
        self._jobs: dict[int, JobObject] = {}

    def join(self, process: int, limits: Mapping[str, Any]) -> None:
        """Put a process that was started ``SUSPENDED`` in a job of its own and let it go on; ``limits``: what
        ``JobObject`` takes. Raises OSError, and has ended it then: what nothing holds does not run."""
        self._forget_ended()
        kernel, native = _kernel(), ctypes.WinDLL("ntdll")
        handle = kernel.OpenProcess(_TO_JOIN, 0, process)
        if not handle:
            raise ctypes.WinError(ctypes.get_last_error())
        try:
            job = JobObject(**limits)
            try:
                job.add(handle)
                if status := native.NtResumeProcess(ctypes.c_void_p(handle)):
                    raise OSError(f"it does not go on (NTSTATUS {status & 0xFFFFFFFF:#x})")
            except OSError:
                job.close()
                raise
            self._jobs[process] = job
        except OSError:
            kernel.TerminateProcess(ctypes.c_void_p(handle), ENDED_BY_US)
            raise
        finally:
            kernel.CloseHandle(ctypes.c_void_p(handle))

    def end(self, process: int) -> bool:
        """End everything in the job of this process; False where it has none."""
        job = self._jobs.pop(process, None)
        if job is None:
            return False
        try:
            job.end()
        finally:
            job.close()
        return True

    def let_go(self, process: int) -> None:
        """What is in the job of this process goes on without us, if it was made for that."""
        if (job := self._jobs.pop(process, None)) is not None:
            job.close()

    def _forget_ended(self) -> None:
        for process, job in list(self._jobs.items()):
            if not job.active() and self._jobs.pop(process, None) is not None:
                job.close()


def _kernel() -> Any:
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    handle, flag = ctypes.c_void_p, ctypes.c_int
    kernel.CreateJobObjectW.argtypes, kernel.CreateJobObjectW.restype = (handle, ctypes.c_wchar_p), handle
    kernel.SetInformationJobObject.argtypes = (handle, flag, handle, ctypes.c_uint32)
    kernel.QueryInformationJobObject.argtypes = (handle, flag, handle, ctypes.c_uint32, handle)
    kernel.AssignProcessToJobObject.argtypes = (handle, handle)
    kernel.TerminateJobObject.argtypes = (handle, ctypes.c_uint32)
    kernel.TerminateProcess.argtypes = (handle, ctypes.c_uint32)
    kernel.OpenProcess.argtypes, kernel.OpenProcess.restype = (ctypes.c_uint32, flag, ctypes.c_uint32), handle
    kernel.CloseHandle.argtypes = (handle,)
    return kernel
