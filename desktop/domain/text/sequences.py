"""What sequences of any kind have in common."""

from __future__ import annotations

from collections.abc import Sequence


def in_common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines or words both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
