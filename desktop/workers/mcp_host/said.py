"""What a server writes to its log (``notifications/message``): the newest lines, at the pace of a reader."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from desktop.workers.mcp_host import limits

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class ServerLog:
    """``tell`` gets a few lines at a time; of a flood only the newest, and how many were left out."""

    def __init__(self, tell: Callable[[Mapping[str, Any]], None]) -> None:
        self._tell = tell
        self._waiting: deque[str] = deque(maxlen=limits.LOG_AT_ONCE)
        self._count = 0
        self._come = asyncio.Event()

    def add(self, params: Any) -> None:
        """Add one notification; never raises, whatever the server says."""
        self._waiting.append(_line(params if isinstance(params, Mapping) else {}))
        self._count += 1
        self._come.set()

    async def follow(self) -> None:
        """Tell the app what the server writes to stderr, at intervals, until cancelled."""
        while True:
            await self._come.wait()
            self._come.clear()
            lines, left_out = list(self._waiting), self._count - len(self._waiting)
            self._waiting.clear()
            self._count = 0
            if left_out:
                lines.insert(0, f"({left_out:,} lines were left out)")
            self._tell({"event": "note", "text": "\n".join(lines)})
            await asyncio.sleep(limits.STDERR_PAUSE)


def _line(params: Mapping[str, Any]) -> str:
    """``[warning] database: it is slow`` in one line, whatever the data is; an unknown level is shown as it is."""
    level, logger, data = params.get("level"), params.get("logger"), params.get("data")
    try:
        words = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        words = "(what cannot be read)"
    known = level if level in LEVELS else _word(level, 20) or "no level"
    named = f"{_word(logger, 80)}: " if _word(logger, 80) else ""
    return f"[{known}] {named}{_word(words, limits.LOG_LINE)}"


def _word(value: Any, size: int) -> str:
    return " ".join(value[: size * 2].split())[:size] if isinstance(value, str) else ""
