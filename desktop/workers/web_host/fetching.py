"""Fetches one page: a GET without cookies, from a public address, within limits.

The name is looked up once, every address that it has is judged, and one of those is connected to: a name that leads
elsewhere a moment later leads nowhere here. A redirect is judged in the same way before it is followed, and only
followed to the same host.
"""

from __future__ import annotations

import asyncio
import functools
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import certifi
import httpx2

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.web.addresses import BadWebAddress, WebAddress, read_address
from desktop.domain.web.nearness import Nearness, nearness
from desktop.workers.inflating import INFLATERS, BadPacking, Inflater, unpacked
from desktop.workers.inside import CallError
from desktop.workers.web_host import limits

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a name. Raises OSError."""
AGENT = "Assent (reads one page for a person)"
_HEADERS = {
    "User-Agent": AGENT,
    "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "close",
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


async def look_up(name: str, port: int) -> Sequence[str]:
    """The addresses of a name by this computer's own settings."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


async def fetch(address: WebAddress, allowed: Sequence[str], resolve: Resolve = look_up) -> FetchedPage:
    """Read a page. ``allowed``: hosts that may lie in the person's own network. Raises CallError."""
    try:
        async with asyncio.timeout(limits.SECONDS):
            return await _followed(address, allowed, resolve)
    except TimeoutError:
        raise CallError("web.slow", f"{address.host} did not send the page within {limits.SECONDS:g} s.") from None
    except httpx2.TimeoutException:
        raise CallError("web.slow", f"{address.host} did not answer in time.") from None
    except httpx2.HTTPError as error:  # its text may hold what the server sent
        words = f"{address.host} could not be read ({type(error).__name__})."
        raise CallError("web.failed", words) from None
    except BadPacking:
        raise CallError("web.unreadable", f"{address.host} sent a page that is packed in a broken way.") from None


async def _followed(address: WebAddress, allowed: Sequence[str], resolve: Resolve) -> FetchedPage:
    for _ in range(limits.REDIRECTS + 1):
        found = await _one(address, allowed, resolve)
        if isinstance(found, FetchedPage):
            return found
        if not address.leads_on_to(found):
            return FetchedPage(address, 0, "", leads_to=found.text)
        address = found
    raise CallError("web.redirects", f"{address.host} redirects more than {limits.REDIRECTS} times.")


async def _one(address: WebAddress, allowed: Sequence[str], resolve: Resolve) -> FetchedPage | WebAddress:
    """One answer: the page, or the address that it redirects to."""
    connected = await _judged(address, allowed, resolve)
    timeout = httpx2.Timeout(limits.SECONDS, connect=limits.CONNECT_S)
    trusted = _trusted() if address.scheme == "https" else False
    async with httpx2.AsyncHTTPTransport(verify=trusted, trust_env=False) as transport:
        host = f"[{connected}]" if ":" in connected else connected
        url = f"{address.scheme}://{host}:{address.port}{address.target}"
        shown = f"[{address.name}]" if ":" in address.name else address.name
        named = shown if address.port in (80, 443) else f"{shown}:{address.port}"
        extensions = {"sni_hostname": address.name, "timeout": timeout.as_dict()}
        request = httpx2.Request("GET", url, headers={"Host": named, **_HEADERS}, extensions=extensions)
        response = await transport.handle_async_request(request)
        try:
            if response.status_code in (301, 302, 303, 307, 308):
                return _next(address, response.headers.get("location", ""))
            return await _read(address, response)
        finally:
            await response.aclose()


async def _judged(address: WebAddress, allowed: Sequence[str], resolve: Resolve) -> str:
    """The IP address that is connected to. Raises CallError for a name that leads inside."""
    if not _is_name(address.name):
        addresses: Sequence[str] = (address.name,)
    else:
        try:
            addresses = await resolve(address.name, address.port)
        except OSError:
            raise CallError("web.unknown_host", f"There is no host {address.name}, or no network.") from None
    limit = Nearness.HERE if address.host in allowed or address.name in allowed else Nearness.PUBLIC
    if not addresses or any(nearness(one) > limit for one in addresses):
        raise CallError(
            "web.private",
            f"{address.name} leads inside this computer or its network. Pages there are not read unless the person "
            "adds the host in Settings, Tools and limits, Hosts of your own network.",
        )
    return addresses[0]


@functools.cache
def _trusted() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes a while."""
    return ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or certifi.where())


def _is_name(name: str) -> bool:
    try:
        nearness(name)
    except ValueError:
        return True
    return False


def _next(address: WebAddress, location: str) -> WebAddress:
    try:
        return read_address(str(httpx2.URL(address.text).join(location)))
    except (BadWebAddress, httpx2.InvalidURL, ValueError) as error:
        why = str(error) if isinstance(error, BadWebAddress) else "That is no address."
        raise CallError("web.redirects", f"{address.host} redirects to what is not fetched: {why}") from None


async def _read(address: WebAddress, response: httpx2.Response) -> FetchedPage:
    packed = response.headers.get("content-encoding", "").lower()
    names = [name for part in packed.split(",") if (name := part.strip()) not in ("", "identity")]
    if len(names) > limits.PACKINGS or any(name not in INFLATERS for name in names):
        words = f"{address.host} sent a page packed in a way that was not asked for ({packed[:40]!a})."
        raise CallError("web.unreadable", words)
    kind = response.headers.get("content-type", "")[:200]
    body, cut = bytearray(), False
    if readable(kind):
        inflaters = [Inflater(name) for name in reversed(names)]
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        cut = await _filled(body, stream.__aiter__(), inflaters)
    return FetchedPage(address, response.status_code, kind, bytes(body), cut)


async def _filled(body: bytearray, stream: AsyncIterator[bytes], inflaters: list[Inflater]) -> bool:
    """Read up to the limit; whether there was more."""
    wire = 0
    async for chunk in stream:
        wire += len(chunk)
        for piece in unpacked(chunk, inflaters):
            body += piece
            if len(body) > limits.BODY:
                del body[limits.BODY :]
                return True
            await asyncio.sleep(0)
        if wire > limits.WIRE:
            return True
    return False


def readable(kind: str) -> bool:
    """Whether the media type is one whose text is read."""
    media = kind.partition(";")[0].strip().lower()
    main, _, sub = media.partition("/")
    return not media or main == "text" or sub.endswith(("json", "xml", "yaml", "javascript"))
