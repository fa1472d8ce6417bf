"""What there is for each kind of program that comes in by the door."""

from __future__ import annotations

from functools import partial

from desktop.app.door.host import Rooms
from desktop.app.guests.mcp import McpRoom
from desktop.app.wiring.services import Services


def rooms(services: Services) -> Rooms:
    """By kind: ``mcp`` is `assent mcp`, whoever it works for."""
    return {"mcp": partial(McpRoom, services)}
