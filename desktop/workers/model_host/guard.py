"""Every answer that the model library gets passes here: redirects are refused, what is decoded is bounded.

The library follows redirects and takes the key along, to wherever a server says; it keeps a line of any length, and
unpacks whatever is packed. ``install`` puts this around the one function through which each of its requests goes.

What is passed on is whole lines, so that no reader above has to put small pieces together again and again; Amazon's
binary frames pass as they come and are bounded by their reader.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx

from desktop.workers.inflating import INFLATERS, BadPacking, Inflater, unpacked
from desktop.workers.model_host.limits import (
    ENCODINGS_MAX,
    ERROR_BODY_MAX,
    EVENT_LINES_MAX,
    LINE_MAX,
    LINES_MAX,
    RESPONSE_MAX,
)
from desktop.workers.model_host.refusals import AnswerRefused, place

_BLANK_LINES = (b"\n\n", b"\r\r", b"\r\n\r\n")
_ENDS = re.compile(rb"(?>(\r\n|[\r\n]))(?>\r\n|[\r\n])+")
_BLANK_RUN = re.compile(rb"(?>(\r\n|[\r\n]))(?>(\r\n|[\r\n]))(?>\r\n|[\r\n])+")
_FRAMES = ("/converse-stream", "/invoke-with-response-stream")  # answered in binary frames, not in lines
_LINES = ("/api/chat", "/api/generate")  # each line is a message, and there are no blank ones


class LineGuard:
    """Counts what comes, and lets whole lines through. ``events``: a reader above collects up to a blank line."""

    def __init__(self, *, events: bool, lines: bool = True, maximum: int = RESPONSE_MAX) -> None:
        self._events, self._by_line, self._maximum = events, lines, maximum
        self._size = 0
        self._line: list[bytes] = []
        self._line_size = 0
        self._tail = b""
        self._count = self._event_size = self._event_lines = 0

    def feed(self, data: bytes) -> bytes:
        """What may go on now. Raises Refused beyond a bound."""
        self._size += len(data)
        if self._size > self._maximum:
            raise AnswerRefused("model.too_large", f"its answer has more than {self._maximum // 1024**2} MB")
        if not self._by_line:
            return data
        self._count += data.count(b"\n") + data.count(b"\r")
        if self._count > LINES_MAX:
            raise AnswerRefused("model.too_large", f"its answer has more than {LINES_MAX:,} lines")
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not end:
            return self._hold(data)
        whole = self._squeezed(b"".join((*self._line, data[:end])))
        self._line, self._line_size = [], 0
        self._hold(data[end:])
        if self._events:
            self._measure_event(whole, whole.count(b"\n") + whole.count(b"\r"))
        return whole

    def rest(self) -> bytes:
        """A last line without an end."""
        whole, self._line = b"".join(self._line), []
        return whole

    def _squeezed(self, whole: bytes) -> bytes:
        """Without needless blank lines, each of which costs a reader above as much as a message."""
        if not self._events:
            return _ENDS.sub(rb"\1", whole).lstrip(b"\r\n")
        return _BLANK_RUN.sub(rb"\1\2", whole.lstrip(b"\r\n") if self._tail.endswith(_BLANK_LINES) else whole)

    def _hold(self, data: bytes) -> bytes:
        self._line.append(data)
        self._line_size += len(data)
        if self._line_size > LINE_MAX:
            raise AnswerRefused("model.too_large", f"its answer has a line of more than {LINE_MAX // 1024**2} MB")
        return b""

    def _measure_event(self, whole: bytes, ends: int) -> None:
        """What there is since the last blank line."""
        seen = self._tail + whole
        self._tail = seen[-3:]
        blank = max(at + len(end) if (at := seen.rfind(end)) >= 0 else -1 for end in _BLANK_LINES)
        if blank >= 0:
            whole = seen[blank:]
            ends = whole.count(b"\n") + whole.count(b"\r")
            self._event_size = self._event_lines = 0
        self._event_size += len(whole)
        self._event_lines += ends
        if self._event_size > LINE_MAX or self._event_lines > EVENT_LINES_MAX:
            raise AnswerRefused("model.too_large", "its answer has a message without an end")


class Bounded(httpx.AsyncByteStream):
    """A body, unpacked and bounded. ``cut``: too long a one ends early instead (what an error says)."""

    def __init__(self, body: Any, encodings: list[str], lines: LineGuard, *, cut: bool) -> None:
        self._body = body
        self._inflaters = [Inflater(name) for name in encodings]
        self._lines = lines
        self._cut = cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for packed in self._body:
                for piece in unpacked(packed, self._inflaters):
                    if whole := self._lines.feed(piece):
                        yield whole
                    await asyncio.sleep(0)  # others get their turn
        except BadPacking:
            raise AnswerRefused("model.unreadable", "it is packed in a broken way") from None
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
    packed = response.headers.get("content-encoding", "").lower()
    encodings = [name for part in packed.split(",") if (name := part.strip()) not in ("", "identity")]
    if len(encodings) > ENCODINGS_MAX or any(name not in INFLATERS for name in encodings):
        raise AnswerRefused("model.unreadable", f"it is packed in a way that was not asked for ({packed[:60]})")
    if encodings:
        del response.headers["content-encoding"]
        response.headers.pop("content-length", None)
    failed = response.status_code >= 400
    path = response.request.url.path
    lines = LineGuard(
        events=not failed and not path.endswith(_LINES),
        lines=not failed and not path.endswith(_FRAMES),
        maximum=ERROR_BODY_MAX if failed else RESPONSE_MAX,
    )
    response.stream = Bounded(response.stream, encodings[::-1], lines, cut=failed)


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
