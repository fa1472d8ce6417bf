"""How near an address is to this computer: what strangers name (a page, a server) must not lead us inside (SSRF)."""

from __future__ import annotations

import ipaddress
import urllib.parse
from enum import IntEnum

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Nearness(IntEnum):
    """How near an address is: the greater, the less may lead there."""

    PUBLIC = 0
    NETWORK = 1
    HERE = 2
    NEVER = 3


_NAT64 = tuple(ipaddress.IPv6Network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48"))
_COMPATIBLE, _SITE = ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("fec0::/10")


def nearness(address: str) -> Nearness:
    """That of an IP address. One that holds another (mapped, 6to4, NAT64) is as near as that one, and never public: who
    answers there is for a gateway to say."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return _plain(found.ipv4_mapped)
        inner = _inside(found)
        if inner is not None:
            return max(Nearness.NETWORK, _plain(inner))
    return _plain(found)


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address of the older kind that it holds."""
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    embeds = any(address in one for one in _NAT64) or (address in _COMPATIBLE and int(address) > 1)
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if embeds else None


def _plain(address: _Address) -> Nearness:
    if address.is_loopback:
        return Nearness.HERE
    if address.is_link_local or address.is_multicast or address.is_unspecified:  # the services of clouds, among others
        return Nearness.NEVER
    inside = address.is_reserved or (address.version == 6 and address in _SITE) or not address.is_global
    return Nearness.NETWORK if inside else Nearness.PUBLIC


def named(host: str) -> Nearness | None:
    """What a host says by itself; None: a name that has to be looked up."""
    if host.rstrip(".").lower() == "localhost" or host.rstrip(".").lower().endswith(".localhost"):
        return Nearness.HERE
    try:
        return nearness(host.strip("[]"))
    except ValueError:
        return None


def is_local_address(address: str) -> bool:
    """On this machine or in its own network, as far as the address says: nothing is looked up. What is no address is
    not there."""
    try:
        host = urllib.parse.urlsplit(address).hostname or ""
    except ValueError:
        return False
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".lan", ".home.arpa"))
