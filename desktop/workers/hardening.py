"""What a child does first: one that holds keys leaves no core file and is looked into by no other program of this
person; one that reads what strangers send takes only so much of the machine's memory."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from desktop.systems import current, limits, timers

PR_SET_DUMPABLE = 4
_WITH_NETWORK = (
    "/usr",
    "/lib",
    "/lib64",
    "/etc",
    "/bin",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/dev/null",
    "/dev/urandom",
)
"""Beside Python and Assent: libraries, certificates, how names are looked up."""
THREADS_END_S = 3.0
"""Seconds that threads which are ending have for it."""


def harden() -> None:
    """No core dumps, and on Linux neither memory nor environment can be read through /proc or a debugger, except by
    root. What a system does not have is passed over: nothing else depends on it."""
    with contextlib.suppress(ValueError, OSError):
        limits.no_core_files(for_good=True)
    if current.LINUX:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def bound_memory(most: int) -> None:
    """So many bytes of memory for this process, or less where it had less; beyond it fails by itself. POSIX only."""
    with contextlib.suppress(ValueError, OSError):
        limits.bound_memory(most)


@contextlib.contextmanager
def bound_time(seconds: int) -> Iterator[None]:
    """The process ends if this takes so much of the processor: nothing that it is given to read keeps it busy for
    ever. POSIX only."""
    timers.watch(seconds)
    try:
        yield
    finally:
        timers.watch(0)


def shut_in(
    launcher: str,
    program: str,
    *,
    bounds: Sequence[str] = ("FSIZE", "NPROC"),
    reading: tuple[str, Sequence[str]] = ("", ()),
) -> bool:
    """From here on nothing can be opened, started or reached; what was asked for and cannot be done raises OSError.

    ``reading``: the filter that takes the place of ``program`` where Landlock holds the process to some folders, and
    these, whose files can be read then; whether they can."""
    for name in bounds:
        limits.bound(name, 0)
    if not launcher:
        return True
    _stands_alone()
    confinement = _walls(launcher)
    libc = confinement.ctypes.CDLL(None, use_errno=True)
    confinement.drop_capabilities(libc)
    confinement.prctl(libc, confinement.PR_SET_NO_NEW_PRIVS, 1)
    held = confinement.landlock_abi(libc) > 0
    if held:  # a second wall: the filter refuses to open anything, or anything to be written
        confinement.landlock(libc, list(reading[1]), [])
    confinement.seccomp(libc, bytes.fromhex(reading[0] if held and reading[0] else program))
    return bool(held and reading[0])


def shut_in_with_network(launcher: str, *, read: Sequence[str] = (), write: Sequence[str] = ()) -> None:
    """From here on no file can be read but programs, libraries, the settings of the network and these, and none written
    but below ``write``; other computers can be reached. Raises OSError where that was asked for and cannot be done."""
    confinement = _walls(launcher)
    libc = confinement.ctypes.CDLL(None, use_errno=True)
    if confinement.landlock_abi(libc) < 1:
        return
    confinement.drop_capabilities(libc)
    confinement.prctl(libc, confinement.PR_SET_NO_NEW_PRIVS, 1)
    own = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[1]), *read)
    given = (os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ)
    found = dict.fromkeys(os.path.realpath(path) for path in (*own, *given, *_WITH_NETWORK) if os.path.exists(path))
    confinement.landlock(libc, list(found), [os.path.realpath(path) for path in write], "25-25")


def _walls(launcher: str) -> Any:
    """The functions that shut in, read from their file. Raises OSError."""
    spec = importlib.util.spec_from_file_location("launcher", launcher)
    if spec is None or spec.loader is None:
        raise OSError("the launcher cannot be read")
    confinement = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(confinement)
    return confinement


def _stands_alone() -> None:
    """What shuts in holds the thread that asks for it and those that it starts; any other would stay outside. Raises
    OSError where there is one, such as one that a library keeps."""
    until = time.monotonic() + THREADS_END_S
    while len(os.listdir("/proc/self/task")) > 1:
        if time.monotonic() > until:
            raise OSError("another thread runs, which would not be shut in")
        time.sleep(0.005)
