"""MCP by stdin and stdout: a message a line, written in batches, and no line longer than a message may be.

The SDK's own transport hands each line to a thread and back, which takes longer than all the rest, and reads lines of
any length.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from desktop.systems import inherited_pipes

LINE_MAX = 8 * 1024 * 1024
"""Bytes of a message; a client that sends a longer one is left."""
BATCH = 128 * 1024
WAITING = 1_000
"""Messages that wait to be written; who has more to say waits, too."""


@contextlib.asynccontextmanager
async def stdio() -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's pair of streams over this process's stdin and stdout. What anything else prints goes to stderr."""
    inward, outward = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    reader, readable = await inherited_pipes.reader_of(inward, LINE_MAX)
    writer = await inherited_pipes.writer_of(outward)
    to_server, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, from_server = anyio.create_memory_object_stream[SessionMessage](WAITING)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_read, reader, to_server)
            group.start_soon(_write, writer, from_server)
            yield read_stream, write_stream
            group.cancel_scope.cancel()
    finally:
        readable.close()
        writer.close()


async def _read(reader: asyncio.StreamReader, to_server: Any) -> None:
    async with to_server:
        while True:
            try:
                line = await reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
                if not line.strip():
                    return
            except asyncio.LimitOverrunError:
                sys.stderr.write(f"assent: a message of more than {LINE_MAX:,} bytes: this client is left\n")
                return
            if not line.strip():
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError as error:
                await to_server.send(error)
                continue
            await to_server.send(SessionMessage(message))


async def _write(writer: asyncio.StreamWriter, from_server: Any) -> None:
    async with from_server:
        with contextlib.suppress(OSError):
            async for first in from_server:
                batch = bytearray(_line(first))
                while len(batch) < BATCH:
                    try:
                        batch += _line(from_server.receive_nowait())
                    except (anyio.WouldBlock, anyio.EndOfStream):
                        break
                writer.write(bytes(batch))
                await writer.drain()


def _line(message: SessionMessage) -> bytes:
    text: str = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"
