"""What another process asks of the one that has the home, through a socket in the home's private folder: a second start
to show the window, at a link perhaps, or, where there is none, for the home itself; ``assent send`` to hand a message
to a persistent agent; a program that wants to stay is passed on to the door. Nothing confined can open such a socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.domain.text.json_text import read_json
from desktop.domain.text.links import harmless
from desktop.systems import local_lines

ASK, ANSWER = b"raise\n", b"ok\n"
YIELD = b"yield\n"
SEND = b"send "
OPEN = b"open "
LONGEST_OPEN = 4_000
"""Bytes of a line with a link and a token."""
MAX_TOKEN = 256
TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
"""Where a desktop says to whom it has started that this one may come to the front."""
DOOR = b"door\n"
LONGEST = 2_000_000
"""Bytes of one line: a message of as many characters as an inbox takes, whatever these are, and its address."""
SEND_TIMEOUT = 30.0
"""Seconds in which a message has to be taken."""
TIMEOUT = 1.0
"""Seconds for either side; a peer that dawdles is dropped."""

RETRY_S = 0.1

logger = logging.getLogger(__name__)


def ask_to_open(address: Path, link: str, environment: Mapping[str, str], *, patience: float = 0.0) -> bool:
    """Ask whoever has the home to show its window at a link, or as it is for ""; True when it said it would. One that
    is older and knows no links shows its window. Blocks, for up to ``patience`` seconds more than two ``TIMEOUT``:
    whoever is only starting does not listen yet."""
    token = next((environment[name] for name in TOKENS if is_token(environment.get(name))), "")
    asked = OPEN + json.dumps({"link": link, "token": token}).encode() + b"\n"
    until = time.monotonic() + patience
    while True:
        try:
            return _answer(address, asked) == ANSWER or _asked(address, ASK)
        except OSError:
            if time.monotonic() > until or local_lines.is_too_long(address):
                return False
        time.sleep(RETRY_S)


def is_token(value: object) -> bool:
    """Whether this can be a token of a desktop, which is put into the environment."""
    return isinstance(value, str) and 0 < len(value) <= MAX_TOKEN and value.isprintable()


def ask_for_home(address: Path) -> bool:
    """Ask whoever has the home to let us have it; True when it said it will, in a moment. One that has a window, or
    works at what a person started, does not. Blocks for ``TIMEOUT`` at most."""
    return _asked(address, YIELD)


def _asked(address: Path, word: bytes) -> bool:
    try:
        return _answer(address, word) == ANSWER
    except OSError:  # nobody listens, or the path is too long: the message on the terminal has to do
        return False


def _answer(address: Path, word: bytes) -> bytes:
    """What is answered to a word; nothing by one that does not know it. Raises OSError."""
    with local_lines.connect(address, TIMEOUT) as line:
        line.sendall(word)
        return line.recv(len(ANSWER))


def send_message(address: Path, to: str, text: str, is_starting: Callable[[], bool] = lambda: False) -> None:
    """Hand a message for the agent with the address ``to`` to whoever has the home. Blocks. Raises KnownError with why
    it was not taken, and where nobody listens, unless ``is_starting``: then that one will in a moment."""
    try:
        line = SEND + json.dumps({"to": to, "text": text}, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError as error:
        raise KnownError("It was not taken: it is no text in UTF-8.", code="inbox.message") from error
    if len(line) > LONGEST:
        raise KnownError(f"It was not taken: with {len(text):,} characters it is too long.", code="inbox.message")
    until = time.monotonic() + SEND_TIMEOUT
    try:
        with _connected(address, is_starting, until) as peer:
            peer.settimeout(max(TIMEOUT, until - time.monotonic()))
            peer.sendall(line)
            with peer.makefile("rb") as reader:
                answer = reader.readline(LONGEST)
    except OSError as error:
        raise KnownError(
            "Assent does not run with this home, so no agent is at work that could hear.",
            next_step="Start it, or name its home: --home DIR.",
            code="app.not_running",
        ) from error
    if answer == ANSWER:
        return
    try:
        refused = read_json(answer)
        raise KnownError(str(refused["error"]), next_step=str(refused["next"]), code=str(refused["code"]))
    except (ValueError, TypeError, KeyError):
        raise KnownError("It was not taken: Assent gave no answer.", code="app.no_answer") from None


def _connected(address: Path, is_starting: Callable[[], bool], until: float) -> socket.socket:
    """Connect to the Assent that has the home. Raises OSError where nobody listens."""
    while True:
        try:
            return local_lines.connect(address, SEND_TIMEOUT)
        except OSError:
            if time.monotonic() > until or not is_starting():
                raise
            time.sleep(RETRY_S)


Post = Callable[[str, str], Awaitable[None]]
"""Takes a message: to whom, and what. Raises KnownError."""
Follow = Callable[[str], None]
"""Shows the window where a link leads, or as it is for "". The link is one by its form alone."""
Receive = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Has a program that stays, until it leaves."""


class InstanceServer:
    """Listens for that, while we hold the home's lock (so a socket that is already there is a dead one). ``show`` None:
    there is no window; ``give_up`` None: the home is not given away; ``receive`` None: nobody can stay; ``follow``
    None: there is no window for links."""

    def __init__(
        self,
        address: Path,
        show: Callable[[], None] | None,
        post: Post,
        *,
        receive: Receive | None = None,
        give_up: Callable[[], None] | None = None,
        follow: Follow | None = None,
    ) -> None:
        self._address = address
        self._show = show
        self._post = post
        self._receive = receive
        self._give_up = give_up
        self._follow = follow
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen for other starts; the app works without a socket, too."""
        if local_lines.is_too_long(self._address):  # a home deeper than that goes without
            logger.info("the home's path is too long for a socket")
            return
        try:
            self._server = await local_lines.listen(self._address, self._answer, LONGEST)
        except OSError as error:
            logger.info("no socket for a second start: %s", error)

    async def stop(self) -> None:
        """Stop listening for other starts of the app."""
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                self._address.unlink(missing_ok=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(TIMEOUT):
                line = await reader.readline()
            if line == DOOR and self._receive is not None:
                await self._receive(reader, writer)
                return
            act = {ASK: self._show, YIELD: self._give_up}.get(line)
            if act is not None:
                act()
                writer.write(ANSWER)
            elif line.startswith(OPEN) and line.endswith(b"\n") and self._follow is not None:
                self._opened(line.removeprefix(OPEN), self._follow)
                writer.write(ANSWER)
            elif line.startswith(SEND) and line.endswith(b"\n"):
                async with asyncio.timeout(SEND_TIMEOUT):
                    writer.write(await self._posted(line.removeprefix(SEND)))
            async with asyncio.timeout(TIMEOUT):
                await writer.drain()
        except (OSError, ValueError, RecursionError) as error:
            logger.info("another process asked for something and left: %s", type(error).__name__)
        finally:
            writer.close()

    def _opened(self, line: bytes, follow: Follow) -> None:
        """Raises ValueError for what is no link with a token."""
        asked = read_json(line) if len(line) <= LONGEST_OPEN else None
        if not isinstance(asked, dict) or not all(isinstance(asked.get(key), str) for key in ("link", "token")):
            raise ValueError("no link")
        if is_token(asked["token"]):
            os.environ[TOKENS[0]] = asked["token"]  # read and removed by Qt where a window needs it to come up
        try:
            follow(harmless(asked["link"]))
        finally:
            os.environ.pop(TOKENS[0], None)

    async def _posted(self, line: bytes) -> bytes:
        """What is answered to a message. Raises ValueError for what is none."""
        told = read_json(line)
        if not isinstance(told, dict) or not all(isinstance(told.get(key), str) for key in ("to", "text")):
            raise ValueError("no message")
        f"{told['to']}{told['text']}".encode()  # half a character is none that could be kept
        try:
            await self._post(told["to"], told["text"])
        except KnownError as error:
            return json.dumps({"error": str(error), "next": error.next_step, "code": error.code}).encode() + b"\n"
        return ANSWER
