"""Numbers of versions: digits and dots, so that none is a path, an option or a marked-up text."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,5})(?:\.(?:0|[1-9][0-9]{0,5})){0,3}")


def is_number(text: object) -> bool:
    """Whether it is the number of a version, such as 1.3 or 1.2.4."""
    return isinstance(text, str) and _NUMBER.fullmatch(text) is not None


def is_newer(one: str, other: str) -> bool:
    """Whether the first is newer; 1.3 and 1.3.0 are the same. What is no number is newer than nothing, and nothing is
    newer than it: an update is offered only where both are known."""
    return is_number(one) and is_number(other) and _parts(one) > _parts(other)


def _parts(number: str) -> tuple[int, ...]:
    parts = [int(part) for part in number.split(".")]
    return tuple(parts + [0] * (4 - len(parts)))
