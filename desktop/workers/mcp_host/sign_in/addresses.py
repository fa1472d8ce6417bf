"""Where a sign-in may go: a server in the net cannot send us to addresses inside this computer or its network (SSRF).

A server names the addresses of its metadata and of its sign-in server, and may name any. So each address may be as far
away as the server itself or further, never nearer, and over https where it is not on this computer.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from desktop.domain.web.nearness import Nearness, named


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
