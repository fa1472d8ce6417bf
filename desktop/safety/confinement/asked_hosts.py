"""Which computers a command without the network asked for: its own packets say so (Linux).

In a copy it is in a network where every address is its own and nobody answers (``layering.py``). A socket keeps the
packets with which it asks for a name or opens a connection; when it has ended they are read here. What is in them is
the command's, so it is read as such: within bounds, and nothing is looked up.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

MAX_HOSTS = 50
_KEPT = 400
"""Bytes of a packet that are kept: a question for a name takes less."""
_LOAD, _LOAD_HALF, _LOAD_BYTE = 0x20, 0x28, 0x30
_LOAD_HALF_BEHIND, _LOAD_BYTE_BEHIND, _HEADER = 0x48, 0x50, 0xB1
_EQUAL, _MASK, _RETURN = 0x15, 0x54, 0x06
_PROTOCOL, _DIRECTION = 0xFFFFF000, 0xFFFFF004
_V4, _V6, _OUT = 0x0800, 0x86DD, 4
_UDP, _TCP, _ICMP, _ICMP6 = 17, 6, 1, 58
_NAMES, _BEGINS, _BEGIN_OR_ANSWER = 53, 0x02, 0x12
_PACKET, _STATISTICS = 263, 6
_RESOLVER = 65_536
_LONGEST_NAME = 253

_PROGRAM: tuple[tuple[str, int, int, str, str], ...] = (
    # what goes out: each packet passes twice
    ("", _LOAD, _DIRECTION, "", ""),
    ("", _EQUAL, _OUT, "", "no"),
    ("", _LOAD, _PROTOCOL, "", ""),
    ("", _EQUAL, _V4, "4", ""),
    ("", _EQUAL, _V6, "6", "no"),
    # IPv4: a question for a name, or what is not for this host: the first of a connection, a datagram, an echo
    ("4", _LOAD_BYTE, 16, "", ""),
    ("", _EQUAL, 127, "4 to itself", ""),
    ("", _HEADER, 0, "", ""),
    ("", _LOAD_BYTE, 9, "", ""),
    ("", _EQUAL, _UDP, "yes", ""),
    ("", _EQUAL, _TCP, "4 tcp", ""),
    ("", _EQUAL, _ICMP, "", "no"),
    ("", _LOAD_BYTE_BEHIND, 0, "", ""),
    ("", _EQUAL, 8, "yes", "no"),
    ("4 tcp", _LOAD_BYTE_BEHIND, 13, "", ""),
    ("", _MASK, _BEGIN_OR_ANSWER, "", ""),
    ("", _EQUAL, _BEGINS, "yes", "no"),
    ("4 to itself", _LOAD_BYTE, 9, "", ""),
    ("", _EQUAL, _UDP, "", "no"),
    ("", _HEADER, 0, "", ""),
    ("", _LOAD_HALF_BEHIND, 2, "", ""),
    ("", _EQUAL, _NAMES, "yes", "no"),
    # IPv6, the same; ::1 is this host
    ("6", _LOAD, 24, "", ""),
    ("", _EQUAL, 0, "", "6 away"),
    ("", _LOAD, 28, "", ""),
    ("", _EQUAL, 0, "", "6 away"),
    ("", _LOAD, 32, "", ""),
    ("", _EQUAL, 0, "", "6 away"),
    ("", _LOAD, 36, "", ""),
    ("", _EQUAL, 1, "", "6 away"),
    ("", _LOAD_BYTE, 6, "", ""),
    ("", _EQUAL, _UDP, "", "no"),
    ("", _LOAD_HALF, 42, "", ""),
    ("", _EQUAL, _NAMES, "yes", "no"),
    ("6 away", _LOAD_BYTE, 6, "", ""),
    ("", _EQUAL, _UDP, "yes", ""),
    ("", _EQUAL, _TCP, "6 tcp", ""),
    ("", _EQUAL, _ICMP6, "", "no"),
    ("", _LOAD_BYTE, 40, "", ""),
    ("", _EQUAL, 128, "yes", "no"),
    ("6 tcp", _LOAD_BYTE, 53, "", ""),
    ("", _MASK, _BEGIN_OR_ANSWER, "", ""),
    ("", _EQUAL, _BEGINS, "yes", "no"),
    ("no", _RETURN, 0, "", ""),
    ("yes", _RETURN, _KEPT, "", ""),
)
"""A place's name, what is done, with which number, and where it goes on if that is so and if it is not."""


def kept_packets() -> bytes:
    """The kernel's program for the socket that keeps them, as ``struct sock_filter[]``."""
    places = {name: at for at, (name, *_) in enumerate(_PROGRAM) if name}
    steps = []
    for at, (_, code, number, then, otherwise) in enumerate(_PROGRAM):
        jumps = [places[name] - at - 1 if name else 0 for name in (then, otherwise)]
        steps.append(struct.pack("HBBI", code, *jumps, number))
    return b"".join(steps)


def asked_hosts(descriptor: int) -> tuple[tuple[str, ...], bool]:
    """The computers that were asked for, by name or address, in order, without this one; and whether there were more.
    Of a name that was tried with the domains of this computer's own network behind it, only the name."""
    found: dict[str, None] = {}
    more = False
    for packet in _packets(descriptor):
        host = _host(packet)
        more = more or (bool(host) and host not in found and len(found) >= MAX_HOSTS)
        if host and len(found) < MAX_HOSTS:
            found[host] = None
    more = more or _dropped(descriptor)
    own = {"localhost": None, socket.gethostname().lower(): None}
    domains = search_domains()
    other = [host for host in found if host not in own and not _is_completed(host, {**found, **own}, domains)]
    return tuple(other), more


def _packets(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            packet = os.read(descriptor, _KEPT)
        except OSError:  # no more of them, also where the network is gone
            return
        if not packet:
            return
        yield packet


def _host(packet: bytes) -> str:
    """Of one packet; "" for one that says nothing."""
    version, behind = packet[0] >> 4, 40
    if version == 4:
        behind, protocol, place = (packet[0] & 15) * 4, packet[9:10], packet[16:20]
    elif version == 6:
        protocol, place = packet[6:7], packet[24:40]
    else:
        return ""
    if protocol == bytes([_UDP]) and packet[behind + 2 : behind + 4] == struct.pack("!H", _NAMES):
        return _name(packet[behind + 8 :])
    try:
        return socket.inet_ntop(socket.AF_INET if version == 4 else socket.AF_INET6, place)
    except (OSError, ValueError):
        return ""


def _name(question: bytes) -> str:
    """The name that a question to a name server is about."""
    parts, at = [], 12
    while at < len(question) and 0 < question[at] < 64:
        part = question[at + 1 : at + 1 + question[at]]
        parts.append("".join(chr(one) if 32 < one < 127 else f"\\x{one:02x}" for one in part))
        at += 1 + question[at]
    return ".".join(parts).lower()[:_LONGEST_NAME]


def search_domains(path: str = "/etc/resolv.conf") -> tuple[str, ...]:
    """The domains that this computer's resolver tries behind a name that it did not find."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.split() for line in file.read(_RESOLVER).splitlines()]
    except OSError:
        return ()
    words = [word for line in lines if line and line[0] in ("search", "domain") for word in line[1:]]
    return tuple(name for word in words if (name := word.lower().strip(".")))


def _is_completed(host: str, hosts: dict[str, None], domains: tuple[str, ...]) -> bool:
    """Whether it is another one of them with such a domain behind it. Any other name is one that was asked for."""
    return any(host.endswith(f".{domain}") and host[: -len(domain) - 1] in hosts for domain in domains)


def _dropped(descriptor: int) -> bool:
    """Whether there were more packets than the kernel keeps."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as keeping:
            _, dropped = struct.unpack("II", keeping.getsockopt(_PACKET, _STATISTICS, 8))
            return bool(dropped)
    except OSError:
        return True
