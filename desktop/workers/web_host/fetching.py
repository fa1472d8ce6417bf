"""Fetches one page: a GET without cookies, within limits.

A redirect is judged like the address itself before it is followed, and only followed to the same host.
"""

from __future__ import annotations

import asyncio

import httpx2

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.web.addresses import BadWebAddress, WebAddress, read_address
from desktop.workers.inside import CallError
from desktop.workers.web_host import limits
from desktop.workers.web_host.connecting import Asked, Way, asked, body_of, in_words, packings

AGENT = "Assent (reads one page for a person)"
_HEADERS = {
    "User-Agent": AGENT,
    "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1",
    "Accept-Encoding": "gzip, deflate",
}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What came, or where it leads on to."""

    address: WebAddress
    """Where it came from in the end."""
    status: int
    kind: str
    """The media type with its parameters, as the server says."""
    body: bytes = b""
    cut: bool = False
    """Whether there is more than was read."""
    leads_to: str = ""
    """Another host that the server sends on to, or ""; then nothing was read."""


async def fetch(address: WebAddress, way: Way) -> FetchedPage:
    """Read a page. Raises CallError."""
    with in_words(address, way):
        async with asyncio.timeout(limits.SECONDS):
            return await _followed(address, way)


async def _followed(address: WebAddress, way: Way) -> FetchedPage:
    for _ in range(limits.REDIRECTS + 1):
        found = await _one(address, way)
        if isinstance(found, FetchedPage):
            return found
        if not address.leads_on_to(found):
            return FetchedPage(address, 0, "", leads_to=found.text)
        address = found
    raise CallError("web.redirects", f"{address.host} redirects more than {limits.REDIRECTS} times.")


async def _one(address: WebAddress, way: Way) -> FetchedPage | WebAddress:
    """One answer: the page, or the address that it redirects to."""
    async with asked(address, Asked(_HEADERS), way) as response:
        if response.status_code in (301, 302, 303, 307, 308):
            return _next(address, response.headers.get("location", ""))
        kind = response.headers.get("content-type", "")[:200]
        inflaters = packings(response, address.host)
        body, cut = await body_of(response, inflaters) if readable(kind) else (b"", False)
        return FetchedPage(address, response.status_code, kind, body, cut)


def _next(address: WebAddress, location: str) -> WebAddress:
    try:
        return read_address(str(httpx2.URL(address.text).join(location)))
    except (BadWebAddress, httpx2.InvalidURL, ValueError) as error:
        why = str(error) if isinstance(error, BadWebAddress) else "That is no address."
        raise CallError("web.redirects", f"{address.host} redirects to what is not fetched: {why}") from None


def readable(kind: str) -> bool:
    """Whether the media type is one whose text is read."""
    media = kind.partition(";")[0].strip().lower()
    main, _, sub = media.partition("/")
    return not media or main == "text" or sub.endswith(("json", "xml", "yaml", "javascript"))
