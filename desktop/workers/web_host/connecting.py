"""One request to one place of the web: only to an address that was judged, and never on to another place.

The name is looked up once, every address that it has is judged, and one of those is connected to: a name that leads
elsewhere a moment later leads nowhere here. That holds through a proxy, too, which is told the address and not the
name; only a host that the person has named in the settings is looked up by the proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

import certifi
import httpx2

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.web.addresses import WebAddress
from desktop.domain.web.nearness import Nearness, nearness
from desktop.domain.web.proxies import WebProxies, proxy_name
from desktop.workers.inflating import INFLATERS, BadPacking, Inflater, unpacked
from desktop.workers.inside import CallError
from desktop.workers.web_host import limits

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a name. Raises OSError."""
SETTING = "Settings, Tools and limits, Hosts of your own network"
_BY_NAME = "A host that the person adds in " + SETTING + ", is asked for by its name, which the proxy looks up: {host}."
_PROXIES = ("http", "https")
_DIRECT = WebProxies()
_OWN_PART = 64
"""Of an IPv6 address, the part that is a computer's own in its network."""


async def look_up(name: str, port: int) -> Sequence[str]:
    """The addresses of a name by this computer's own settings."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


@functools.cache
def known_authorities() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes a while."""
    return ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or certifi.where())


@dataclass(frozen=True, slots=True)
class Way:
    """How places are reached."""

    own: Sequence[str] = ()
    """Hosts that may lie in the person's own network."""
    proxies: WebProxies = _DIRECT
    """The proxies of the person's network."""
    resolve: Resolve = look_up
    """How names are looked up."""
    trusted: Callable[[], ssl.SSLContext] = known_authorities
    """Whose certificates count."""

    def is_own(self, address: WebAddress) -> bool:
        """Whether the person has named this host."""
        return not {address.host, address.name}.isdisjoint(self.own)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is sent."""

    headers: Mapping[str, str]
    """Beside the host's name."""
    method: str = "GET"
    """How it is sent."""
    body: bytes = b""
    """What is sent with it."""


@contextlib.contextmanager
def in_words(address: WebAddress, way: Way) -> Iterator[None]:
    """What goes wrong with a host, in words of ours: those of libraries may hold what it sent, or a key."""
    host, proxy = address.host, way.proxies.of(address)
    try:
        yield
    except TimeoutError:
        raise CallError("web.slow", f"{host} did not send all of it within {limits.SECONDS:g} s.") from None
    except httpx2.TimeoutException:
        raise CallError("web.slow", f"{host} did not answer in time.") from None
    except httpx2.ProxyError as error:
        number = re.match(r"\d{3}\b", str(error))
        why = f" (it answers {number[0]})" if number is not None else ""
        words = f"The proxy {proxy_name(proxy)} does not let this computer reach {host}{why}."
        step = "" if way.is_own(address) else f" {_BY_NAME.format(host=host)}"
        raise CallError("web.proxy", f"{words}{step}") from None
    except httpx2.ConnectError:
        where = f"the proxy {proxy_name(proxy)}, or {host} through it," if proxy else host
        raise CallError("web.unreachable", f"{where[:1].upper()}{where[1:]} cannot be reached.") from None
    except httpx2.HTTPError as error:
        raise CallError("web.failed", f"{host} could not be read ({type(error).__name__}).") from None
    except BadPacking:
        raise CallError("web.unreadable", f"{host} sent something that is packed in a broken way.") from None


@contextlib.asynccontextmanager
async def asked(address: WebAddress, what: Asked, way: Way) -> AsyncIterator[httpx2.Response]:
    """The answer, its body not read yet. Raises CallError, and what ``in_words`` puts into words."""
    proxy = way.proxies.of(address)
    through = _proxy(proxy, address.host, way)
    connected = await _judged(address, way, proxy)
    timeout = httpx2.Timeout(limits.SECONDS, connect=limits.CONNECT_S)
    trusted = way.trusted() if address.scheme == "https" else False
    async with httpx2.AsyncHTTPTransport(verify=trusted, trust_env=False, proxy=through) as transport:
        host = f"[{connected}]" if ":" in connected else connected
        url = f"{address.scheme}://{host}:{address.port}{address.target}"
        shown = f"[{address.name}]" if ":" in address.name else address.name
        named = shown if address.port in (80, 443) else f"{shown}:{address.port}"
        extensions = {"sni_hostname": address.name, "timeout": timeout.as_dict()}
        headers = {"Host": named, **what.headers, "Connection": "close"}
        request = httpx2.Request(what.method, url, headers=headers, content=what.body, extensions=extensions)
        response = await transport.handle_async_request(request)
        try:
            if through is not None and response.status_code == 407:  # of the proxy; a tunnel has ended before this
                raise httpx2.ProxyError("407")
            yield response
        finally:
            await response.aclose()


def _proxy(proxy: str, host: str, way: Way) -> httpx2.Proxy | None:
    """Raises CallError for one that cannot be used."""
    if not proxy:
        return None
    if (kind := proxy.partition("://")[0].lower()) not in _PROXIES:
        words = f"{host} is not read: this computer's proxy is one of the kind {kind[:20]}, which cannot be used."
        raise CallError("web.proxy", f"{words} HTTPS_PROXY can name one that begins with http://.")
    if not proxy_name(proxy):
        raise CallError("web.proxy", f"{host} is not read: HTTPS_PROXY holds no address of a proxy.")
    return httpx2.Proxy(proxy, ssl_context=way.trusted() if kind == "https" else None)


async def _judged(address: WebAddress, way: Way, proxy: str) -> str:
    """The IP address that is connected to, or the name for a proxy that looks it up. Raises CallError for a name that
    leads inside."""
    own = way.is_own(address)
    if not _is_name(address.name):
        addresses: Sequence[str] = (address.name,)
    elif proxy and own:
        return address.name
    elif proxy and address.scheme == "http":
        words = f"{address.host} is not encrypted, and is not read through the proxy {proxy_name(proxy)}."
        raise CallError("web.proxy", f"{words} Use https://, if it has that. {_BY_NAME.format(host=address.host)}")
    else:
        addresses = await _looked_up(address, way, proxied=bool(proxy))
    limit = Nearness.HERE if own else Nearness.PUBLIC
    if not addresses or any(nearness(one) > limit or (not own and is_beside(one)) for one in addresses):
        raise CallError(
            "web.private",
            f"{address.name} leads inside this computer or its network. Pages there are not read unless the person "
            f"adds the host in {SETTING}.",
        )
    return addresses[0]


def is_beside(address: str) -> bool:
    """Whether an address is one of this computer's own, or of its own network by IPv6, where all are public. Nothing
    is sent: the kernel only says from where it would."""
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(kind, socket.SOCK_DGRAM) as asking:
            asking.connect((address, 9))
            return in_one_network(str(asking.getsockname()[0]), address)
    except (OSError, ValueError):
        return False


def in_one_network(ours: str, theirs: str) -> bool:
    """Whether two addresses are the same, or by IPv6 differ in the part alone that tells apart what is in a network."""
    one, other = ipaddress.ip_address(ours), ipaddress.ip_address(theirs)
    bits = _OWN_PART if one.version == other.version == 6 else 0
    return one.version == other.version and int(one) >> bits == int(other) >> bits


async def _looked_up(address: WebAddress, way: Way, *, proxied: bool) -> Sequence[str]:
    try:
        return await way.resolve(address.name, address.port)
    except OSError:
        if not proxied:
            raise CallError("web.unknown_host", f"There is no host {address.name}, or no network.") from None
        words = f"This computer cannot look up {address.name}, so that nobody can tell whether it leads inside."
        raise CallError("web.proxy", f"{words} {_BY_NAME.format(host=address.name)}") from None


def _is_name(name: str) -> bool:
    try:
        nearness(name)
    except ValueError:
        return True
    return False


def packings(response: httpx2.Response, host: str) -> list[Inflater]:
    """What unpacks the body. Raises CallError for a packing that was not asked for."""
    packed = response.headers.get("content-encoding", "").lower()
    names = [name for part in packed.split(",") if (name := part.strip()) not in ("", "identity")]
    if len(names) > limits.PACKINGS or any(name not in INFLATERS for name in names):
        words = f"{host} sent a page packed in a way that was not asked for ({packed[:40]!a})."
        raise CallError("web.unreadable", words)
    return [Inflater(name) for name in reversed(names)]


async def body_of(response: httpx2.Response, inflaters: list[Inflater], most: int = limits.BODY) -> tuple[bytes, bool]:
    """The body up to ``most`` bytes, and whether there was more."""
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    body, wire = bytearray(), 0
    async for chunk in stream:
        wire += len(chunk)
        for piece in unpacked(chunk, inflaters):
            body += piece
            if len(body) > most:
                return bytes(body[:most]), True
            await asyncio.sleep(0)
        if wire > limits.WIRE:
            return bytes(body), True
    return bytes(body), False
