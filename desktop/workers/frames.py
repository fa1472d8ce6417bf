"""Frames of the pipe protocol: four bytes of length (big-endian), then one JSON object in UTF-8. Pure.

Parent to child: ``hello {protocol, service}``, ``parts {id, items}``, ``call {id, method, params}``, ``ack {id}``,
``cancel {id}``. Child to parent: ``hello {protocol, service, version}``, ``items {id, items}``, ``result {id, value}``,
``error {id, code, message, data}``. Each has its kind under ``t``. ``ack`` means that one ``items`` frame has been
consumed: a child has at most ``WINDOW`` of them unacknowledged per call, which bounds memory on both sides.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.text.json_text import read_json

PROTOCOL = 1
HEADER = struct.Struct(">I")
FRAME_MAX = 1024 * 1024  # bytes; both directions
BATCH_MAX = 64 * 1024  # characters at which a batch of items is sent
ITEM_MAX = FRAME_MAX - 1024  # characters of one item as JSON
PIECE = 32 * 1024  # characters at most of one text in an item or part; six bytes each when escaped
WINDOW = 8  # unacknowledged batches per call
PARTS_MAX = 96 * 1024 * 1024  # bytes of parts ahead of one call
CALLS_MAX = 64  # calls at once
BATCH_SECONDS = 0.016


class BadFrame(Exception):
    """A frame that the protocol does not allow; the text says what is wrong, without content."""


def encode(message: Mapping[str, Any]) -> bytes:
    """A frame of ``message``. Raises BadFrame when it is too large."""
    return framed(json.dumps(message, separators=(",", ":")).encode())


def framed(payload: bytes) -> bytes:
    """A frame of an encoded JSON object."""
    if len(payload) > FRAME_MAX:
        raise BadFrame(f"frame of {len(payload)} bytes, at most {FRAME_MAX} are allowed")
    return HEADER.pack(len(payload)) + payload


def length(header: bytes) -> int:
    """How many bytes follow. Raises BadFrame when that is more than allowed, before anything is read."""
    size: int = HEADER.unpack(header)[0]
    if size > FRAME_MAX:
        raise BadFrame(f"frame announced with {size} bytes, at most {FRAME_MAX} are allowed")
    return size


def decode(payload: bytes) -> dict[str, Any]:
    """The object in a frame. Raises BadFrame for anything else."""
    try:
        message = read_json(payload)
    except (ValueError, RecursionError):
        raise BadFrame("frame is not JSON") from None
    if not isinstance(message, dict):
        raise BadFrame("frame is not an object")
    return message


@dataclass(frozen=True, slots=True)
class Hello:
    """The greeting of either end: its name, version and protocol."""

    protocol: int
    service: str
    version: str


@dataclass(frozen=True, slots=True)
class Items:
    """More of a stream."""

    call_id: int
    items: list[Any]


@dataclass(frozen=True, slots=True)
class Result:
    """A call is over."""

    call_id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """The child's answer that a call failed."""

    call_id: int
    code: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


FromChild = Hello | Items | Result | Failure


def _integer(message: Mapping[str, Any], name: str) -> int:
    value = message.get(name)
    if type(value) is not int:
        raise BadFrame(f"{name} is not a whole number")
    return value


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise BadFrame(f"{name} is not text")
    return value


def from_child(message: Mapping[str, Any]) -> FromChild:
    """What a child said, checked. Raises BadFrame."""
    kind = message.get("t")
    if kind == "items":
        items = message.get("items")
        if not isinstance(items, list):
            raise BadFrame("items is not a list")
        return Items(_integer(message, "id"), items)
    if kind == "result":
        return Result(_integer(message, "id"), message.get("value"))
    if kind == "error":
        data = message.get("data") or {}
        if not isinstance(data, dict):
            raise BadFrame("data is not an object")
        return Failure(_integer(message, "id"), _text(message, "code"), _text(message, "message"), data)
    if kind == "hello":
        return Hello(_integer(message, "protocol"), _text(message, "service"), _text(message, "version"))
    raise BadFrame("kind of frame is unknown")
