"""What servers ask of the person, or a sign-in of the app: each question is a task of its own, and may be withdrawn.

The MCP host sends a question in pieces and waits for the answer; who answers is not decided here. Whatever goes wrong
with an answer is a refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.text.json_text import read_json
from desktop.tools.mcp.pieces import in_pieces

Asked = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""(kind, what is asked) to the answer; cancelled when the question is withdrawn."""
Spawn = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]
Send = Callable[[int, Sequence[str]], Awaitable[None]]

MAX_OPEN = 4
MAX_QUESTION = 70_000
"""Characters of JSON."""


class ServerQuestions:
    """The open questions of one server; ``asked`` answers them, ``send`` brings an answer to the MCP host."""

    def __init__(self, server: str, spawn: Spawn, asked: Asked, send: Send) -> None:
        self._server, self._spawn, self._asked, self._send = server, spawn, asked, send
        self._pieces: dict[int, list[str]] = {}
        self._kinds: dict[int, str] = {}
        self._open: dict[int, asyncio.Task[None]] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event: a piece of a question, its end, or its withdrawal."""
        number = event.get("id")
        if not isinstance(number, int):
            return
        if event.get("event") == "unasked":
            self._pieces.pop(number, None)
            self._kinds.pop(number, None)
            if task := self._open.pop(number, None):
                task.cancel()
        elif event.get("event") == "ask":
            pieces = self._pieces.setdefault(number, []) if len(self._pieces) < MAX_OPEN else []
            if sum(map(len, pieces)) < MAX_QUESTION:
                pieces.append(str(event.get("text", "")))
            self._kinds[number] = str(event.get("kind"))
        elif number in self._pieces and len(self._open) < MAX_OPEN:
            text, kind = "".join(self._pieces.pop(number)), self._kinds.pop(number, "")
            self._open[number] = self._spawn(
                self._answer(number, kind, text), f"MCP server {self._server}: question {number}"
            )

    def withdraw_all(self) -> None:
        """The server is gone: nobody waits for an answer."""
        for task in self._open.values():
            task.cancel()
        self._open, self._pieces, self._kinds = {}, {}, {}

    async def _answer(self, number: int, kind: str, text: str) -> None:
        try:
            payload = read_json(text)
            answer = in_pieces(await self._asked(kind, payload if isinstance(payload, dict) else {}))
        except (KnownError, ValueError, RecursionError):
            answer = ["{}"]
        self._open.pop(number, None)
        try:
            await self._send(number, answer)
        except (KnownError, TimeoutError):
            return  # the server is gone: nobody waits for the answer
