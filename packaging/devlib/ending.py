"""A command that is told to end, by Ctrl-C or by another program, ends what it has started too."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from types import FrameType
from typing import Any

TOLD_BY = ("SIGINT", "SIGTERM", "SIGHUP")
_SETPRIV = shutil.which("setpriv") if sys.platform.startswith("linux") else None
WITH_ITS_PARENT = (_SETPRIV, "--pdeathsig", "KILL", "--") if _SETPRIV else ()
"""Stands before a command that is to end when the thread that started it ends, also when that is killed."""


class Told(BaseException):
    """A signal asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def until_told(work: Callable[[], int]) -> int:
    """The work's exit code; when a signal ends it, 128 and the signal's number, as a shell has it."""

    def told(number: int, _frame: FrameType | None) -> None:
        for name in taken:  # what is being ended is not disturbed by another one
            signal.signal(name, signal.SIG_IGN)
        raise Told(number)

    numbers = [getattr(signal, name) for name in TOLD_BY if hasattr(signal, name)]
    taken = [one for one in numbers if signal.getsignal(one) is not signal.SIG_IGN]  # as `nohup` wants it
    before = [signal.signal(one, told) for one in taken]
    try:
        return work()
    except Told as end:
        return 128 + end.number
    finally:
        for one, handler in zip(taken, before, strict=True):
            signal.signal(one, handler)


class Processes:
    """What was started, by any thread, until it is ended together; nothing is started after that."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._started: list[subprocess.Popen[bytes]] = []
        self._over = False

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        """A process that leads a session of its own."""
        with self._lock:
            if self._over:
                raise Told(signal.SIGTERM)
            command = [*WITH_ITS_PARENT, *command]
            process = subprocess.Popen(command, start_new_session=os.name == "posix", **options)
            self._started.append(process)
            return process

    def end(self) -> None:
        with self._lock:
            self._over = True
            for process in self._started:
                kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the leader of a session and all that it has started, also what leads a session of its own."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
        return
    os.killpg(process.pid, signal.SIGSTOP)  # while it is looked through, it starts nothing more
    below = _below(process.pid)
    os.killpg(process.pid, signal.SIGKILL)
    for number in below:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)


@contextlib.contextmanager
def nothing_goes_on() -> Iterator[None]:
    """What was started in the meantime ends with it, also what a signal kept this process from knowing of."""
    try:
        yield
    finally:
        for number in _below(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(number, 0)


def _below(root: int) -> list[int]:
    """The processes that a process has started, and theirs; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = [root]
    for one in found:
        found += children.get(one, [])
    return found[1:]
