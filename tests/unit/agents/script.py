"""A model that answers from a script, in the shape of the ModelClient contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from desktop.domain.messages import StopReason, ToolCallBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.meta import RunMeta
from tests.harness.timeouts import FOREVER_S

USAGE = Usage(100, 10, cost_usd=0.001)


def call(call_id: str, tool: str = "read_file", **arguments: Any) -> ToolCallBlock:
    return ToolCallBlock(call_id, tool, arguments or {"path": "a"}, "{}")


def says(text: str, reason: StopReason = "end") -> list[StreamItem]:
    """A text in two pieces, then its end."""
    half = len(text) // 2
    return [TextDelta(text[:half]), TextDelta(text[half:]), Finished(reason, (), USAGE)]


def calls(*blocks: ToolCallBlock, text: str = "", reason: StopReason = "tool_calls") -> list[StreamItem]:
    """Tool calls, perhaps after a text. The reason may lie: providers do."""
    return [*([TextDelta(text)] if text else []), Finished(reason, tuple(blocks), USAGE)]


class Hang:
    """An item at which the model goes silent until it is cancelled."""


class Script:
    """Plays one answer a request; an exception in an answer is raised there. ``requests`` is what was asked."""

    def __init__(self, *answers: Sequence[Any] | Callable[[ModelRequest], Sequence[Any]], last: Any = None) -> None:
        self.answers = list(answers)
        self.last = last
        self.requests: list[ModelRequest] = []
        self.cancelled = 0

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncIterator[StreamItem]:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else self.last
        items = answer(request) if callable(answer) else answer
        for item in items:
            if isinstance(item, Hang):
                try:
                    await asyncio.sleep(FOREVER_S)
                except asyncio.CancelledError:
                    self.cancelled += 1
                    raise
            elif isinstance(item, asyncio.Event):  # the model is silent until the test sets it
                await item.wait()
            elif isinstance(item, Exception):
                raise item
            else:
                yield item
