"""What there is for each kind of program that comes in by the door."""

from __future__ import annotations

from desktop.app.door.host import Rooms
from desktop.app.wiring.services import Services


def rooms(_services: Services) -> Rooms:
    """By kind."""
    return {}
