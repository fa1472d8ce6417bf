"""The icon that an agent's definition names, as one of the icons that the window can draw (R-DEF-10).

Nothing is fetched: an address of the web, and a path that is none of our icons, is shown as the usual one.
"""

from __future__ import annotations

import re
from functools import cache

from desktop.ui.theme.resources import ICONS

_OURS = re.compile(r"/icons/([a-z0-9][a-z0-9-]{0,60})\.svg")


def agent_icon(icon: str, usual: str) -> str:
    """The name of the icon to draw for what a definition says."""
    found = _OURS.fullmatch(icon)
    return found.group(1) if found and found.group(1) in _names() else usual


@cache
def _names() -> frozenset[str]:
    return frozenset(path.stem for path in ICONS.glob("*.svg"))
