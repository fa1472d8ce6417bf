"""A server over stdio: its process, one message a line, every line capped; ended with all it started.

The library's own stdio client keeps an endless line in memory and adds variables of this process to the server's, so
only its message types are used here. The command comes ready from the app: bubblewrap or the launcher in front of it
ends everything below when this process dies (``PR_SET_PDEATHSIG``), and on SIGUSR1.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

Streams = tuple[Any, Any]
"""What the library reads messages from, and what it writes them to."""


class ServerProcess:
    """One life of a server. ``said`` gets what it writes to stderr, in pieces; ``failure`` is why reading ended."""

    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], said: Callable[[str], None]) -> None:
        self._argv, self._cwd, self._env = argv, cwd, env
        self._said = said
        self._process: asyncio.subprocess.Process | None = None
        self.failure = ""

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Started, with its streams; at the end its stdin is closed, then it is told, then killed."""
        process = self._process = await self._start()
        inward, read = anyio.create_memory_object_stream[Any](0)
        write, outward = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, process, inward)
            group.start_soon(self._write, process, outward)
            group.start_soon(self._listen, process)
            timeout = limits.CLOSE_TIMEOUT
            try:
                yield read, write
            except Exception:  # noqa: BLE001 - raised again: whatever went wrong, it is owed no patience
                timeout = limits.FAILED_TIMEOUT
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    for stream in (read, write):
                        stream.close()
                    await self._end(process, timeout)
                group.cancel_scope.cancel()

    async def _start(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                cwd=self._cwd,
                env=dict(self._env),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=os.name == "posix",
                limit=limits.MESSAGE_MAX,
            )
        except (OSError, ValueError) as error:
            raise CallError("mcp.not_started", getattr(error, "strerror", None) or str(error)) from error
        _unbounded(process.pid)
        return process

    # -- the three pipes ----------------------------------------------------------------------------------------------

    async def _read(self, process: asyncio.subprocess.Process, inward: Any) -> None:
        """Lines to messages, until it ends or breaks a cap."""
        assert process.stdout is not None
        garbage = 0
        async with inward:
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    self.failure = f"It sent a message of more than {limits.MESSAGE_MAX // 1024 // 1024} MB."
                    return
                except ConnectionError:
                    return
                if not line:
                    return
                message = _message(line)
                if message is None:
                    garbage += bool(line.strip())
                    if garbage > limits.GARBAGE_MAX:
                        self.failure = "It writes text to its output that is no JSON-RPC."
                        return
                    continue
                try:
                    await inward.send(message)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return

    async def _write(self, process: asyncio.subprocess.Process, outward: Any) -> None:
        """Write messages to the server as lines. A server that does not read holds up its own calls only."""
        assert process.stdin is not None
        async with outward:
            async for message in outward:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()
                except (ConnectionError, RuntimeError):
                    return

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """What it writes to stderr: the end of it, and not more often than a person reads."""
        assert process.stderr is not None
        kept, told = "", 0.0
        while True:
            wait = max(0.0, told + limits.STDERR_PAUSE - time.monotonic()) if kept else None
            try:
                async with asyncio.timeout(wait):
                    chunk = await process.stderr.read(1 << 16)
            except TimeoutError:
                chunk = None
            if chunk:
                kept = (kept + chunk.decode("utf-8", "replace"))[-limits.STDERR_PIECE :]
            over = chunk == b""
            if kept and (over or time.monotonic() >= told + limits.STDERR_PAUSE):
                self._said(kept)
                kept, told = "", time.monotonic()
            if over:
                return

    # -- the end ------------------------------------------------------------------------------------------------------

    async def _end(self, process: asyncio.subprocess.Process, timeout: float) -> None:
        if process.stdin is not None:
            process.stdin.close()
        drained = asyncio.ensure_future(_drain(process))
        try:
            for tell, wait in ((False, timeout), (True, limits.KILL_TIMEOUT)):
                if tell:
                    _signal(process.pid, getattr(signal, "SIGUSR1", signal.SIGTERM))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await process.wait()
                    break
        finally:
            _signal(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM), group=True)
            drained.cancel()
            transport = getattr(process, "_transport", None)
            if transport is not None:
                transport.close()

    @property
    def over(self) -> bool:
        """Whether it ended, or was ended for what it sent."""
        return bool(self.failure) or (self._process is not None and self._process.returncode is not None)

    def obituary(self) -> str:
        """How it ended, in words."""
        code = self._process.returncode if self._process is not None else None
        if self.failure:
            return self.failure
        if code is None:
            return "It closed its output."
        return f"It was ended by signal {-code}." if code < 0 else f"It ended with exit code {code}."

    async def gone(self, timeout: float) -> None:
        """Wait a moment for its exit code."""
        if self._process is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._process.wait()


def _message(line: bytes) -> SessionMessage | None:
    """A JSON-RPC message, or None for anything else."""
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError):
        return None


async def _drain(process: asyncio.subprocess.Process) -> None:
    """What it still writes goes nowhere: one that waits for its reader cannot end."""
    assert process.stdout is not None
    with contextlib.suppress(ConnectionError, RuntimeError):
        while await process.stdout.read(1 << 16):
            pass


def _signal(process: int, number: int, *, group: bool = False) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix" and group:
            os.killpg(process, number)
        else:
            os.kill(process, number)


def _unbounded(process: int) -> None:
    """Our own limit of memory is not the server's. Linux only; elsewhere it has ours."""
    if resource is not None and hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.prlimit(process, resource.RLIMIT_DATA, (hard, hard))
