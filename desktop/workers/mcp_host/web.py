"""A server over HTTP: the library's streamable client, with answers capped and redirects kept on their origin."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from desktop.workers.mcp_host import limits

CONNECT_S = 15.0
READ_S = 300.0
"""Seconds; a server may be silent for long on a stream of events. Every call has its own limit beside."""


class _Capped(httpx2.AsyncByteStream):
    """A body that may not be longer than a message."""

    def __init__(self, body: Any) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > limits.MESSAGE_MAX:
                raise httpx2.ReadError(f"an answer of more than {limits.MESSAGE_MAX // 1024 // 1024} MB")
            yield chunk

    async def aclose(self) -> None:
        """Give the connection back to the pool."""
        await self._body.aclose()


class _Client(httpx2.AsyncClient):
    """Caps each answer that is no stream of events; those are capped event by event by the library."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        wants_all = not options.pop("stream", False)
        response = await super().send(request, stream=True, **options)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Capped(response.stream)
        if wants_all:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


@contextlib.asynccontextmanager
async def web_streams(url: str, headers: Mapping[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of one session."""
    timeout = httpx2.Timeout(CONNECT_S, read=READ_S)
    async with (
        _Client(headers=dict(headers), timeout=timeout) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=limits.MESSAGE_MAX) as streams,
    ):
        yield streams
