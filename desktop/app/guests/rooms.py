"""What there is for each kind of program that comes in by the door."""

from __future__ import annotations

from functools import partial

from desktop.app.door.host import Rooms
from desktop.app.guests.editors import editor_room
from desktop.app.guests.mcp import McpRoom
from desktop.app.wiring.services import Services


def rooms(services: Services) -> Rooms:
    """By kind: ``mcp`` is `assent mcp`, ``acp`` `assent acp`, whoever they work for."""
    return {"mcp": partial(McpRoom, services), "acp": partial(editor_room, services)}
