"""The way in from a program outside: a connection through the socket of a home that somebody has open."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop import __version__
from desktop.app.door import wire
from desktop.app.door.peer import Peer
from desktop.domain.errors import KnownError
from desktop.systems import local_lines

OPEN = b"door\n"
"""The line that begins a connection of this kind."""
GREETING_S = 10.0
NOBODY, NO_ANSWER = "app.not_running", "app.no_answer"


async def connect(address: Path, hello: Mapping[str, Any]) -> tuple[Peer, Mapping[str, Any]]:
    """A connection with whoever has the home, and its greeting; the caller awaits ``serve``. ``hello`` has ``kind`` and
    ``name``. Raises KnownError: ``app.not_running`` where nobody listens, or why it may not come in."""
    try:
        line = await local_lines.reach(address)
    except OSError as error:
        raise KnownError(
            "Assent does not run with this home.", next_step="Start it, or name its home: --home DIR.", code=NOBODY
        ) from error
    return await greet(line, hello, OPEN)


async def greet(line: socket.socket, hello: Mapping[str, Any], first: bytes = b"") -> tuple[Peer, Mapping[str, Any]]:
    """The same over a socket that is connected already."""
    reader, writer = await local_lines.streams(line)
    peer = Peer(reader, writer, "Assent")
    writer.write(first)
    try:
        async with asyncio.timeout(GREETING_S):
            await peer.greet({"version": __version__, **hello})
            return peer, await peer.greeting()
    except (OSError, EOFError, TimeoutError, wire.BadFrame) as error:
        await peer.leave()
        raise KnownError("Assent gave no answer.", next_step="Try again in a moment.", code=NO_ANSWER) from error
    except BaseException:
        await peer.leave()
        raise
