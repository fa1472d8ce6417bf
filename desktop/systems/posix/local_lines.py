"""Lines on Linux and macOS: sockets in a folder. The system says who is at the other end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

if sys.platform == "win32":
    raise ImportError("Python has no sockets of this kind on Windows")

Receive = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LONGEST = 100
"""Bytes that the system allows a socket's path, with a little to spare."""


def is_too_long(address: Path) -> bool:
    """Whether no line can be had at that path."""
    return len(os.fsencode(address)) > LONGEST


def connect(address: str | Path, timeout: float) -> socket.socket:
    """A line to whoever listens there. Blocks for so many seconds at most, here and later. Raises OSError."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.settimeout(timeout)
        line.connect(os.fspath(address))
    except BaseException:
        line.close()
        raise
    return line


async def reach(address: str | Path) -> socket.socket:
    """The same without blocking. Raises OSError."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.setblocking(False)
        await asyncio.get_running_loop().sock_connect(line, os.fspath(address))
    except BaseException:
        line.close()
        raise
    return line


async def streams(line: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Both directions of a connected line."""
    return await asyncio.open_unix_connection(sock=line)


async def listen(address: Path, receive: Receive, most: int) -> asyncio.Server:
    """Have ``receive`` answer whoever comes; ``most``: bytes of one line of text. What lies there is replaced. Raises
    OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(address)
    server = await asyncio.start_unix_server(receive, address, limit=most)
    os.chmod(address, 0o600)
    return server


def other_end(line: socket.socket) -> tuple[int, int | None]:
    """(process, user) at the other end as the system says; (0, None) where it does not say. Then the mode of the socket
    alone keeps others out."""
    if sys.platform == "linux":
        pid, uid, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        return pid, uid
    if sys.platform == "darwin":  # pragma: no cover - LOCAL_PEERCRED and LOCAL_PEERPID of sys/un.h
        _, uid = struct.unpack_from("2I", line.getsockopt(0, 1, 76))
        return struct.unpack("i", line.getsockopt(0, 2, 4))[0], uid
    return 0, None  # pragma: no cover


def own_user() -> int | None:
    """Who this process works for, as ``other_end`` says it."""
    return os.getuid()
