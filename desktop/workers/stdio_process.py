"""A program that a host talks to over its pipes, one message a line: each line capped, ended with all it started.

The command comes ready from the app: bubblewrap or the launcher in front of it ends everything below when the host dies
(``PR_SET_PDEATHSIG``), and on SIGUSR1.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.systems import limits, processes


@dataclass(frozen=True, slots=True)
class StdioLimits:
    """How much of a program is read, and how patient its end is. Times are seconds."""

    message: int
    """Bytes of one line."""
    stderr_piece: int = 4_000
    """Characters of stderr that are told at once: the last ones."""
    stderr_pause: float = 0.25
    """Between two of these."""
    close: float = 1.0
    """For a program whose stdin was closed."""
    kill: float = 1.0
    """For one that was told to end."""


LAST_WORDS_S = 0.2
"""For what it wrote to stderr before it ended."""


class LineTooLong(Exception):
    """A message of more bytes than are read."""


class StdioProcess:
    """One life of a program. ``said`` gets what it writes to stderr, in pieces. Raises OSError where it cannot be
    started."""

    def __init__(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], said: Callable[[str], None], limits: StdioLimits
    ) -> None:
        self._argv, self._cwd, self._env = argv, cwd, env
        self._said = said
        self._limits = limits
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the program, and listen to its stderr."""
        pipe = asyncio.subprocess.PIPE
        self._process = await processes.start(
            *self._argv,
            cwd=self._cwd,
            env=dict(self._env),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=self._limits.message,
        )
        limits.free_memory_of(self._process.pid)
        self._listening = asyncio.ensure_future(self._listen(self._process))

    async def line(self) -> bytes:
        """The next line, or b"" at the end. Raises LineTooLong."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readline()
        except ValueError:
            raise LineTooLong(f"It sent a message of more than {self._limits.message // 1024 // 1024} MB.") from None
        except ConnectionError:
            return b""

    async def write(self, line: bytes) -> None:
        """Send a line; waits while the program does not read. Raises ConnectionError when it is gone."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            await self._process.stdin.drain()
        except RuntimeError as error:
            raise ConnectionError(str(error)) from error

    async def end(self, patience: float | None = None) -> None:
        """Close its stdin, then tell it, then kill it and all it started."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        drained = asyncio.ensure_future(_drain(process))
        first = self._limits.close if patience is None else patience
        try:
            for tell, wait in ((False, first), (True, self._limits.kill)):
                if tell:
                    _signal(process.pid, processes.TELL)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await process.wait()
                    break
        finally:
            _signal(process.pid, processes.KILL, group=True)
            drained.cancel()
            if self._listening is not None:
                await _heard_out(self._listening)
            transport = getattr(process, "_transport", None)
            if transport is not None:
                transport.close()

    def obituary(self) -> str:
        """How it ended, in words."""
        code = self._process.returncode if self._process is not None else None
        if code is None:
            return "It closed its output."
        return f"It was ended by signal {-code}." if code < 0 else f"It ended with exit code {code}."

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """What it writes to stderr: the end of it, and not more often than a person reads."""
        assert process.stderr is not None
        kept, told, limits = "", 0.0, self._limits
        while True:
            wait = max(0.0, told + limits.stderr_pause - time.monotonic()) if kept else None
            try:
                async with asyncio.timeout(wait):
                    chunk = await process.stderr.read(1 << 16)
            except TimeoutError:
                chunk = None
            if chunk:
                kept = (kept + chunk.decode("utf-8", "replace"))[-limits.stderr_piece :]
            over = chunk == b""
            if kept and (over or time.monotonic() >= told + limits.stderr_pause):
                self._said(kept)
                kept, told = "", time.monotonic()
            if over:
                return


async def _drain(process: asyncio.subprocess.Process) -> None:
    """What it still writes goes nowhere: one that waits for its reader cannot end."""
    assert process.stdout is not None
    with contextlib.suppress(ConnectionError, RuntimeError):
        while await process.stdout.read(1 << 16):
            pass


async def _heard_out(listening: asyncio.Task[None]) -> None:
    """Its last words are heard, unless somebody else holds its stderr open."""
    try:
        await asyncio.wait([listening], timeout=LAST_WORDS_S)
    finally:
        listening.cancel()


def _signal(process: int, number: int, *, group: bool = False) -> None:
    with contextlib.suppress(OSError):
        (processes.signal_all if group else processes.signal_one)(process, number)
