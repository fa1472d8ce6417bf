"""Every answer that the model library gets passes here: redirects are refused, what is decoded is bounded.

The library follows redirects and takes the key along, to wherever a server says; it keeps a line of any length, and
unpacks whatever is packed. ``install`` puts this around the one function through which each of its requests goes.

What is passed on is whole lines, so that no reader above has to put small pieces together again and again; Amazon's
binary frames pass as they come and are bounded by their reader.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx

from desktop.workers.inflating import Inflater
from desktop.workers.model_host.bounds import LineGuard, inflaters, pieces
from desktop.workers.model_host.limits import ERROR_BODY_MAX, RESPONSE_MAX
from desktop.workers.model_host.refusals import AnswerRefused, place

_FRAMES = ("/converse-stream", "/invoke-with-response-stream")  # answered in binary frames, not in lines
_LINES = ("/api/chat", "/api/generate")  # each line is a message, and there are no blank ones


class Bounded(httpx.AsyncByteStream):
    """A body, unpacked and bounded. ``cut``: too long a one ends early instead (what an error says)."""

    def __init__(self, body: Any, packing: list[Inflater], lines: LineGuard, *, cut: bool) -> None:
        self._body = body
        self._packing = packing
        self._lines = lines
        self._cut = cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for packed in self._body:
                for piece in pieces(packed, self._packing):
                    if whole := self._lines.feed(piece):
                        yield whole
                    await asyncio.sleep(0)  # others get their turn
        except AnswerRefused as refused:
            if not (self._cut and refused.code == "model.too_large"):
                raise
        if rest := self._lines.rest():
            yield rest

    async def aclose(self) -> None:
        """Give the connection back to the pool."""
        await self._body.aclose()


def bound(response: httpx.Response) -> None:
    """Refuse what must not be taken, and bound the rest. Raises Refused; the body has not been read yet."""
    url = str(response.request.url)
    if 300 <= response.status_code < 400:
        raise AnswerRefused("model.redirected", place(url, response.headers.get("location", "")))
    packing = inflaters(response.headers.get("content-encoding", ""))
    if packing:
        del response.headers["content-encoding"]
        response.headers.pop("content-length", None)
    failed = response.status_code >= 400
    path = response.request.url.path
    lines = LineGuard(
        events=not failed and not path.endswith(_LINES),
        lines=not failed and not path.endswith(_FRAMES),
        maximum=ERROR_BODY_MAX if failed else RESPONSE_MAX,
    )
    response.stream = Bounded(response.stream, packing, lines, cut=failed)


def install() -> None:
    """Once, before the library is loaded: its clients all inherit from these two. What is replaced is what makes one
    request and follows nothing; the public ``send`` around it has read the redirect before it returns."""
    httpx.AsyncClient._send_single_request = _guarded(httpx.AsyncClient._send_single_request)  # type: ignore[method-assign]
    httpx.Client._send_single_request = _never  # type: ignore[assignment, method-assign]


def _guarded(send: Callable[..., Awaitable[httpx.Response]]) -> Any:
    async def guarded(self: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        response = await send(self, request)
        try:
            bound(response)
        except AnswerRefused:
            await response.aclose()
            raise
        return response

    return guarded


def _never(*_: Any) -> httpx.Response:
    """Nothing here asks without a loop; what would is not guarded."""
    raise AnswerRefused("model.unreadable", "the library made a request of a kind that is not used")
