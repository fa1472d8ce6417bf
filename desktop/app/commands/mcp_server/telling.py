"""What a client hears while its call is under way: the events of the agents in it, in order, as progress where it gave
a token for that, and as log notifications from the level on that it wants (R-MSV-2)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

WAITING_MAX = 20_000
"""Events that wait for a slow client; then pieces of texts are left out, the oldest first."""
LEVELS: tuple[str, ...] = get_args(types.LoggingLevel)
SHORT = 200
"""Characters of a text in a line of progress."""


class CallTelling:
    """``put`` what happens; on leaving the ``with``, everything has been told."""

    def __init__(
        self, ctx: ServerRequestContext[Any, Any], level: types.LoggingLevel, waiting_max: int = WAITING_MAX
    ) -> None:
        self._ctx, self._most = ctx, waiting_max
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        allowed = allowed_log_levels(ctx.protocol_version, ctx.meta)
        self._levels = frozenset(allowed) if modern else frozenset(LEVELS[LEVELS.index(level) :])
        self._events: deque[Mapping[str, Any]] = deque()
        self._news = asyncio.Event()
        self._over = False
        self._count = 0
        self._left_out = 0
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> CallTelling:
        await self._group.__aenter__()
        self._group.create_task(self._tell())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self._news.set()
        try:
            await self._group.__aexit__(kind if not isinstance(error, Exception) else None, None, None)
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    def put(self, event: Mapping[str, Any]) -> None:
        """Tell this after what waits already."""
        if len(self._events) >= self._most:
            self._make_room()
        self._events.append(event)
        self._news.set()

    def _make_room(self) -> None:
        for at, event in enumerate(self._events):
            data = event.get("data")
            if isinstance(data, Mapping) and data.get("delta"):
                del self._events[at]
                self._left_out += 1
                return
        self._events.popleft()
        self._left_out += 1

    async def _tell(self) -> None:
        while True:
            while self._events:
                await self._one(self._events.popleft())
            if self._over:
                break
            self._news.clear()
            await self._news.wait()
        if self._left_out:
            await self._log("warning", "", {"leftOut": self._left_out})

    async def _one(self, event: Mapping[str, Any]) -> None:
        kind, path, data = str(event.get("type")), str(event.get("path")), event.get("data")
        self._count += 1
        await self._ctx.session.report_progress(self._count, None, _line(kind, path, data))  # if it asked for that
        level = "error" if kind == "agent-error" else "warning" if kind == "tool-error" else "info"
        said = {key: event.get(key) for key in ("type", "agent", "sequence", "at", "data")}
        await self._log(level, path, said)

    async def _log(self, level: str, path: str, data: Mapping[str, Any]) -> None:
        if level not in self._levels:
            return
        params = types.LoggingMessageNotificationParams(level=level, logger=path or None, data=data)  # type: ignore[arg-type]
        with contextlib.suppress(ConnectionError):
            await self._ctx.session.send_notification(
                types.LoggingMessageNotification(params=params), related_request_id=self._ctx.request_id
            )


def _line(kind: str, path: str, data: Any) -> str:
    """An event in one line, for whoever only shows that something goes on."""
    data = data if isinstance(data, Mapping) else {}
    said = data.get("tool") or data.get("error") or (data.get("text") if kind == "agent-message" else "") or ""
    text = " ".join(str(said).split())[:SHORT]
    return f"{path}: {kind}" + (f" {text}" if text else "")
