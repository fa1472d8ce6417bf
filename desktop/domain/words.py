"""Numbers as a person reads them; one place, so that a size reads the same wherever it stands."""

from __future__ import annotations


def size_words(size: int) -> str:
    """Bytes: ``1 byte``, ``23 bytes``, ``1.2 KB``, ``241 KB``; decimal units, as a file manager shows them."""
    if size < 1000:
        return count_words(size, "byte")
    value = float(size)
    for unit in ("KB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
    return f"{value / 1000:.1f} TB"


def count_words(count: int, noun: str) -> str:
    """``1 line``, ``2 lines``, ``1,200 lines``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size_of(text: str) -> int:
    """How many bytes a text takes in a file."""
    return len(text.encode("utf-8", "replace"))
