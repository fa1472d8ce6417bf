"""A server program that runs beside the app for as long as a person wants it, with a file for what it writes.

Its command comes ready from the app: for one that ends with the app, with the launcher in front that ends all of it
when the app dies. One that is left running has no tie to us; only a file can take what it writes then.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from desktop.systems import open_flags, processes

LOOK_S = 0.1
GRACE_S = 1.5
LOG_MAX, LOG_KEPT = 8 << 20, 256 << 10
LOG_LOOK_EACH = 50  # looks at the process


class KeptServer:
    """One life of a server, which ends with the app if it is ``tied``. ``start`` raises OSError where it cannot be
    started."""

    def __init__(
        self, argv: Sequence[str], folder: str, environment: Mapping[str, str], log: Path, *, tied: bool = True
    ) -> None:
        self._argv, self._folder, self._environment = tuple(argv), folder, dict(environment)
        self._log = log
        self._tied = tied
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process that was started; of the launcher, where one stands in front."""
        return self._process.pid if self._process is not None else None

    @property
    def ended(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.poll() if self._process is not None else None

    def start(self) -> None:
        """Start it. From the thread that lives as long as the app: the launcher's tie is to the thread."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | open_flags.NOFOLLOW
        output = os.open(self._log, flags, 0o600)
        try:
            self._process = processes.start_blocking(
                self._argv,
                tied=self._tied,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        finally:
            os.close(output)

    async def wait(self) -> int:
        """Its exit code, once it has ended. Keeps the file of what it writes small meanwhile."""
        looks = 0
        while (code := self.ended) is None:
            await asyncio.sleep(LOOK_S)
            looks += 1
            if looks % LOG_LOOK_EACH == 0:
                await asyncio.to_thread(_shorten, self._log)
        return code

    async def end(self) -> None:
        """Ask it to end, then make it."""
        process = self._process
        if process is None:
            return
        for number in (signal.SIGTERM, processes.KILL):
            if process.poll() is not None:
                return
            _tell(process.pid, number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_S):
                    while process.poll() is None:
                        await asyncio.sleep(0.02)

    def let_go(self) -> None:
        """It goes on without us."""
        if self._process is not None and self._process.poll() is None:
            processes.let_go(self._process.pid)
            self._process.returncode = 0  # else its object warns that it was forgotten

    async def last_words(self, characters: int) -> str:
        """The end of what it wrote."""
        return await asyncio.to_thread(_tail, self._log, characters)


def _tail(log: Path, characters: int) -> str:
    try:
        with open(log, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - 4 * characters))
            return file.read(4 * characters).decode("utf-8", "replace")[-characters:]
    except OSError:
        return ""


def _shorten(log: Path) -> None:
    """Begin the file anew with its end. The server appends to it wherever it ends, and is not disturbed."""
    with contextlib.suppress(OSError), open(log, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        if size > LOG_MAX:
            file.seek(size - LOG_KEPT)
            kept = file.read(LOG_KEPT)
            file.truncate(0)
            file.seek(0)
            file.write(kept)


def _tell(process: int, number: int) -> None:
    """To its whole group where it has one: the launcher passes it on, and a program without it may have children."""
    with contextlib.suppress(OSError):
        processes.signal_all(process, number)
