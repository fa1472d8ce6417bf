"""Words like one that is not known, for "did you mean".

``difflib`` is imported with the first such word: nobody needs it (0.3 MB) while every name is right.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")


def nearest(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Up to ``count`` of the known words, the most alike first; none that is less alike than ``cutoff`` (0 to 1). Slow
    with thousands of words: use a thread."""
    return difflib.get_close_matches(word, list(known), count, cutoff)


def likeness(word: str, other: str) -> float:
    """From 0 (nothing in common) to 1 (the same)."""
    return difflib.SequenceMatcher(None, word, other).ratio()
