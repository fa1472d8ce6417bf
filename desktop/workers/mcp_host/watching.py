"""What a server says has changed: its lists, and the resources that somebody watches.

Up to 2025-11-25 a server says so on its own, of resources after ``resources/subscribe``; since then one long request,
``subscriptions/listen``, names all that is wanted, and is made anew when that changes or when it ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.exchange import ServerExchange
from desktop.workers.mcp_host.lists import ServerLists
from desktop.workers.mcp_host.questions import Deliver

CHANGED = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}
UPDATED = "notifications/resources/updated"
AGREED = "notifications/subscriptions/acknowledged"


class ServerChanges:
    """Hears of changes of one server and passes them on at a person's pace."""

    def __init__(self, exchange: ServerExchange, lists: ServerLists, deliver: Deliver) -> None:
        self._exchange, self._lists, self._deliver = exchange, lists, deliver
        self._watched: set[str] = set()
        self._changed: set[str] = set()
        self._come = asyncio.Event()
        self._wanted_anew = asyncio.Event()
        self._agreed = asyncio.Event()
        self._listens = 0

    def hear(self, method: str, params: Any) -> None:
        """Take one notification; never raises, whatever it says."""
        if method in CHANGED:
            self._lists.due(CHANGED[method])
        elif method == AGREED:
            self._agreed.set()
        elif method == UPDATED and isinstance(params, Mapping):
            uri = params.get("uri")
            if isinstance(uri, str):  # of a part of what is watched, too
                self._changed |= {one for one in self._watched if uri.startswith(one)}
                self._come.set()

    async def watch(self, uri: str, *, on: bool) -> None:
        """Say when a resource changes, or no longer. Raises CallError and MCPError."""
        if on == (uri in self._watched):
            return
        era = self._exchange.envelope.era
        if on and not era.has("resources", "subscribe"):
            raise CallError("mcp.unsupported", "It does not say when a resource changes.")
        if on and len(self._watched) >= limits.WATCHED_MAX:
            raise CallError("mcp.unsupported", f"More than {limits.WATCHED_MAX} resources of it are watched.")
        if not era.modern:
            method = "resources/subscribe" if on else "resources/unsubscribe"
            await self._exchange.request(method, {"uri": uri}, limits.LIST_TIMEOUT)
        self._watched = self._watched | {uri} if on else self._watched - {uri}
        self._agreed.clear()
        self._wanted_anew.set()
        if era.modern and on:  # what changes before the server agreed is not told
            try:
                async with asyncio.timeout(limits.AGREE_TIMEOUT):
                    await self._agreed.wait()
            except TimeoutError:
                self._watched -= {uri}
                raise CallError("mcp.silent", "It did not agree to say when this changes.") from None

    async def tell(self) -> None:
        """Pass on which watched resources changed, each once a while, until cancelled."""
        while True:
            await self._come.wait()
            self._come.clear()
            changed, self._changed = self._changed, set()
            for uri in sorted(changed):
                await self._deliver({"event": "updated", "uri": uri})
            await asyncio.sleep(limits.LIST_PAUSE)

    # -- the newer era ------------------------------------------------------------------------------------------------

    async def listen(self) -> None:
        """Keep the one request open that brings changes, until cancelled; a server that refuses it thrice is left
        alone. What changed while nobody listened is read anew."""
        failures = 0
        while failures < limits.LISTEN_FAILURES and self._exchange.envelope.era.modern:
            self._wanted_anew.clear()
            wanted = self._wanted()
            if not wanted:
                await self._wanted_anew.wait()
                continue
            began = asyncio.get_running_loop().time()
            if self._listens:
                self._lists.all_due()
            refused = await self._listen_once(wanted)
            healthy = asyncio.get_running_loop().time() - began > limits.LISTEN_HEALTHY
            failures = failures + 1 if refused and not healthy else 0
            if not self._wanted_anew.is_set():
                await asyncio.sleep(limits.LIST_PAUSE * 2**failures)

    def _wanted(self) -> dict[str, Any]:
        era = self._exchange.envelope.era
        wanted: dict[str, Any] = {
            f"{name}ListChanged": True for name in ("tools", "prompts", "resources") if era.has(name, "listChanged")
        }
        return wanted | ({"resourceSubscriptions": sorted(self._watched)} if self._watched else {})

    async def _listen_once(self, wanted: Mapping[str, Any]) -> bool:
        """One such request, until it ends or something else is wanted; True where the server refused it."""
        self._listens += 1
        params, options = self._exchange.envelope.dressed(
            "subscriptions/listen", {"notifications": wanted}, request_id=f"listen-{self._listens}"
        )
        request = asyncio.ensure_future(
            self._exchange.dispatcher.send_raw_request("subscriptions/listen", params, options)
        )
        anew = asyncio.ensure_future(self._wanted_anew.wait())
        try:
            await asyncio.wait({request, anew}, return_when=asyncio.FIRST_COMPLETED)
            return request.done() and isinstance(request.exception(), MCPError)
        finally:
            anew.cancel()
            request.cancel()
            await asyncio.wait({request, anew})
