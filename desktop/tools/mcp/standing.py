"""What is asked of a server for as long as it is there: resources that are watched, how much it writes to its log. A
server that is started anew is asked again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from desktop.domain.errors import KnownError

Said = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Asks the MCP host for something (method, parameters). Raises KnownError."""


class StandingWishes:
    """The wishes of one server's life and the lives after it."""

    def __init__(self, said: Said) -> None:
        self._said = said
        self._watched: set[str] = set()
        self._level = ""

    async def watch(self, uri: str, *, on: bool) -> None:
        """Have it say when a resource changes, or no longer. Raises KnownError."""
        await self._said("watch", {"uri": uri, "on": on})
        self._watched = self._watched | {uri} if on else self._watched - {uri}

    async def log_from(self, level: str) -> None:
        """How much it writes to its log. Raises KnownError."""
        await self._said("level", {"level": level})
        self._level = level

    async def again(self) -> list[str]:
        """Ask a new life of the server for all of it; what it refused, in words."""
        wishes: list[tuple[str, Mapping[str, Any]]] = [
            ("watch", {"uri": uri, "on": True}) for uri in sorted(self._watched)
        ]
        wishes += [("level", {"level": self._level})] if self._level else []
        refused: list[str] = []
        for method, params in wishes:
            try:
                await self._said(method, params)
            except KnownError as error:
                refused.append(f"{method} was refused after its restart: {error}")
        return refused
