"""Where a sign-in may go: a server in the net cannot send us to addresses inside this computer or its network (SSRF).

A server names the addresses of its metadata and of its sign-in server, and may name any. So each address may be as far
away as the server itself or further, never nearer, and over https where it is not on this computer.
"""

from __future__ import annotations

import ipaddress
from enum import IntEnum
from urllib.parse import urlsplit


class Nearness(IntEnum):
    """How near an address is: the greater, the less may lead there."""

    PUBLIC = 0
    NETWORK = 1
    HERE = 2
    NEVER = 3


def nearness(address: str) -> Nearness:
    """That of an IP address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    found = mapped or found
    if found.is_loopback:
        return Nearness.HERE
    if found.is_link_local or found.is_multicast or found.is_unspecified:  # the services of clouds, among others
        return Nearness.NEVER
    return Nearness.PUBLIC if found.is_global else Nearness.NETWORK


def refused(url: str, limit: Nearness) -> str:
    """Why nothing is sent to this address, as far as it says itself, or ""."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "That is no address."
    if parts.scheme not in ("http", "https") or not host:
        return "That is no address of the web."
    known = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:200]
    if "@" in parts.netloc:
        return f"{known} is given with a name or a password."
    near = named(host)
    if near is Nearness.NEVER:
        return f"{known} is no place to sign in at."
    if near is not None and near > limit:
        return f"{known} is inside this computer or its network, and the server is not."
    if parts.scheme == "http" and near is not Nearness.HERE:
        return f"{known} is not protected on the way (http://)."
    return ""


def named(host: str) -> Nearness | None:
    """What a host says by itself; None: a name that has to be looked up."""
    if host.rstrip(".").lower() == "localhost" or host.rstrip(".").lower().endswith(".localhost"):
        return Nearness.HERE
    try:
        return nearness(host.strip("[]"))
    except ValueError:
        return None
