"""What the app does for `assent mcp`: it tells what is offered, makes calls, and tells what agents do in them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets as random_secrets
from collections.abc import Mapping
from typing import Any

from desktop.app.door.host import Guest
from desktop.app.door.peer import Peer
from desktop.app.wiring.outside import OFFERED
from desktop.app.wiring.services import Services
from desktop.domain.errors import KnownError, SecretsUnavailable
from desktop.domain.keyring import OUTSIDE_TOKEN
from desktop.domain.messages import media_to_plain
from desktop.domain.text.words import plain_line
from desktop.pipeline.context import CallResult

AT_ONCE = 8
"""Calls of one program that are under way at once; more wait."""
NAME_MAX = 60


class McpRoom:
    """Of one program, from when it comes in until it has left."""

    def __init__(self, services: Services, peer: Peer, guest: Guest) -> None:
        self._services, self._peer, self._guest = services, peer, guest
        self._places = asyncio.Semaphore(AT_ONCE)
        loop = asyncio.get_running_loop()

        def seen(_changes: object) -> None:
            loop.call_soon_threadsafe(self._changed)

        self._ends = [
            services.settings.subscribe(lambda _settings, keys: self._changed() if OFFERED in keys else None),
            services.skills.fabric.on_change(seen),
        ]
        services.outside.note(guest.name, "connected")

    async def answer(self, method: str, params: Mapping[str, Any]) -> Any:
        """``tools``, ``call``, ``token``. Raises KnownError."""
        if method == "tools":
            return await self._services.outside.tools.offered()
        if method == "call":
            return await self._called(params)
        if method == "token":
            return await self._token(params.get("new") is True)
        raise KnownError("Assent does not know what that is.", code="door.method")

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """It tells nothing."""

    async def left(self) -> None:
        """Its calls have been stopped with it."""
        for end in self._ends:
            end()
        self._services.outside.note(self._guest.name, "has left")

    def _changed(self) -> None:
        self._peer.tell("tools_changed", {})

    async def _called(self, params: Mapping[str, Any]) -> dict[str, Any]:
        name, arguments, number = params.get("tool"), params.get("arguments"), params.get("call")
        if not isinstance(name, str) or not isinstance(arguments, dict) or not isinstance(number, int):
            raise KnownError("A call has a tool and arguments.", code="door.method")
        who = plain_line(str(params.get("who") or ""), NAME_MAX) or self._guest.name

        def told(event: Mapping[str, Any]) -> None:
            self._peer.tell("event", {"call": number, **event})

        async with self._places:
            return _plain(await self._services.outside.call(name, arguments, who, "MCP", told))

    async def _token(self, new: bool) -> dict[str, Any]:
        """The token of the HTTP server, made when it is first wanted; kept in the keyring alone, or where there is none
        by this process."""
        store = self._services.secrets
        kept = None
        if not new:
            with contextlib.suppress(SecretsUnavailable):
                kept = await store.get(OUTSIDE_TOKEN)
        if kept:
            return {"token": kept, "new": False, "kept": True}
        made = random_secrets.token_urlsafe(32)
        return {"token": made, "new": True, "kept": await store.put(OUTSIDE_TOKEN, made)}


def _plain(outcome: CallResult) -> dict[str, Any]:
    result = outcome.result
    return {
        "text": result.text,
        "is_error": result.is_error,
        "structured": result.structured,
        "media": media_to_plain(result.media),
        "state": outcome.state,
        "code": result.code,
        "thread": str(result.facts.get("thread_id") or ""),
    }
