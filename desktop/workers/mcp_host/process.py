"""A server over stdio: a program whose lines are messages of the protocol.

The library's own stdio client keeps an endless line in memory and adds variables of this process to the server's, so
only its message types are used here.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.stdio_process import LineTooLong, StdioLimits, StdioProcess

Streams = tuple[Any, Any]
"""What the library reads messages from, and what it writes them to."""


class ServerProcess:
    """One life of a server. ``said`` gets what it writes to stderr, in pieces; ``failure`` is why reading ended."""

    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], said: Callable[[str], None]) -> None:
        capped = StdioLimits(
            limits.MESSAGE_MAX, limits.STDERR_PIECE, limits.STDERR_PAUSE, limits.CLOSE_TIMEOUT, limits.KILL_TIMEOUT
        )
        self._program = StdioProcess(argv, cwd, env, said, capped)
        self.failure = ""

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Started, with its streams; at the end its stdin is closed, then it is told, then killed."""
        try:
            await self._program.start()
        except (OSError, ValueError) as error:
            raise CallError("mcp.not_started", getattr(error, "strerror", None) or str(error)) from error
        inward, read = anyio.create_memory_object_stream[Any](0)
        write, outward = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, inward)
            group.start_soon(self._write, outward)
            patience = limits.CLOSE_TIMEOUT
            try:
                yield read, write
            except Exception:  # noqa: BLE001 - raised again: whatever went wrong, it is owed no patience
                patience = limits.FAILED_TIMEOUT
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    for stream in (read, write):
                        stream.close()
                    await self._program.end(patience)
                group.cancel_scope.cancel()

    async def _read(self, inward: Any) -> None:
        """Lines to messages, until it ends or breaks a cap."""
        garbage = 0
        async with inward:
            while line := await self._line():
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

    async def _line(self) -> bytes:
        try:
            return await self._program.line()
        except LineTooLong as error:
            self.failure = str(error)
            return b""

    async def _write(self, outward: Any) -> None:
        """Write messages to the server as lines. A server that does not read holds up its own calls only."""
        async with outward:
            async for message in outward:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await self._program.write(text.encode() + b"\n")
                except ConnectionError:
                    return

    def obituary(self) -> str:
        """How it ended, in words."""
        return self.failure or self._program.obituary()


def _message(line: bytes) -> SessionMessage | None:
    """A JSON-RPC message, or None for anything else."""
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError):
        return None
