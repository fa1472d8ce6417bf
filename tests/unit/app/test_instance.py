"""The home's socket: what another process of the person hands over by it, and what only looks like that."""

import asyncio
import json
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.app.home.instance import LONGEST, SEND, InstanceServer, send_message
from desktop.domain.errors import KnownError
from desktop.services.chats import inboxes
from tests.harness.timeouts import WAIT_S


@asynccontextmanager
async def listening(heard: list[tuple[str, str]], lost: list[Any]) -> AsyncIterator[Path]:
    """A socket whose messages are ``heard``; ``lost`` is what nobody handled, which the app reports as its own bug."""

    async def post(to: str, text: str) -> None:
        heard.append((to, text))

    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: lost.append(context))
    with tempfile.TemporaryDirectory(prefix="as-") as folder:
        server = InstanceServer(Path(folder, "socket"), None, post)
        await server.start()
        try:
            yield Path(folder, "socket")
        finally:
            await server.stop()


def written(address: Path, line: bytes) -> bytes:
    """What is answered to these bytes; nothing where the line is cut off."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(WAIT_S)
        peer.connect(str(address))
        try:
            peer.sendall(line)
            return peer.recv(100)
        except (BrokenPipeError, ConnectionResetError):
            return b""


@pytest.mark.parametrize("sign", ["a", "ж", "🙂", '"', "\\", "\n"])
async def test_a_message_as_long_as_an_inbox_takes_passes_in_any_script(sign: str) -> None:
    heard: list[tuple[str, str]] = []
    text = sign * inboxes.LONGEST
    async with listening(heard, []) as address:
        await asyncio.to_thread(send_message, address, "agent", text)
    assert heard == [("agent", text)]


@pytest.mark.parametrize(("text", "why"), [("x" * LONGEST, "too long"), ("half \udcff", "no text in UTF-8")])
async def test_what_cannot_be_sent_is_said_and_not_that_nobody_listens(text: str, why: str) -> None:
    heard: list[tuple[str, str]] = []
    async with listening(heard, []) as address:
        with pytest.raises(KnownError, match=why):
            await asyncio.to_thread(send_message, address, "agent", text)
    assert heard == []


@pytest.mark.parametrize(
    "line",
    [
        SEND + b"[" * 400_000 + b"\n",
        SEND + b'{"to":"a","text":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        SEND + b'{"to":"a","text":"\\ud800"}\n',
        SEND + b'{"to":"\\udfff","text":"a"}\n',
        SEND + b'{"to":"a","text":"\xff"}\n',
        SEND + b'{"to":1,"text":"a"}\n',
        SEND + b"NaN\n",
        SEND + b"9" * 900_000 + b"\n",
        SEND + b"x" * LONGEST * 2 + b"\n",
        b"\x00\n",
        SEND + b'{"to":"a","text":"no end of the line"}',
    ],
)
async def test_what_is_no_message_reaches_nobody_and_the_next_one_does(line: bytes) -> None:
    heard: list[tuple[str, str]] = []
    lost: list[Any] = []
    async with listening(heard, lost) as address:
        assert await asyncio.to_thread(written, address, line) == b""
        good = SEND + json.dumps({"to": "a", "text": "b"}).encode() + b"\n"
        assert await asyncio.to_thread(written, address, good) == b"ok\n"
    assert (heard, lost) == ([("a", "b")], [])
