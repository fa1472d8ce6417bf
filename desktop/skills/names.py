"""Names and tags of skills (R-RES-3, R-VIS-3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_NAME = 64
_BARE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_WORD = re.compile(r"[^a-z0-9]+")


def is_bare_name(text: str) -> bool:
    """1 to 64 of ``[a-z0-9-]``, no leading, trailing or doubled hyphen, to the end of the string (R-RES-3)."""
    return len(text) <= MAX_NAME and _BARE.fullmatch(text) is not None


def numbered(name: str, number: int) -> str:
    """The name with a number, as ``name-2``, cut where it would be too long."""
    end = f"-{number}"
    return name[: MAX_NAME - len(end)].rstrip("-") + end


def normal_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Lowercase, runs of other characters to one hyphen, trimmed, no empties, first of doubles kept (R-VIS-3)."""
    seen = dict.fromkeys(_NOT_WORD.sub("-", str(tag).lower()).strip("-") for tag in tags)
    return tuple(tag for tag in seen if tag)
