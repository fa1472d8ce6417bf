"""Messages of the door as bytes: four bytes of length, then one JSON object. Pure.

A frame is small, because reading JSON holds up everything else in a process: what is longer than ``LIFTED`` characters
goes ahead of its message in pieces, and the message says in ``long`` where each text belongs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from desktop.domain.errors import KnownError
from desktop.workers.frames import HEADER, BadFrame, decode

VERSION = 1
"""Of what both sides say; they compare it in their greetings."""
FRAME_MAX = 256 * 1024
"""Bytes of a frame, either way. The worst JSON of that size takes 8 ms to read."""
LIFTED = 16 * 1024
"""Characters of a text that still goes inside its message."""
PIECE = 32 * 1024
"""Characters of a piece; six bytes each when escaped."""
LONG_MAX = 24 * 1024 * 1024
"""Characters of all long texts ahead of one message."""
LONG_COUNT = 256
"""Long texts of one message."""
DEEPEST = 64
"""Levels of a message."""

Place = list[str | int]
"""Keys and numbers from a message to a text in it."""

__all__ = ["HEADER", "BadFrame", "LongTexts", "decode", "encoded", "frame_length", "whole"]


def whole(message: Mapping[str, Any], key: int) -> list[bytes]:
    """The frames of a message, those of its long texts first; ``key`` tells them from others'. Raises KnownError
    ``door.too_large``."""
    texts: list[str] = []
    places: list[Place] = []
    bare = _lifted(message, [], texts, places, DEEPEST)
    if len(texts) > LONG_COUNT or sum(map(len, texts)) > LONG_MAX:
        raise _too_large()
    if places:
        bare["long"] = {"key": key, "places": places}
    frames = [
        encoded({"t": "piece", "key": key, "n": number, "text": text[at : at + PIECE]})
        for number, text in enumerate(texts)
        for at in range(0, len(text), PIECE)
    ]
    return [*frames, encoded(bare)]


def encoded(message: Mapping[str, Any]) -> bytes:
    """One frame. Raises KnownError ``door.too_large``."""
    payload = json.dumps(message, separators=(",", ":")).encode()
    if len(payload) > FRAME_MAX:
        raise _too_large()
    return HEADER.pack(len(payload)) + payload


def frame_length(header: bytes) -> int:
    """How many bytes follow. Raises BadFrame when that is more than allowed, before anything is read."""
    size: int = HEADER.unpack(header)[0]
    if size > FRAME_MAX:
        raise BadFrame(f"frame announced with {size} bytes, at most {FRAME_MAX} are allowed")
    return size


class LongTexts:
    """Puts long texts back where they belong. Pieces of several messages may come mixed."""

    def __init__(self) -> None:
        self._texts: dict[int, dict[int, list[str]]] = {}
        self._size = 0

    def take(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The message, once it is whole; None for a part of one. Raises BadFrame."""
        kind = message.get("t")
        if kind == "piece":
            self._keep(message.get("key"), message.get("n"), message.get("text"))
            return None
        if kind == "drop":
            self._taken(message.get("key"))
            return None
        long = message.pop("long", None)
        if long is not None:
            self._put_back(message, long)
        return message

    def _keep(self, key: Any, number: Any, text: Any) -> None:
        if type(key) is not int or type(number) is not int or not isinstance(text, str):
            raise BadFrame("a piece of nothing")
        self._size += len(text)
        texts = self._texts.setdefault(key, {})
        texts.setdefault(number, []).append(text)
        if self._size > LONG_MAX or len(texts) > LONG_COUNT or len(self._texts) > LONG_COUNT:
            raise BadFrame(f"more than {LONG_MAX} characters ahead of a message")

    def _taken(self, key: Any) -> dict[int, str]:
        parts = self._texts.pop(key, {}) if type(key) is int else {}
        texts = {number: "".join(pieces) for number, pieces in parts.items()}
        self._size -= sum(map(len, texts.values()))
        return texts

    def _put_back(self, message: dict[str, Any], long: Any) -> None:
        places = long.get("places") if isinstance(long, dict) else None
        texts = self._taken(long.get("key")) if places is not None else {}
        if not isinstance(places, list) or len(places) != len(texts):
            raise BadFrame("pieces without a place")
        for number, place in enumerate(places):
            if not isinstance(place, list) or not 0 < len(place) <= DEEPEST or number not in texts:
                raise BadFrame("a place of no piece")
            _put(message, place, texts[number])


def _put(message: dict[str, Any], place: list[Any], text: str) -> None:
    found: Any = message
    try:
        for key in place[:-1]:
            found = found[key]
        if found[place[-1]] != "":
            raise BadFrame("a place that is taken")
        found[place[-1]] = text
    except (LookupError, TypeError):
        raise BadFrame("a place that is not there") from None


def _lifted(value: Any, here: Place, texts: list[str], places: list[Place], left: int) -> Any:
    """A copy without its long texts, which go to ``texts``, their places to ``places``."""
    if isinstance(value, str):
        if len(value) <= LIFTED:
            return value
        texts.append(value)
        places.append(list(here))
        return ""
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not left:
        raise KnownError("It is nested too deeply to be handed over.", code="door.too_large")
    if isinstance(value, Mapping):
        return {str(key): _lifted(one, [*here, str(key)], texts, places, left - 1) for key, one in value.items()}
    return [_lifted(one, [*here, at], texts, places, left - 1) for at, one in enumerate(value)]


def _too_large() -> KnownError:
    return KnownError(
        "It is too large to be handed over.", next_step="Give the path of a file instead.", code="door.too_large"
    )
