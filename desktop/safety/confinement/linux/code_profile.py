"""What shuts in the worker of model-written code, and what reads documents: no files at all, no network, no other
processes (R-COD-5).

The worker does it to itself with the launcher's own functions, once its engine is loaded and before it reads a line.
The filter is a list of what is allowed, and that is short: to compute, to read and write the pipes that are there, to
end. Every other system call fails, so that not even a bug in the engine, which can run Python's own code or machine
code, opens a file, makes a socket or a process, or signals one. New memory is neither executable nor shared. Landlock,
where the kernel has it, stands behind that once more.

What draws the pages that models write (``drawing_profile``) may also start threads of its own, never a process, and
read the fonts of this computer where Landlock holds it to their folders.

Where there is no such filter (macOS, Windows, other processors) what holds is: the engine, which has no function that
reaches anything; a process of its own with an empty environment, an empty folder and no handles but its pipes; limits
on memory, time and file size (not on Windows); and the gates, for every message is checked and authorised here.
"""

from __future__ import annotations

import errno
import os
import struct
import sys

from desktop.safety.confinement.linux import launcher
from desktop.safety.confinement.linux.syscall_filter import supports

if sys.platform != "linux":
    raise ImportError("for Linux alone")

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOWED = {
    "x86_64": {
        "read": 0,
        "write": 1,
        "close": 3,
        "poll": 7,
        "mmap": 9,
        "mprotect": 10,
        "munmap": 11,
        "brk": 12,
        "rt_sigaction": 13,
        "rt_sigprocmask": 14,
        "rt_sigreturn": 15,
        "select": 23,
        "sched_yield": 24,
        "mremap": 25,
        "madvise": 28,
        "nanosleep": 35,
        "setitimer": 38,
        "exit": 60,
        "gettimeofday": 96,
        "sigaltstack": 131,
        "time": 201,
        "futex": 202,
        "restart_syscall": 219,
        "clock_gettime": 228,
        "clock_nanosleep": 230,
        "exit_group": 231,
        "pselect6": 270,
        "ppoll": 271,
        "getrandom": 318,
        "rseq": 334,
    },
    "aarch64": {
        "read": 63,
        "write": 64,
        "close": 57,
        "mmap": 222,
        "mprotect": 226,
        "munmap": 215,
        "brk": 214,
        "rt_sigaction": 134,
        "rt_sigprocmask": 135,
        "rt_sigreturn": 139,
        "sched_yield": 124,
        "mremap": 216,
        "madvise": 233,
        "nanosleep": 101,
        "setitimer": 103,
        "exit": 93,
        "gettimeofday": 169,
        "sigaltstack": 132,
        "futex": 98,
        "restart_syscall": 128,
        "clock_gettime": 113,
        "clock_nanosleep": 115,
        "exit_group": 94,
        "pselect6": 72,
        "ppoll": 73,
        "getrandom": 278,
        "rseq": 293,
    },
}
_OWN_NUMBER = {"x86_64": 39, "aarch64": 172}
"""``getpid``: a loop of asyncio asks for it."""
_THREADS = {
    "x86_64": {"clone": 56, "gettid": 186, "sched_getaffinity": 204, "set_robust_list": 273},
    "aarch64": {"clone": 220, "gettid": 178, "sched_getaffinity": 123, "set_robust_list": 99},
}
_CLONE3 = 435
"""Says in memory, where no filter sees it, whether it makes a thread or a process: it is said not to exist, and who
wanted a thread takes ``clone``."""
_FONTS = {
    "x86_64": {
        "fstat": 5,
        "lseek": 8,
        "pread64": 17,
        "fcntl": 72,
        "getcwd": 79,
        "readlink": 89,
        "getdents64": 217,
        "openat": 257,
        "newfstatat": 262,
        "faccessat": 269,
        "statx": 332,
        "faccessat2": 439,
    },
    "aarch64": {
        "getcwd": 17,
        "fcntl": 25,
        "faccessat": 48,
        "openat": 56,
        "getdents64": 61,
        "lseek": 62,
        "pread64": 67,
        "readlinkat": 78,
        "newfstatat": 79,
        "fstat": 80,
        "statx": 291,
        "faccessat2": 439,
    },
}
_EXECUTABLE, _SHARED, _WRITABLE, _ANONYMOUS = 4, 1, 2, 0x20
_WATCHED = {"mmap": ((2, _EXECUTABLE), (3, _SHARED)), "mprotect": ((2, _EXECUTABLE),)}
"""Bits of an argument that are refused: memory that is executable, and memory that is shared, which no limit counts."""
_HANDLED = (0, 1, 2, 3, 1030)
"""What ``fcntl`` may do: copy a handle, read and set whether it outlives the process, tell how it was opened. Others of
it have the kernel send any signal to any process of this person when something comes on a pipe."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EPERM
_ABSENT = 0x00050000 | errno.ENOSYS
_AS_A_THREAD = 0x00010000
"""``CLONE_THREAD``."""
Step = tuple[int, int, int, int]
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


def only_computing(machine: str, *, in_a_loop: bool = False, threads: bool = False, fonts: bool = False) -> bytes:
    """The filter as ``struct sock_filter[]``. ``in_a_loop``: what computes has a loop of asyncio. ``threads``: it may
    start threads. ``fonts``: it may open files to read them; where they may lie is for Landlock to hold. Raises
    KeyError for a processor whose calls are not known here."""
    allowed = _ALLOWED[machine] | ({"getpid": _OWN_NUMBER[machine]} if in_a_loop else {})
    allowed |= (_THREADS[machine] if threads else {}) | (_FONTS[machine] if fonts else {})
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _DENY),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if threads:
        steps += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ABSENT)]
    for name, number in allowed.items():
        body = _refused(name, files=fonts)
        steps += [(_EQUAL, 0, len(body) + 1, number), *body, (_RETURN, 0, 0, _ALLOW)]
    steps.append((_RETURN, 0, 0, _DENY))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _refused(name: str, *, files: bool) -> list[Step]:
    """What of an allowed call is refused, by its arguments."""
    if name == "clone":
        return [_argument(0), (_ANY_BIT, 1, 0, _AS_A_THREAD), (_RETURN, 0, 0, _DENY)]
    if name == "openat":
        return [_argument(2), (_ANY_BIT, 0, 1, _WRITES), (_RETURN, 0, 0, _DENY)]
    if name == "fcntl":
        known = [(_EQUAL, len(_HANDLED) - at, 0, command) for at, command in enumerate(_HANDLED)]
        return [_argument(1), *known, (_RETURN, 0, 0, _DENY)]
    watched = _WATCHED.get(name, ())
    body: list[Step] = []
    if name == "mmap" and files:  # a file that is only read may be shared memory; anything else may not
        watched = ((2, _EXECUTABLE),)
        body += [_argument(3), (_ANY_BIT, 0, 4, _SHARED), (_ANY_BIT, 2, 0, _ANONYMOUS)]
        body += [_argument(2), (_ANY_BIT, 0, 1, _WRITABLE), (_RETURN, 0, 0, _DENY)]
    for argument, bits in watched:
        body += [_argument(argument), (_ANY_BIT, 0, 1, bits), (_RETURN, 0, 0, _DENY)]
    return body


def _argument(number: int) -> Step:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * number)


def code_sandbox_profile(*, in_a_loop: bool = False) -> tuple[str, str]:
    """(the file that knows how, the filter of system calls in hexadecimal), or two empty texts where the system has no
    such sandbox: then the engine's own emptiness and the process are what holds."""
    if not supports(os.uname().machine):
        return "", ""
    return launcher.__file__, only_computing(os.uname().machine, in_a_loop=in_a_loop).hex()


def drawing_profile() -> tuple[str, str, str]:
    """The same for what draws pages: (the file that knows how, the filter, the filter where Landlock holds it to the
    folders of fonts)."""
    if not supports(os.uname().machine):
        return "", "", ""
    strict, fonts = (
        only_computing(os.uname().machine, in_a_loop=True, threads=True, fonts=fonts).hex() for fonts in (False, True)
    )
    return launcher.__file__, strict, fonts
