"""The home's socket: what another process of the person hands over by it, and what only looks like that."""

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.app.home.instance import LONGEST, LONGEST_OPEN, OPEN, SEND, InstanceServer, ask_to_open, send_message
from desktop.domain.errors import KnownError
from desktop.domain.text.links import UNKNOWN
from desktop.services.chats import inboxes
from tests.harness.timeouts import FOREVER_S, WAIT_S


async def tell(_to: str, _text: str) -> None:
    """A post that nobody uses."""


@asynccontextmanager
async def listening(
    heard: list[tuple[str, str]], lost: list[Any], follow: Callable[[str], None] | None = None
) -> AsyncIterator[Path]:
    """A socket whose messages are ``heard``; ``lost`` is what nobody handled, which the app reports as its own bug."""

    async def post(to: str, text: str) -> None:
        heard.append((to, text))

    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: lost.append(context))
    with tempfile.TemporaryDirectory(prefix="as-") as folder:
        server = InstanceServer(Path(folder, "socket"), (lambda: heard.append(("show", ""))), post, follow=follow)
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


async def opened(link: str, **environment: str) -> tuple[bool, list[tuple[str, str | None]]]:
    """Whether a link was taken, and which ones were followed with which token."""
    followed: list[tuple[str, str | None]] = []
    lost: list[Any] = []
    token = "XDG_ACTIVATION_TOKEN"
    async with listening([], lost, lambda link: followed.append((link, os.environ.get(token)))) as address:
        taken = await asyncio.to_thread(ask_to_open, address, link, environment)
    assert lost == []
    assert token not in os.environ
    return taken, followed


@pytest.mark.parametrize("link", ["", "assent:chats", "assent:chat/0123"])
async def test_a_link_is_handed_over_with_what_lets_the_window_come_to_the_front(link: str) -> None:
    assert await opened(link) == (True, [(link, None)])
    assert await opened(link, XDG_ACTIVATION_TOKEN="t-1") == (True, [(link, "t-1")])
    assert await opened(link, DESKTOP_STARTUP_ID="t-2") == (True, [(link, "t-2")])


@pytest.mark.parametrize("token", ["x" * 257, "a\nb", "\x1b[0m", ""])
async def test_a_token_that_is_none_is_left_out(token: str) -> None:
    assert await opened("assent:chats", XDG_ACTIVATION_TOKEN=token) == (True, [("assent:chats", None)])


async def test_an_older_assent_that_knows_no_links_shows_its_window() -> None:
    heard: list[tuple[str, str]] = []
    async with listening(heard, [], follow=None) as address:
        assert await asyncio.to_thread(ask_to_open, address, "assent:chats", {}) is True
    assert heard == [("show", "")]


@pytest.mark.parametrize("link", ["javascript:1", "assent:chat/../x", "assent:\ud800", "rm -rf\n", "\u202eassent:"])
async def test_a_text_that_is_no_link_is_not_believed_though_it_comes_by_the_socket(link: str) -> None:
    followed: list[str] = []
    async with listening([], [], followed.append) as address:
        line = OPEN + json.dumps({"link": link, "token": ""}).encode() + b"\n"
        assert await asyncio.to_thread(written, address, line) == b"ok\n"
    assert followed == [UNKNOWN]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[1]",
        b"NaN",
        b'{"link":1,"token":""}',
        b'{"link":"assent:chats"}',
        b'{"link":"assent:chats","token":null}',
        b'{"link":"assent:chats","token":"\xff"}',
        b"[" * (LONGEST_OPEN - 1),
        b'{"link":"assent:chats","token":"' + b"x" * LONGEST_OPEN + b'"}',
    ],
)
async def test_what_is_no_link_with_a_token_is_followed_by_nobody_and_the_next_one_is(line: bytes) -> None:
    followed: list[str] = []
    lost: list[Any] = []
    async with listening([], lost, followed.append) as address:
        assert await asyncio.to_thread(written, address, OPEN + line + b"\n") == b""
        assert await asyncio.to_thread(ask_to_open, address, "assent:skills", {}) is True
    assert (followed, lost) == (["assent:skills"], [])


async def test_a_link_waits_for_an_assent_that_is_only_starting() -> None:
    followed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="as-") as folder:
        address = Path(folder, "socket")
        asking = asyncio.create_task(asyncio.to_thread(ask_to_open, address, "assent:chats", {}, patience=WAIT_S))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(asking), 0.3)
        server = InstanceServer(address, None, tell, follow=followed.append)
        await server.start()
        assert await asking is True
        await server.stop()
    assert followed == ["assent:chats"]


async def test_a_home_without_a_socket_is_not_waited_for() -> None:
    deep = Path("/tmp", "deep" * 40)
    assert await asyncio.to_thread(ask_to_open, deep, "assent:chats", {}, patience=FOREVER_S) is False
