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

from desktop.domain.text.json_text import read_json

LINE_MAX = 14_000_000
"""Bytes of one line, less than one message of the door holds."""
UNDER_WAY_MAX = 40
"""Requests of the editor that are under way at once, fewer than the door lets through."""
NAME_MAX = 200
PARSE_ERROR, INVALID_REQUEST, TOO_MANY = -32700, -32600, -32000
PROMPT, CANCEL = "session/prompt", "$/cancel_request"
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
        self._under_way: dict[int | str, str] = {}
        """The session of each request that has one."""
        self._turn = asyncio.Lock()

    async def send(self, message: Message) -> None:
        """Write one message; waits for a slow reader. Raises ConnectionError."""
        if "method" not in message:
            self._under_way.pop(message["id"], None)
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
            message = read_json(line)
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
        if method == CANCEL:
            return self._cancelled(message.get("params"))
        if method is None or number is None:
            return message
        if number in self._under_way:
            await self._refuse(number, INVALID_REQUEST, "A request with this id is under way already.")
            return None
        if len(self._under_way) >= UNDER_WAY_MAX:
            await self._refuse(number, TOO_MANY, f"{UNDER_WAY_MAX} requests are under way; wait for one of them.")
            return None
        params = message.get("params")
        session = params.get("sessionId") if method == PROMPT and isinstance(params, dict) else None
        self._under_way[number] = session if isinstance(session, str) else ""
        return message

    def _cancelled(self, params: Any) -> Message | None:
        """The editor takes a request back. A prompt is stopped; everything else ends by itself soon."""
        number = params.get("requestId") if isinstance(params, dict) else None
        session = self._under_way.get(number, "") if isinstance(number, int | str) else ""
        return {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}} if session else None

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
