"""What servers fetched, after they are gone: removed with them, and leftovers some time after the start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from desktop.tools.mcp.services import CACHE, McpServices


class ServerCaches:
    """``needed`` gives the names of all caches that servers have or will have, None while that is not known."""

    def __init__(self, services: McpServices, needed: Callable[[], Sequence[str] | None]) -> None:
        self._services, self._needed = services, needed

    async def tidy(self) -> None:
        """Remove the caches of servers that are no longer declared."""
        needed = self._needed()
        if needed is not None:
            await asyncio.to_thread(self._services.confinement.drop_caches, CACHE, needed)

    async def tidy_later(self) -> None:
        """Tidy the caches when the start is over."""
        await asyncio.sleep(self._services.idle_s)
        await self.tidy()
