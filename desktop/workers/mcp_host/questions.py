"""What this process has to ask the app for a server: asked as an event of the server's stream, answered by a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.pieces import pieces

Deliver = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Takes an event in order, and waits where the app is behind."""


class AppQuestions:
    """The open questions of one server."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._open: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._last = 0

    async def ask(self, kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The app's answer. Cancelled, the question is withdrawn. Raises CallError for one too many, or too long."""
        text = json.dumps(payload, ensure_ascii=False)
        if len(self._open) >= limits.QUESTIONS_MAX or len(text) > limits.QUESTION_MAX:
            raise CallError("mcp.asks_too_much", "It asks for more at once than can be answered.")
        self._last += 1
        number = self._last
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            for piece in pieces(text):
                await self._deliver({"event": "ask", "id": number, "kind": kind, "text": piece})
            await self._deliver({"event": "asked", "id": number})
            return await answer
        finally:
            del self._open[number]
            if not answer.done() or answer.cancelled():
                await self._deliver({"event": "unasked", "id": number})

    def answer(self, number: int, value: Mapping[str, Any]) -> bool:
        """Take the app's answer; False where nobody waits for it any more."""
        waiting = self._open.get(number)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(value)
        return True
