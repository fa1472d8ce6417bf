"""How far a call says it is: the newest word only, at the pace of a reader."""

from __future__ import annotations

import asyncio
import math

from desktop.workers.inside import WorkerCall
from desktop.workers.mcp_host import limits


class CallProgress:
    """Called by the library with each report; ``follow`` passes them on."""

    def __init__(self, call: WorkerCall) -> None:
        self._call = call
        self._newest: dict[str, object] | None = None
        self._come = asyncio.Event()

    async def __call__(self, done: float, total: float | None, message: str | None) -> None:
        """Take one report of the server."""
        whole = total if total is not None and math.isfinite(total) else None
        self._newest = {"done": done if math.isfinite(done) else 0.0, "total": whole}
        self._newest["words"] = (message or "")[: limits.PROGRESS_MAX]
        self._come.set()

    async def said(self, words: str) -> None:
        """Take a word about a call that says nothing in numbers."""
        if words:
            self._newest = {"done": 0.0, "total": None, "words": words[: limits.PROGRESS_MAX]}
            self._come.set()

    async def follow(self) -> None:
        """Pass on what is newest, at intervals, until cancelled."""
        while True:
            await self._come.wait()
            await self.flush()
            await asyncio.sleep(limits.PROGRESS_PAUSE)

    async def flush(self) -> None:
        """Pass on what has not been told yet."""
        newest, self._newest = self._newest, None
        self._come.clear()
        if newest is not None:
            await self._call.emit(newest)
