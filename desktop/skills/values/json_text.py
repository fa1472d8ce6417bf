"""JSON text of plain data, written without recursion, and how many bytes it takes."""

from __future__ import annotations

from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any

MAX_INDENT = 10


def text_size(text: str) -> int:
    """Bytes of a text as JSON in UTF-8, with its quotes. It must hold no lone surrogates."""
    return len(encode_basestring(text).encode())


def write(value: Any, indent: int | None = None) -> str:
    """The JSON text of plain data as JSON.stringify writes it: compact, or with ``indent`` (10 at most) spaces."""
    step = " " * min(indent or 0, MAX_INDENT)
    parts: list[str] = []
    stack: list[Iterator[str | Any]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            if isinstance(item, _Raw):
                parts.append(item.text)
            elif isinstance(item, dict | list) and item:
                stack.append(_inside(item, step, len(stack)))
                break
            else:
                parts.append(_leaf(item))
        else:
            stack.pop()
    return "".join(parts)


class _Raw:
    """A piece of punctuation among values."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _inside(container: dict[str, Any] | list[Any], step: str, depth: int) -> Iterator[Any]:
    """Punctuation and values of one container, in order."""
    named = isinstance(container, dict)
    line = "\n" + step * depth if step else ""
    opening, closing = "{}" if named else "[]"
    colon = ": " if step else ":"
    for number, item in enumerate(container):
        yield _Raw((opening if number == 0 else ",") + line)
        if isinstance(container, dict):
            yield _Raw(encode_basestring(item) + colon)
            yield container[item]
        else:
            yield item
    yield _Raw(("\n" + step * (depth - 1) if step else "") + closing)


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return "{}" if isinstance(value, dict) else "[]"
