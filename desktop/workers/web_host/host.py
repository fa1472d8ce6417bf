"""The methods of the web host: ``page``, ``search``. It ends when nobody has asked for a while."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import certifi

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.web.addresses import BadWebAddress, read_address
from desktop.domain.web.proxies import WebProxies, proxies_of
from desktop.workers.hardening import bound_memory, bound_time, harden, shut_in_with_network
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.web_host import limits
from desktop.workers.web_host.connecting import Way
from desktop.workers.web_host.decoding import decoded
from desktop.workers.web_host.fetching import FetchedPage, fetch, readable
from desktop.workers.web_host.markdown import ConvertedPage, to_markdown, without_unseen
from desktop.workers.web_host.searching import SearchQuery, search

SERVICE = "web-host"
VERSION = "1"
IDLE = 60.0
"""Seconds without a call after which the process ends."""
_MAGIC = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x7fELF",
)
"""How files begin that are no text."""
_NAMED = {
    "application/pdf": "a PDF",
    "image": "a picture",
    "audio": "sound",
    "video": "a film",
    "application/zip": "an archive",
}


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page in memory, for its next part."""

    said: Mapping[str, Any]
    text: str
    at: float


class WebHost:
    """``working`` is told True when a call begins and False when none is left."""

    def __init__(self, proxies: WebProxies) -> None:
        self._proxies = proxies
        self._calls = 0
        self._pages: OrderedDict[str, ReadPage] = OrderedDict()
        self._converting = asyncio.Lock()
        self.working: Callable[[bool], None] = lambda _: None

    def methods(self) -> dict[str, Any]:
        """By name."""
        return {"page": self.page, "search": self.search}

    async def page(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams a part of a page; the value says where it came from and how much there is of it."""
        with self._at_work():
            return await self._page(call)

    async def search(self, call: WorkerCall) -> Mapping[str, Any]:
        """Results of a search service."""
        with self._at_work():
            kind, base = str(call.params["service"]), str(call.params["url"])
            count = max(1, min(int(call.params["count"]), limits.RESULTS))
            query = SearchQuery(str(call.params["query"])[: limits.QUERY], count, str(call.params.get("key", "")))
            return await search(kind, base, query, self._way(call.params))

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        self._calls += 1
        self.working(True)
        try:
            yield
        finally:
            self._calls -= 1
            self.working(self._calls > 0)

    async def _page(self, call: WorkerCall) -> Mapping[str, Any]:
        offset = max(0, int(call.params.get("offset", 0)))
        size = max(1, min(int(call.params["size"]), limits.SHOWN))
        try:
            address = read_address(str(call.params["url"]))
        except BadWebAddress as error:
            raise CallError("web.address", str(error)) from None
        found = self._kept(address.text) if offset else None
        if found is None:
            fetched = await fetch(address, self._way(call.params))
            if fetched.leads_to:
                return {"leads_to": fetched.leads_to, "url": fetched.address.text}
            found = await self._read(fetched)
            self._keep(address.text, found)
        part = found.text[offset : offset + size]
        for at in range(0, len(part), limits.PIECE):
            await call.emit({"text": part[at : at + limits.PIECE]})
        return {**found.said, "total": len(found.text), "offset": offset}

    def _way(self, params: Mapping[str, Any]) -> Way:
        return Way([str(one) for one in params.get("allowed", ())], self._proxies)

    def _kept(self, address: str) -> ReadPage | None:
        found = self._pages.get(address)
        return found if found is not None and time.monotonic() - found.at < limits.KEPT_S else None

    def _keep(self, address: str, page: ReadPage) -> None:
        self._pages.pop(address, None)
        self._pages[address] = page
        while len(self._pages) > limits.KEPT:
            self._pages.popitem(last=False)

    async def _read(self, page: FetchedPage) -> ReadPage:
        if not readable(page.kind) or _is_binary(page.body):
            media = page.kind.partition(";")[0].strip().lower()
            what = _NAMED.get(media) or _NAMED.get(media.partition("/")[0]) or "no text"
            name = f" ({media})" if re.fullmatch(r"[\w.+-]+/[\w.+-]+", media) else ""
            raise CallError("web.no_text", f"{page.address.host} sent {what}{name}; only text is read.")
        async with self._converting:
            with bound_time(limits.CONVERT_S):
                made = await asyncio.to_thread(_converted, page)
        said = {
            "url": page.address.text,
            "status": page.status,
            "title": made.title,
            "hidden": made.hidden,
            "cut": page.cut,
            "bytes": len(page.body),
        }
        return ReadPage(said, made.text, time.monotonic())


def _converted(page: FetchedPage) -> ConvertedPage:
    text = decoded(page.body, page.kind)
    media = page.kind.partition(";")[0].strip().lower()
    if "html" in media or (not media and text.lstrip()[:1] == "<"):
        return to_markdown(text, page.address.text)
    if media.endswith("json"):
        text = _laid_out(text)
    plain, hidden = without_unseen(text)
    return ConvertedPage("", plain, hidden)


def _laid_out(text: str) -> str:
    """JSON a line an entry, as long as that does not make much more of it: it is nested as its server likes."""
    most, pieces, size = 3 * len(text) + 10_000, list[str](), 0
    try:
        for piece in json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(read_json(text)):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                return text
    except (ValueError, RecursionError):
        return text
    return "".join(pieces)


def _is_binary(body: bytes) -> bool:
    """Whether it is no text, whatever its server calls it."""
    text_marks = (b"\xff\xfe", b"\xfe\xff")
    return body.startswith(_MAGIC) or (b"\x00" in body[:8192] and not body.startswith(text_marks))


async def serve(host: WebHost, idle: float) -> None:
    """Until the app is gone, or nobody has asked for ``idle`` seconds."""
    reader, writer = await pipes()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(idle) as limit:
            host.working = lambda working: limit.reschedule(None if working else loop.time() + idle)
            await ChildServer(SERVICE, VERSION, host.methods()).serve(reader, writer)


def main(launcher: str = "", idle: float = IDLE) -> None:
    """Run the process until it is idle or its parent is gone."""
    harden()
    if launcher:
        shut_in_with_network(launcher, read=(os.path.dirname(certifi.where()),))
    bound_memory(limits.MEMORY)
    run(lambda: serve(WebHost(proxies_of(os.environ)), idle), SERVICE)
