"""A server that a person has signed in to: its requests carry the token, which is renewed when its time is over.

Nothing here opens a browser: where the token is no longer good, the request fails and says so. The library's own
provider is for signing in (sign_in/flow.py): it lets no other request begin until the answer to one has begun, so that
one slow call would hold up all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

import httpx2

from desktop.workers.inside import CallError
from desktop.workers.mcp_host.sign_in.kept import Kept, NotRenewed, is_over, renewed

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class SignedIn(httpx2.Auth):
    """``kept`` is what was kept of the sign-in; ``ask("tokens", kept)`` has the app keep what was renewed."""

    def __init__(self, kept: Kept, ask: Ask) -> None:
        self._kept = kept
        self._ask = ask
        self._turn = asyncio.Lock()
        self._gone = False

    @property
    def secrets(self) -> list[str]:
        """What no text about this server may hold."""
        return [one for one in secrets_of(self._kept) if one]

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The request with the token; once more with a new one where that was refused."""
        if is_over(self._kept):
            await self._renew(self._access)
        sent = self._access
        request.headers["Authorization"] = f"Bearer {sent}"
        response = yield request
        if response.status_code == 401 and await self._renew(sent):
            request.headers["Authorization"] = f"Bearer {self._access}"
            yield request

    @property
    def _access(self) -> str:
        return str(self._kept["tokens"]["access_token"])

    async def _renew(self, old: str) -> bool:
        """Whether there is another token than ``old`` now; one of many requests fetches it."""
        async with self._turn:
            if self._access != old:
                return True
            if self._gone:
                return False
            try:
                self._kept = await renewed(self._kept)
            except NotRenewed:
                self._gone = True
                return False
            except CallError:  # perhaps the next request finds it well again; this one fails as the server has it
                return False
            await self._ask("tokens", self._kept)
            return True


def signer(params: Mapping[str, Any], ask: Ask) -> SignedIn | None:
    """What signs the requests of a server; None where nobody has signed in."""
    kept = params.get("auth")
    return SignedIn(dict(kept), ask) if isinstance(kept, Mapping) else None


def secrets_of(kept: Mapping[str, Any]) -> list[str]:
    """The secrets in what is kept of a sign-in."""
    tokens, client = kept.get("tokens"), kept.get("client")
    tokens, client = (one if isinstance(one, Mapping) else {} for one in (tokens, client))
    found = (tokens.get("access_token"), tokens.get("refresh_token"), client.get("client_secret"))
    return [one for one in found if isinstance(one, str) and one]
