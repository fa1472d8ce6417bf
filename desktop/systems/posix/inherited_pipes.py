"""Pipes on Linux and macOS: asyncio has them."""

from __future__ import annotations

import asyncio
import os
import sys

if sys.platform == "win32":
    raise ImportError("for Linux and macOS")


async def reader_of(descriptor: int, limit: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    """Reads what comes; ``limit`` as of asyncio's streams. Closing the transport closes it. Raises ValueError for what
    is no pipe."""
    reader = asyncio.StreamReader(limit=limit)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    return reader, transport


async def writer_of(descriptor: int) -> asyncio.StreamWriter:
    """Writes into it. Raises ValueError for what is no pipe."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(descriptor, "wb", 0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
