"""One request over HTTP, and the bytes of its answer: no redirect is followed, and what is read is bounded.

The certificates are those of the model library, or the file in ``SSL_CERT_FILE``; proxies are those of the system, and
none for this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

import aiohttp
import certifi

from desktop.workers.frames import BATCH_SECONDS
from desktop.workers.model_host.bounds import LineGuard, inflaters, pieces
from desktop.workers.model_host.limits import ERROR_BODY_MAX
from desktop.workers.model_host.refusals import AnswerRefused, place

KEPT_S = 15.0
"""How long a connection waits for the next request."""
TURN = 64 * 1024
"""Bytes after which others get their turn."""
REST_S = BATCH_SECONDS
"""How long what comes is left to gather: who reads every word by itself pays for each, and nobody sees it sooner."""
MUCH = 16 * 1024
"""Bytes at once after which nothing has to gather."""

LOST = (aiohttp.ClientError, ConnectionError, OSError)
"""What is raised where a server cannot be reached, or the connection to it breaks."""


class WebAnswer:
    """The answer to a request: its status and headers, and its body in whole lines. ``is_plain``: it is one piece of
    JSON and no stream of events; ``is_page``: it says that it is a page, as that of a network that wants a sign-in."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        if 300 <= self.status < 400:
            response.close()
            raise AnswerRefused("model.redirected", place(str(response.url), self.headers.get("location", "")))
        self._packing = inflaters(self.headers.get("content-encoding", ""))
        kind = self.headers.get("content-type", "")
        self.is_plain, self.is_page = kind.startswith("application/json"), kind.startswith("text/html")
        self._lines = LineGuard(events=not self.is_plain)
        self._since = 0
        self._read_at = 0.0

    async def lines(self, *, rest: bool) -> bytes | None:
        """More whole lines, or nothing yet; None at the end. ``rest``: nobody waits for the first of them. Raises
        AnswerRefused beyond a bound, and what is LOST."""
        if rest:
            await self._rest()
        data = await self._response.content.readany()
        if not data:
            return None
        self._read_at = asyncio.get_running_loop().time() if len(data) < MUCH else 0.0
        found: list[bytes] = []
        for piece in pieces(data, self._packing):
            found.append(self._lines.feed(piece))
            self._since += len(piece)
            if self._since > TURN:
                self._since = 0
                await asyncio.sleep(0)
        return found[0] if len(found) == 1 else b"".join(found)

    async def _rest(self) -> None:
        """Until a while after the last reading; meanwhile this process is not woken."""
        left = self._read_at + REST_S - asyncio.get_running_loop().time()
        connection = self._response.connection
        protocol = None if connection is None else connection.protocol
        if left <= 0 or protocol is None:
            return
        protocol.pause_reading()
        try:
            await asyncio.sleep(left)
        finally:
            protocol.resume_reading()

    def last(self) -> bytes:
        """A last line without an end."""
        return self._lines.rest()

    async def text(self) -> str:
        """What is said to a refusal, as far as anybody reads it. By its status it is one, whatever breaks off."""
        whole = bytearray()
        with contextlib.suppress(AnswerRefused, *LOST):
            while len(whole) < ERROR_BODY_MAX and (data := await self._response.content.readany()):
                for piece in pieces(data, self._packing):
                    whole += piece
                    if len(whole) >= ERROR_BODY_MAX:
                        break
        return bytes(whole[:ERROR_BODY_MAX]).decode("utf-8", "replace")

    def close(self) -> None:
        """The connection is closed at once; that of an answer which is over serves another request by now."""
        self._response.close()


class Web:
    """Makes requests, and keeps connections for the next one. Belongs to the loop that it is made on."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._trusted: ssl.SSLContext | None = None

    async def post(self, address: str, headers: Mapping[str, str], body: bytes, silence: float | None) -> WebAnswer:
        """``silence``: the most seconds in which nothing comes. Raises TimeoutError, AnswerRefused for a redirect, and
        what is LOST."""
        scheme, host = _parts(address)
        limit = aiohttp.ClientTimeout(total=None, connect=silence, sock_read=silence)
        response = await self._open().post(
            address,
            headers=headers,
            data=body,
            allow_redirects=False,
            timeout=limit,
            proxy=_proxy(scheme, host),
            ssl=await self._certificates() if scheme == "https" else True,
        )
        try:
            return WebAnswer(response)
        except AnswerRefused:
            response.close()
            raise

    async def forget(self) -> None:
        """Close connections that nobody uses."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(keepalive_timeout=KEPT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        return self._session

    async def _certificates(self) -> ssl.SSLContext:
        if self._trusted is None:
            self._trusted = await asyncio.to_thread(_trusted)
        return self._trusted


def _parts(address: str) -> tuple[str, str]:
    """Scheme and host. Raises aiohttp.InvalidURL for what is no address of the web."""
    try:
        parts = urllib.parse.urlsplit(address)
    except ValueError:
        raise aiohttp.InvalidURL(address) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise aiohttp.InvalidURL(address)
    return parts.scheme, parts.hostname


def _trusted() -> ssl.SSLContext:
    named = os.environ.get("SSL_CERT_FILE", "")
    return ssl.create_default_context(cafile=named if named and os.path.exists(named) else certifi.where())


def _proxy(scheme: str, host: str) -> str | None:
    known: dict[str, Any] = urllib.request.getproxies()
    if urllib.request.proxy_bypass(host):
        return None
    found = str(known.get(scheme) or known.get("all") or "")
    if not found:
        return None
    proxy = found if "://" in found else f"http://{found}"
    try:
        _parts(proxy)
    except aiohttp.InvalidURL:  # one of another kind (SOCKS) would be sent the request as if it were of the web
        raise aiohttp.InvalidURL("the proxy of this system") from None
    return proxy
