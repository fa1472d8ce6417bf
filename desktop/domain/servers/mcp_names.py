"""The name of an MCP server's tool among ours."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

MAX_NAME = 64


def canonical(server: str, raw: str) -> str:
    """``server-tool``: lower case, hyphens, at most 64 characters; a cut name ends in a part of its digest."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", raw).lower()
    name = re.sub(r"[^a-z0-9]+", "-", f"{server}-{words}").strip("-")
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 9].rstrip('-')}-{hashlib.sha256(raw.encode()).hexdigest()[:8]}"
    return name


def named_on_server(name: str, on_server: str, arguments: Mapping[str, Any] | None) -> str:
    """The name under which rules about a server's tools find a call of a tool of ours that asks the server for
    something: ``server-read-resource``. ``on_server`` is the argument that names the server; "": there is none."""
    server = arguments.get(on_server) if on_server and arguments else None
    return canonical(server[:MAX_NAME], name) if isinstance(server, str) and server else ""
