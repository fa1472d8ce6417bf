"""The official SDK's client against `assent mcp`, in a process of its own, for the benches of other apps."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 200


class Client:
    """Counts what comes of one call, or of many."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._logs: list[tuple[float, int]] = []
        self._progress: list[float] = []

    async def _log(self, params: Any) -> None:
        self._logs.append((time.perf_counter(), params.data["sequence"]))

    async def _progressed(self, progress: float, _total: float | None, _message: str | None) -> None:
        self._progress.append(progress)

    async def run(self, what: str, count: int) -> dict[str, Any]:
        """``events``, ``progress``: hear one call; ``calls``: make so many."""
        words = ["-m", "desktop", "mcp", "--home", self._home]
        parameters = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env=dict(os.environ))
        async with (
            stdio_client(parameters) as (reading, writing),
            ClientSession(reading, writing, logging_callback=self._log) as session,
        ):
            await session.initialize()
            if what == "calls":
                return await self._calls(session, count)
            asked = {"progress_callback": self._progressed} if what == "progress" else {}
            await session.call_tool("writer", {"message": "write"}, **asked)
            return self._heard()

    def _heard(self) -> dict[str, Any]:
        told = [(at, number) for at, number in self._logs if number >= 1000]
        numbers = [number for _, number in told]
        return {
            "events": len(told),
            "progress": len(self._progress),
            "rate": len(told) / (told[-1][0] - told[0][0]),
            "in_order": numbers == sorted(numbers) and self._progress == sorted(self._progress),
        }

    async def _calls(self, session: ClientSession, count: int) -> dict[str, Any]:
        places, ends = asyncio.Semaphore(AT_ONCE), dict.fromkeys(("done", "refused", "unknown"), 0)

        async def one(number: int) -> None:
            async with places:
                try:
                    name = "nobody" if number % 10 == 9 else "writer"
                    arguments = {"message": number} if number % 100 else {"message": "write"}
                    done = await session.call_tool(name, arguments)
                    ends["refused" if done.is_error else "done"] += 1
                except MCPError:
                    ends["unknown"] += 1

        began = time.perf_counter()
        await asyncio.gather(*map(one, range(count)))
        return {**ends, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(Client(sys.argv[1]).run(sys.argv[2], int(sys.argv[3])))))
