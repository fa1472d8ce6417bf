"""What is new since a version, from the list of changes that every package has with it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path

from desktop.domain.help.pages import HelpSection
from desktop.services.help.pages import sections_of

NEWS = "news"
"""The name of the page."""
MAX_CHANGES = 2_000_000

logger = logging.getLogger(__name__)
_VERSION = re.compile(r"\d+(?:\.\d+){0,5}")


def read_news(places: Sequence[Path]) -> tuple[HelpSection, ...]:
    """A section a version, the newest first; from the first of these files that is there. Blocks."""
    file = next((one for one in places if one.is_file()), None)
    if file is None:
        return ()
    try:
        with file.open(encoding="utf-8") as opened:
            found = sections_of(NEWS, opened.read(MAX_CHANGES))
    except (OSError, ValueError) as error:
        logger.warning("the list of changes cannot be read: %s", error)
        return ()
    return tuple(one.section for one in found if _VERSION.match(one.section.title))


def since(news: Sequence[HelpSection], version: str) -> tuple[HelpSection, ...]:
    """What came after a version; all of it where that is none."""
    known = number_of(version)
    return tuple(one for one in news if number_of(one.title) > known)


def number_of(version: str) -> tuple[int, ...]:
    """The numbers that a version or a heading begins with; none: before all others."""
    found = _VERSION.match(version)
    parts = [int(part) for part in found[0].split(".")] if found and len(found[0]) < 60 else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)
