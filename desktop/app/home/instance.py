"""A second start on the same home asks the first to show its window, through a socket in the home's private folder."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path

ASK, ANSWER = b"raise\n", b"ok\n"
TIMEOUT = 1.0
"""Seconds for either side; a peer that dawdles is dropped."""

LONGEST_ADDRESS = 100
"""Bytes that the system allows a socket's path, with a little to spare. A home deeper than that goes without."""

logger = logging.getLogger(__name__)


def ask_to_raise(address: Path) -> bool:
    """Ask whoever has the home to show its window; True when it said it would. Blocks for ``TIMEOUT`` at most."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(TIMEOUT)
            line.connect(os.fspath(address))
            line.sendall(ASK)
            return line.recv(len(ANSWER)) == ANSWER
    except OSError:  # nobody listens, or the path is too long: the message on the terminal has to do
        return False


class RaiseServer:
    """Listens for that, while we hold the home's lock (so a socket that is already there is a dead one)."""

    def __init__(self, address: Path, show: Callable[[], None]) -> None:
        self._address = address
        self._show = show
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Without a socket the app works all the same."""
        if len(os.fsencode(self._address)) > LONGEST_ADDRESS:
            logger.info("the home's path is too long for a socket")
            return
        try:
            self._address.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._answer, self._address, limit=64)
            self._address.chmod(0o600)
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
                if await reader.readline() == ASK:
                    self._show()
                    writer.write(ANSWER)
                    await writer.drain()
        except (OSError, ValueError, TimeoutError) as error:
            logger.info("a second start asked for the window and left: %s", type(error).__name__)
        finally:
            writer.close()
