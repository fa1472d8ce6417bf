"""Sends the requests of a sign-in, and only to where they may go (addresses.py). What was looked at is connected to."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from desktop.domain.web.nearness import Nearness, named, nearness
from desktop.workers.inside import CallError
from desktop.workers.mcp_host.sign_in.addresses import refused

ANSWER_MAX = 256 * 1024
"""Bytes of one answer: metadata, a registration, tokens."""
CONNECT_S, ANSWER_S = 10.0, 30.0
"""Seconds to connect; for a whole answer."""


async def limit_of(url: str) -> Nearness:
    """How near the server itself is. Raises CallError for one that is not found.

    What a name leads to is for its owner to say, who may say this computer while a person signs in: no name but
    ``localhost`` opens that."""
    parts = httpx2.URL(url)
    near = named(parts.host)
    if near is None and _by_proxy(parts):
        near = Nearness.PUBLIC
    elif near is None:
        found = max(map(nearness, await _addresses(parts.host, parts.port)))
        near = Nearness.NETWORK if found is Nearness.HERE else found
    if near is Nearness.NEVER:
        raise CallError("mcp.sign_in_refused", f"{parts.host} is no address that can be signed in to.")
    return near


def _by_proxy(url: httpx2.URL) -> bool:
    """Whether the computer's settings have it go through a proxy, which looks the name up."""
    known = urllib.request.getproxies()
    return bool(known.get(url.scheme) or known.get("all")) and not urllib.request.proxy_bypass(url.host)


async def _addresses(host: str, port: int | None) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port or 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CallError("mcp.sign_in_failed", f"{host} was not found ({error.strerror or error}).") from error
    return [str(one[4][0]) for one in found]


class _Pinned(httpx2.AsyncHTTPTransport):
    """Connects to an address that was looked at; the certificate is still that of the name."""

    def __init__(self, limit: Nearness) -> None:
        # no connection is used twice: two names may share an address, and a connection belongs to one of them
        super().__init__(limits=httpx2.Limits(max_connections=10, max_keepalive_connections=0))
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Look the name up, refuse it or connect."""
        url, extensions = request.url, dict(request.extensions)
        if why := refused(str(url), self._limit):
            raise CallError("mcp.sign_in_refused", why)
        if named(url.host) is None:
            addresses = await _addresses(url.host, url.port)
            if any(nearness(one) > self._limit for one in addresses):
                words = f"{url.host} leads inside this computer or its network, and the server is not there."
                raise CallError("mcp.sign_in_refused", words)
            extensions["sni_hostname"] = url.host
            url = url.copy_with(host=addresses[0])
        pinned = httpx2.Request(
            request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
        )
        response = await super().handle_async_request(pinned)
        response.stream = _Short(response.stream)
        return response


class _Short(httpx2.AsyncByteStream):
    def __init__(self, body: Any) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > ANSWER_MAX:
                raise CallError("mcp.sign_in_refused", f"Its answer is longer than {ANSWER_MAX // 1024} KB.")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class GuardedClient:
    """Sends the requests of a sign-in. ``limit`` is how near they may lead."""

    def __init__(self, limit: Nearness) -> None:
        self.limit = limit
        timeout = httpx2.Timeout(ANSWER_S, connect=CONNECT_S)
        self._client = httpx2.AsyncClient(transport=_Pinned(limit), timeout=timeout, follow_redirects=False)

    async def __aenter__(self) -> GuardedClient:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._client.__aexit__(*error)

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, read whole. Raises CallError for whatever goes wrong on the way."""
        host = request.url.host
        if why := refused(str(request.url), self.limit):
            raise CallError("mcp.sign_in_refused", why)
        try:
            async with asyncio.timeout(ANSWER_S):
                response = await self._client.send(request, stream=True)
                try:
                    await response.aread()
                finally:
                    await response.aclose()
                return response
        except TimeoutError:
            raise CallError("mcp.sign_in_failed", f"{host} did not answer within {ANSWER_S:g} s.") from None
        except httpx2.TimeoutException:
            raise CallError("mcp.sign_in_failed", f"{host} did not answer in time.") from None
        except httpx2.HTTPError as error:  # its text may quote what was sent
            raise CallError("mcp.sign_in_failed", f"{host} could not be asked ({type(error).__name__}).") from None
