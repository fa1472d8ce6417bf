"""A server over HTTP: the library's clients (streamable HTTP, and the older SSE), with answers capped and redirects
kept on their origin."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits

CONNECT_S = 15.0
READ_S = 300.0
"""Seconds; a server may be silent for long on a stream of events. Every call has its own limit beside."""
_NO_STREAMABLE = (400, 404, 405, 406, 415)
"""What a server that knows the older transport alone answers to a POST."""


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
    """Caps each answer that is no stream of events; those are capped event by event by the library. A stream that was
    asked for by GET may be silent as long as it likes: nothing comes on it until something changes."""

    endpoint: WebEndpoint

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        wants_all = not options.pop("stream", False)
        if request.method == "GET" and "text/event-stream" in request.headers.get("accept", ""):
            request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "read": None}
        response = await super().send(request, stream=True, **options)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Capped(response.stream)
        if request.method == "POST" and (refusal := self.endpoint.answered(response)) is not None:
            await response.aclose()
            return refusal
        if wants_all:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


class WebEndpoint:
    """One address and how it answered. ``auth`` signs requests, where a person signed in."""

    def __init__(self, url: str, headers: Mapping[str, str], auth: httpx2.Auth | None = None) -> None:
        self._url, self._headers, self._auth = url, dict(headers), auth
        self._status = 0
        self._older = False

    def answered(self, response: httpx2.Response) -> httpx2.Response | None:
        """Look at the status of an answer. One that wants a sign-in, or more of it than there is, becomes an error of
        the protocol: it costs its own request and not the session. Raises CallError in the older transport, which has
        no place for that."""
        self._status = response.status_code
        challenge = response.headers.get("www-authenticate", "")[: limits.WORDS_MAX]
        more = response.status_code == HTTPStatus.FORBIDDEN and "insufficient_scope" in challenge
        if response.status_code != HTTPStatus.UNAUTHORIZED and not more:
            return None
        words = "It wants more than it was allowed." if more else "It wants to know who you are (401 Unauthorized)."
        data = {"status": response.status_code, "challenge": challenge}
        if self._older:
            raise CallError("mcp.unauthorized", words, data)
        error = {"code": limits.UNAUTHORIZED, "message": words, "data": data}
        told = {"jsonrpc": "2.0", "id": None, "error": error}
        return httpx2.Response(response.status_code, json=told, request=response.request)

    @property
    def knows_older_alone(self) -> bool:
        """Whether its last answer is that of a server with the older transport."""
        return self._status in _NO_STREAMABLE

    def words(self, error: CallError) -> CallError:
        """An error with the status of the answer, where the library has no better word for it."""
        if "returned an error response" not in str(error) or not self._status:
            return error
        names = {one.value: one.phrase for one in HTTPStatus}
        return CallError(
            error.code, f"It answered {self._status} {names.get(self._status, '')}.".replace(" .", "."), error.data
        )

    def _client(self, **options: Any) -> _Client:
        client = _Client(**{"headers": self._headers, "auth": self._auth, **options})
        client.endpoint = self
        return client

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """The streams of one session."""
        async with (
            self._client(timeout=httpx2.Timeout(CONNECT_S, read=READ_S)) as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=limits.MESSAGE_MAX) as streams,
        ):
            yield streams

    @contextlib.asynccontextmanager
    async def older_streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """The streams of one session in the older way: one long answer with events, and a POST for each message."""

        def made(*, headers: Any, timeout: Any, auth: Any) -> httpx2.AsyncClient:
            del headers, auth  # what is sent is ours to say
            return self._client(timeout=timeout)

        self._older = True
        async with sse_client(self._url, timeout=CONNECT_S, httpx_client_factory=made) as streams:
            yield streams
