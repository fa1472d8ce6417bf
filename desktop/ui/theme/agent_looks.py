"""What is drawn for an agent: an icon of ours, an image file of its own, or the first letter of its name (D-9)."""

from __future__ import annotations

import re
from functools import cache

from PySide6.QtGui import QImage

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.theme.resources import ICONS

PREFIX = "agent:"
_OURS = re.compile(r"/icons/([a-z0-9][a-z0-9-]{0,60})\.svg")


@dataclass(frozen=True, slots=True)
class AgentLook:
    """How an agent is shown: ``bundled`` names an icon of ours, ``image`` was decoded from a file; neither: the
    ``letter``."""

    letter: str = "?"
    bundled: str = ""
    image: QImage | None = None


def agent_icon(name: str, usual: str = "agent") -> str:
    """The name under which the icon of an agent is drawn, by its name or its title; ``usual`` where it has none."""
    return f"{PREFIX}{usual}:{name}"


def bundled_icon(icon: str) -> str:
    """The name of our icon that a definition means, or ""."""
    found = _OURS.fullmatch(icon)
    return found.group(1) if found and found.group(1) in _names() else ""


@cache
def _names() -> frozenset[str]:
    return frozenset(path.stem for path in ICONS.glob("*.svg"))


def first_letter(title: str) -> str:
    """What stands on the tile of an agent whose icon cannot be drawn."""
    return next((character.upper() for character in title if character.isalnum()), "?")
