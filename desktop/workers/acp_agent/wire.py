"""JSON-RPC as lines on stdin and stdout, as far as a stranger's lines can be trusted: capped, and each answered.

The SDK's own reader drops a line that is no JSON without an answer, and ends with one that is no object or whose id is
a list. Here each such line gets the error that JSON-RPC has for it, and the connection goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

LINE_MAX = 14_000_000
"""Bytes of one line, less than one message of the door holds."""
UNDER_WAY_MAX = 40
"""Requests of the editor that are under way at once, fewer than the door lets through."""
NAME_MAX = 200
PARSE_ERROR, INVALID_REQUEST, TOO_MANY = -32700, -32600, -32000
Message = dict[str, Any]
logger = logging.getLogger(__name__)


class EditorWire:
    """A ``Transport`` of the SDK. ``on_sent`` hears of each message that was written."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_sent: Callable[[Message], None] = lambda _message: None,
    ) -> None:
        self._lines = _lines(reader)
        self._writer = writer
        self._on_sent = on_sent
        self._under_way = 0
        self._turn = asyncio.Lock()

    async def send(self, message: Message) -> None:
        """Write one message; waits for a slow reader. Raises ConnectionError."""
        if "method" not in message:
            self._under_way -= 1
        await self._write(message)
        self._on_sent(message)

    async def _write(self, message: Message) -> None:
        async with self._turn:
            self._writer.write((json.dumps(message, separators=(",", ":"), default=str) + "\n").encode())
            await self._writer.drain()

    async def receive(self) -> Message | None:
        """The next message that is one; None at the end."""
        async for line in self._lines:
            message = await self._read(line)
            if message is not None:
                return message
        return None

    async def close(self) -> None:
        """What is written is written."""
        self._writer.close()

    async def _read(self, line: bytes | None) -> Message | None:
        if line is None:
            await self._refuse(None, INVALID_REQUEST, f"A message has {LINE_MAX:,} bytes at most.")
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(None, PARSE_ERROR, "Parse error")
            return None
        if not isinstance(message, dict):
            await self._refuse(None, INVALID_REQUEST, "A message is a JSON object.")
            return None
        return await self._checked(message)

    async def _checked(self, message: Message) -> Message | None:
        number, method = message.get("id"), message.get("method")
        fits = number is None or (isinstance(number, int | str) and not isinstance(number, bool))
        if not fits or (method is not None and not isinstance(method, str)):
            await self._refuse(None, INVALID_REQUEST, "Invalid request")
            return None
        if method is None and ("id" not in message or not isinstance(message.get("error", {}), dict)):
            await self._refuse(None, INVALID_REQUEST, "Invalid request")
            return None
        if method is None or "id" not in message:
            return message
        if self._under_way >= UNDER_WAY_MAX:
            await self._refuse(number, TOO_MANY, f"{UNDER_WAY_MAX} requests are under way; wait for one of them.")
            return None
        self._under_way += 1
        return message

    async def _refuse(self, number: Any, code: int, words: str) -> None:
        with contextlib.suppress(ConnectionError):
            await self._write({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}})


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes | None]:
    """Lines that say something; None for one that is too long, which is read over."""
    kept, size = bytearray(), 0
    while chunk := await reader.read(65_536):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            size += len(part)
            kept += part if size <= LINE_MAX else b""
            if size > LINE_MAX:
                yield None
            elif kept.strip():
                yield bytes(kept)
            kept, size = bytearray(), 0
        size += len(rest)
        kept = kept + rest if size <= LINE_MAX else bytearray()
    if kept.strip():
        yield bytes(kept)
