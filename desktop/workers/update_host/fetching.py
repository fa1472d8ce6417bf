"""One file of one server: asked for with nothing but its name, never from another place, never for ever."""

from __future__ import annotations

import base64
import contextlib
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

import certifi
from tuf.api.exceptions import DownloadHTTPError
from tuf.ngclient.fetcher import FetcherInterface

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.web.addresses import BadWebAddress, WebAddress, read_address
from desktop.domain.web.nearness import Nearness
from desktop.domain.web.proxies import WebProxies, proxy_name
from desktop.workers.inside import CallError
from desktop.workers.update_host import limits

HEADERS: Mapping[str, str] = {"User-Agent": "Assent", "Connection": "close"}
"""All that is said beside the name of the file and of the host: the same for everybody."""
_REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a file may take. All in seconds."""

    silence: float = limits.SILENCE_S
    """Without a byte."""
    whole: float = limits.METADATA_S
    """For all of it."""
    slowest: int = 0
    """Bytes a second that it comes with at least; 0: however slowly."""
    window: float = limits.WINDOW_S
    """Over which that is looked at."""


PACKAGE = Patience(whole=limits.PACKAGE_S, slowest=limits.SLOWEST)


def served(address: str) -> WebAddress:
    """The address of a server of updates. Raises CallError: it has to be https, unless it is this computer."""
    try:
        found = read_address(address)
    except BadWebAddress as error:
        raise CallError("updates.address", f"The address of updates cannot be used. {error}") from None
    if found.scheme != "https" and found.near is not Nearness.HERE:
        raise CallError("updates.address", f"{found.host} is not asked for updates: its address is not encrypted.")
    return found


class OneServer(FetcherInterface):  # type: ignore[misc]  # its class has no types here
    """Files below one address. The library asks it for metadata; ``pieces`` is for what is larger.

    A redirect is refused: what a build names as its place is the place."""

    def __init__(self, base: WebAddress, proxies: WebProxies, patience: Patience | None = None) -> None:
        self._base, self._proxies, self._patience = base, proxies, patience or Patience()

    def _fetch(self, url: str) -> Iterator[bytes]:
        return self.pieces(url, self._patience)

    def pieces(self, url: str, patience: Patience) -> Iterator[bytes]:
        """The file, piece by piece. Raises CallError, and DownloadHTTPError for what the server does not have."""
        address = read_address(url)
        if (address.scheme, address.name, address.port) != (self._base.scheme, self._base.name, self._base.port):
            raise CallError("updates.elsewhere", f"{self._base.host} names a file on another server; it is not asked.")
        host = self._base.host
        try:
            yield from self._read(address, patience)
        except TimeoutError:
            raise CallError("updates.slow", f"{host} does not answer, or too slowly.") from None
        except ssl.SSLError:
            raise CallError("updates.certificate", f"{host} has no certificate that this computer trusts.") from None
        except (OSError, http.client.HTTPException) as error:
            raise CallError("updates.unreachable", f"{host} cannot be reached ({type(error).__name__}).") from None

    def _read(self, address: WebAddress, patience: Patience) -> Iterator[bytes]:
        connection = self._connection(address, patience)
        clock = _Deadline(patience)
        with contextlib.closing(connection), clock:
            try:
                yield from self._answer(connection, address, clock)
            except (OSError, http.client.HTTPException):
                if clock.is_over:  # which is how it ended the connection
                    raise TimeoutError from None
                raise

    def _answer(self, connection: http.client.HTTPConnection, address: WebAddress, clock: _Deadline) -> Iterator[bytes]:
        connection.connect()
        clock.ends(connection.sock)
        connection.request("GET", address.target, headers=dict(HEADERS))
        with contextlib.closing(connection.getresponse()) as response:
            if response.status in _REDIRECTS:
                words = f"{self._base.host} sends on to another place, which is not asked for updates."
                raise CallError("updates.elsewhere", words)
            if response.status != http.client.OK:
                raise DownloadHTTPError(f"{address.target} gives {response.status}", response.status)
            while piece := clock.checked(response.read1(limits.CHUNK)):
                yield piece
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)

    def _connection(self, address: WebAddress, patience: Patience) -> http.client.HTTPConnection:
        proxy = self._proxies.of(address)
        if address.scheme == "http":  # this computer, which no proxy is asked for
            return http.client.HTTPConnection(address.name, address.port, timeout=patience.silence)
        context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or certifi.where())
        if not proxy:
            return http.client.HTTPSConnection(address.name, address.port, timeout=patience.silence, context=context)
        parts = urlsplit(proxy)
        if parts.scheme.lower() != "http" or not proxy_name(proxy):
            words = f"{address.host} cannot be asked: this computer's proxy is of a kind that cannot be used."
            raise CallError("updates.proxy", words)
        made = http.client.HTTPSConnection(
            str(parts.hostname), parts.port or 80, timeout=patience.silence, context=context
        )
        made.set_tunnel(address.name, address.port, _for_proxy(parts.username, parts.password))
        return made


def _for_proxy(user: str | None, password: str | None) -> dict[str, str]:
    if user is None:
        return {}
    said = f"{unquote(user)}:{unquote(password or '')}".encode()
    return {"Proxy-Authorization": f"Basic {base64.b64encode(said).decode()}"}


class _Deadline:
    """Ends a connection whose time is up, in whatever it waits for, and one that drips."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._timer = threading.Timer(patience.whole, self._end)
        self._timer.daemon = True
        self._socket: socket.socket | None = None
        self.is_over = False
        self._since, self._came = time.monotonic(), 0

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def ends(self, connected: socket.socket) -> None:
        """This is what it ends."""
        self._socket = connected
        if self.is_over:
            self._end()

    def _end(self) -> None:
        self.is_over = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def checked(self, piece: bytes) -> bytes:
        """The same piece. Raises TimeoutError when it took too long."""
        if self.is_over:
            raise TimeoutError
        self._came += len(piece)
        now = time.monotonic()
        if now - self._since > self._patience.window:
            if self._came < self._patience.slowest * (now - self._since):
                raise TimeoutError
            self._since, self._came = now, 0
        return piece
