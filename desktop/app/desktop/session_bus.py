"""Where the desktop's session bus is. Only Linux has one."""

from __future__ import annotations

import os
from urllib.parse import unquote


def bus_address() -> str:
    """The session bus's address from the environment, or ""."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.environ.get("DBUS_SESSION_BUS_ADDRESS", "") or (f"unix:path={runtime}/bus" if runtime else "")


def socket_of(address: str) -> str:
    """The Unix socket that an address names first, as the system takes it; "" for none."""
    kind, _, rest = address.partition(";")[0].partition(":")
    parts = dict(part.partition("=")[::2] for part in rest.split(","))
    name = unquote(parts.get("path", "")) or ("\0" + unquote(parts["abstract"]) if "abstract" in parts else "")
    return name if kind == "unix" else ""
