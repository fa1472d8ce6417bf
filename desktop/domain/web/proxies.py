"""The proxy that a person's network asks for, as their environment names it: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY,
NO_PROXY, in capitals or not."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.web.addresses import WebAddress
from desktop.domain.web.nearness import Nearness

DIRECT = "localhost,127.0.0.1,::1"
"""This machine's own servers are never asked through a proxy."""


@dataclass(frozen=True, slots=True)
class WebProxies:
    """``proxies`` are addresses by the scheme of what is fetched, or under ``all``; each may hold a password."""

    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    without: tuple[str, ...] = ()
    """Hosts that are asked directly: names with all below them, networks, or ``*``."""

    def of(self, address: WebAddress) -> str:
        """The address of the proxy for this page, or "": it is asked directly."""
        proxy = self.proxies.get(address.scheme) or self.proxies.get("all", "")
        if not proxy or address.near is Nearness.HERE or any(_covers(one, address) for one in self.without):
            return ""
        return proxy if "://" in proxy else f"http://{proxy}"


def proxies_of(environment: Mapping[str, str]) -> WebProxies:
    """What an environment says. The small spelling goes first, as in other programs."""

    def said(name: str) -> str:
        return (environment.get(name) or environment.get(name.upper()) or "").strip()

    proxies = {kind: found for kind in ("http", "https", "all") if (found := said(f"{kind}_proxy"))}
    without = (part.strip().lower() for part in f"{said('no_proxy')},{DIRECT}".replace(" ", ",").split(","))
    return WebProxies(proxies, tuple(part for part in without if part))


def proxy_name(proxy: str) -> str:
    """A proxy as it is named to people: host and port, never its password; "" for what is no address."""
    try:
        parts = urlsplit(proxy)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    shown = f"[{name}]" if ":" in name else name
    if not re.fullmatch(r"[\w.:-]+", name):
        return ""
    return f"{shown}:{port}" if port else shown


def _covers(entry: str, address: WebAddress) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return _in_network(address.name, entry)
    host, _, port = entry.rpartition(":") if entry.count(":") == 1 else (entry, "", "")
    if port and port != str(address.port):
        return False
    host = host.strip("[]").removeprefix("*").lstrip(".")
    return bool(host) and (address.name == host or address.name.endswith(f".{host}"))


def _in_network(name: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(name) in ipaddress.ip_network(network, strict=False)
    except (ValueError, TypeError):
        return False
