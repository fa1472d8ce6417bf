"""The name of an MCP server's tool among ours."""

from __future__ import annotations

import hashlib
import re

MAX_NAME = 64


def canonical(server: str, raw: str) -> str:
    """``server-tool``: lower case, hyphens, at most 64 characters; a cut name ends in a part of its digest."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", raw).lower()
    name = re.sub(r"[^a-z0-9]+", "-", f"{server}-{words}").strip("-")
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 9].rstrip('-')}-{hashlib.sha256(raw.encode()).hexdigest()[:8]}"
    return name
