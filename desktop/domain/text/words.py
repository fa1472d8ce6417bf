"""Numbers and calls as a person reads them; one place, so that they read the same wherever they stand."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

MAX_WORDS = 10_000
"""Characters of arguments in brief; whoever shows them cuts far earlier."""
MAX_DEPTH = 100
_SAYS_MAX = ("path", "command", "message", "query", "prompt")


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


def plain_line(text: str, maximum: int) -> str:
    """What somebody else wrote, as one line that shows as it is: no control characters, no marks that turn or hide
    text, and not longer than ``maximum``."""
    seen = text[: 4 * maximum]
    shown = "".join(one if unicodedata.category(one)[0] not in "CZ" else " " for one in seen)
    line = " ".join(shown.split())
    return line if len(line) <= maximum and len(text) <= len(seen) else line[: maximum - 1] + "…"


def size_of(text: str) -> int:
    """How many bytes a text takes in a file."""
    return len(text.encode("utf-8", "replace"))


def arguments_words(arguments: Mapping[str, Any], maximum: int = MAX_WORDS) -> str:
    """A call's arguments in brief: the path or command if it has one, else each with its value as compact JSON, until
    there are ``maximum`` characters or more."""
    for key in _SAYS_MAX:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
    said: list[str] = []
    length = 0
    for key, value in arguments.items():
        said.append(f"{key}: {compact(value, maximum)}")
        length += len(said[-1])
        if length >= maximum:
            break
    return ", ".join(said)


def compact(value: Any, maximum: int = MAX_WORDS) -> str:
    """A value as short JSON text, of a large one the beginning."""
    return value if isinstance(value, str) else json_beginning(value, maximum)


def json_beginning(value: Any, maximum: int, indent: int | None = None) -> str:
    """The beginning of a value as JSON: stops encoding once there are ``maximum`` characters or more.

    A model may write arguments of megabytes, of which a line of a page shows a hundred characters."""
    said: list[str] = []
    length = 0
    encoder = json.JSONEncoder(ensure_ascii=False, default=lambda other: str(other)[:maximum], indent=indent)
    for piece in encoder.iterencode(_Beginning(maximum).of(value)):
        said.append(piece)
        length += len(piece)
        if length >= maximum:
            break
    return "".join(said)


class _Beginning:
    """Copies as much of a value as ``left`` characters of JSON can hold: the encoder writes a text in one go, however
    long it is."""

    def __init__(self, left: int) -> None:
        self._left = left

    def of(self, value: Any, depth: int = 0) -> Any:
        """The beginning of a value; nothing that stands behind it is looked at. What is nested too deep to be copied is
        handed back as it is."""
        if isinstance(value, str):
            cut = value[: max(0, self._left)]
            self._left -= len(cut) + 2
            return cut
        self._left -= 1
        if depth > MAX_DEPTH:
            return value
        depth += 1
        if isinstance(value, dict):
            return {self.of(key): self.of(inside, depth) for key, inside in takewhile(self._more, value.items())}
        if isinstance(value, list | tuple):
            return [self.of(inside, depth) for inside in takewhile(self._more, value)]
        return value

    def _more(self, _: object) -> bool:
        return self._left > 0
