"""Numbers and calls as a person reads them; one place, so that they read the same wherever they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_SAYS_MOST = ("path", "command", "message", "query", "prompt")


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


def arguments_words(arguments: Mapping[str, Any]) -> str:
    """A call's arguments in brief: the path or command if it has one, else each with its value as compact JSON."""
    for key in _SAYS_MOST:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
    return ", ".join(f"{key}: {compact(value)}" for key, value in arguments.items())


def compact(value: Any) -> str:
    """A value as short JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
