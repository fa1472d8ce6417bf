"""Lines on Windows: a port of this computer alone, and a secret in a file at the path, which both ends know.

Python has no sockets in folders there. Any program of the computer can reach the port, and can take it once we have
ended, while the file still names it. So neither end says the secret: each sends a number used once, and proves with it
that it has read the file. Who cannot is left before anything that it says is read, or anything is said to it. The file
is as private as the folder in which it lies: that of the person's profile is.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
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
"""Bytes of the secret, of a number used once, and of a proof."""
PATIENCE_S = 5.0
"""Seconds in which the other end has proved that it knows the secret."""
MOST_WAITING = 32
"""Who has come and proved nothing yet: one more, and the one that waits longest has to go. Who knows the secret says so
at once, so that a crowd of others neither keeps it out nor takes all that the process may open."""
_LONGEST_FILE = 200
_LISTENS, _COMES = b"listens", b"comes"


def is_too_long(address: Path) -> bool:  # noqa: ARG001 - as on other systems
    """Whether no line can be had at that path: a file lies there, for which no other limit holds."""
    return False


def connect(address: str | Path, timeout: float) -> socket.socket:
    """A line to whoever listens there. Blocks for so many seconds at most, here and later. Raises OSError."""
    port, secret = _told(address)
    line = socket.create_connection((HOST, port), timeout)
    try:
        mine = secrets.token_bytes(SECRET)
        line.sendall(mine)
        said = b""
        while len(said) < 2 * SECRET:
            said += _more(line.recv(2 * SECRET - len(said)))
        line.sendall(_answer(secret, mine, said))
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
        loop, mine = asyncio.get_running_loop(), secrets.token_bytes(SECRET)
        async with asyncio.timeout(PATIENCE_S):
            await loop.sock_connect(line, (HOST, port))
            await loop.sock_sendall(line, mine)
            said = b""
            while len(said) < 2 * SECRET:
                said += _more(await loop.sock_recv(line, 2 * SECRET - len(said)))
            await loop.sock_sendall(line, _answer(secret, mine, said))
    except BaseException:
        line.close()
        raise
    return line


def _more(said: bytes) -> bytes:
    if not said:
        raise ConnectionError("it ended before it had proved who it is")
    return said


def _proof(secret: bytes, who: bytes, comes: bytes, listens: bytes) -> bytes:
    """What only who knows the secret can say, and of no use at the next line."""
    return hmac.digest(secret, who + comes + listens, hashlib.sha256)


def _answer(secret: bytes, mine: bytes, said: bytes) -> bytes:
    """Our proof, for who listens and has proved itself. Raises PermissionError."""
    listens, proof = said[:SECRET], said[SECRET:]
    if not hmac.compare_digest(proof, _proof(secret, _LISTENS, mine, listens)):
        raise PermissionError("what listens there is another program")
    return _proof(secret, _COMES, mine, listens)


async def streams(line: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Both directions of a connected line."""
    return await asyncio.open_connection(sock=line)


async def listen(address: Path, receive: Receive, most: int, *, patience: float = PATIENCE_S) -> asyncio.Server:
    """Have ``receive`` answer whoever comes and knows the secret; ``most``: bytes of one line of text. What lies there
    is replaced. Raises OSError."""
    secret = secrets.token_hex(SECRET).encode()
    waiting: dict[asyncio.StreamWriter, None] = {}

    async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting[writer] = None
        if len(waiting) > MOST_WAITING:
            longest = next(iter(waiting))
            del waiting[longest]
            longest.transport.abort()
        try:
            known = await _knows(reader, writer, secret, patience)
        finally:
            waiting.pop(writer, None)
        if known:
            await receive(reader, writer)
        else:
            writer.transport.abort()

    server = await asyncio.start_server(first, HOST, 0, limit=most)
    try:
        _tell(address, server.sockets[0].getsockname()[1], secret)
    except BaseException:
        server.close()
        raise
    return server


async def _knows(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: bytes, patience: float) -> bool:
    try:
        async with asyncio.timeout(patience):
            comes, listens = await reader.readexactly(SECRET), secrets.token_bytes(SECRET)
            writer.write(listens + _proof(secret, _LISTENS, comes, listens))
            said = await reader.readexactly(SECRET)
    except (OSError, EOFError, TimeoutError):
        return False
    return hmac.compare_digest(said, _proof(secret, _COMES, comes, listens))


def _tell(address: Path, port: int, secret: bytes) -> None:
    """Whole or not at all: who reads half of it would be told nobody listens."""
    half = address.with_name(f"{address.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        half.unlink()
    file = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags.BINARY, 0o600)
    try:
        try:
            os.write(file, b"%d " % port + secret)
        finally:
            os.close(file)
        os.replace(half, address)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def _told(address: str | Path) -> tuple[int, bytes]:
    """The port and the secret. Raises OSError for what is none of ours."""
    with open(address, "rb") as file:
        port, _, secret = file.read(_LONGEST_FILE).partition(b" ")
    if not port.isdigit() or not 0 < int(port) < 1 << 16 or len(secret) != 2 * SECRET:
        raise OSError(f"{address} names no line")
    return int(port), secret


def other_end(line: socket.socket) -> tuple[int, int | None]:  # noqa: ARG001 - as on other systems
    """Windows does not say who is at the other end: the secret alone keeps others out."""
    return 0, None


def own_user() -> int | None:
    """Nothing to compare with."""
    return None
