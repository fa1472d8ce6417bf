"""Lines on Windows: a port of this computer alone, and a secret in a file at the path, which whoever comes says first.

Python has no sockets in folders there. Any program of the computer can reach the port; who cannot read the file does
not know the secret, and is sent away before anything that it says is read. The file is as private as the folder in
which it lies: that of the person's profile is.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from desktop.systems import open_flags

Receive = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HOST = "127.0.0.1"
SECRET = 32
PATIENCE_S = 5.0
"""Seconds in which whoever comes has said the secret."""
_LONGEST_FILE = 200


def is_too_long(address: Path) -> bool:  # noqa: ARG001 - as on other systems
    """Whether no line can be had at that path: a file lies there, for which no other limit holds."""
    return False


def connect(address: str | Path, timeout: float) -> socket.socket:
    """A line to whoever listens there. Blocks for so many seconds at most, here and later. Raises OSError."""
    port, secret = _told(address)
    line = socket.create_connection((HOST, port), timeout)
    try:
        line.sendall(secret)
    except BaseException:
        line.close()
        raise
    return line


async def reach(address: str | Path) -> socket.socket:
    """The same without blocking. Raises OSError."""
    port, secret = await asyncio.to_thread(_told, address)
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        line.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(line, (HOST, port))
        await loop.sock_sendall(line, secret)
    except BaseException:
        line.close()
        raise
    return line


async def streams(line: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Both directions of a connected line."""
    return await asyncio.open_connection(sock=line)


async def listen(address: Path, receive: Receive, most: int) -> asyncio.Server:
    """Have ``receive`` answer whoever comes and knows the secret; ``most``: bytes of one line of text. What lies there
    is replaced. Raises OSError."""
    secret = secrets.token_hex(SECRET).encode() + b"\n"

    async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await _knows(reader, secret):
            await receive(reader, writer)
        else:
            writer.close()

    server = await asyncio.start_server(first, HOST, 0, limit=most)
    try:
        _tell(address, server.sockets[0].getsockname()[1], secret)
    except BaseException:
        server.close()
        raise
    return server


async def _knows(reader: asyncio.StreamReader, secret: bytes) -> bool:
    try:
        async with asyncio.timeout(PATIENCE_S):
            said = await reader.readexactly(len(secret))
    except (OSError, EOFError, TimeoutError):
        return False
    return hmac.compare_digest(said, secret)


def _tell(address: Path, port: int, secret: bytes) -> None:
    """Whole or not at all: who reads half of it would be told nobody listens."""
    half = address.with_name(f"{address.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        half.unlink()
    file = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags.BINARY, 0o600)
    try:
        os.write(file, b"%d " % port + secret)
    finally:
        os.close(file)
    os.replace(half, address)


def _told(address: str | Path) -> tuple[int, bytes]:
    """The port, and the secret as it is said. Raises OSError for what is none of ours."""
    with open(address, "rb") as file:
        port, _, secret = file.read(_LONGEST_FILE).partition(b" ")
    if not port.isdigit() or not 0 < int(port) < 1 << 16 or len(secret) != 2 * SECRET + 1:
        raise OSError(f"{address} names no line")
    return int(port), secret


def other_end(line: socket.socket) -> tuple[int, int | None]:  # noqa: ARG001 - as on other systems
    """Windows does not say who is at the other end: the secret alone keeps others out."""
    return 0, None


def own_user() -> int | None:
    """Nothing to compare with."""
    return None
