"""JSON as a tree, of which nodes are told as they are opened. Numbers stand as they are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from desktop.domain.text.json_text import read_json
from desktop.workers.inside import CallError
from desktop.workers.result_host import limits
from desktop.workers.web_host.decoding import decoded


class _Number(str):
    """A number as it is written: no digit of it is lost."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """An object, with names that occur twice."""


class _Stretch:
    """Some of what is inside a very long value."""

    __slots__ = ("first", "inside", "last")

    def __init__(self, inside: Sequence[Any], first: int, last: int) -> None:
        self.inside, self.first, self.last = inside, first, last


class ResultTree:
    """``notes``: what else is to be said of it."""

    def __init__(self, data: bytes, name: str) -> None:
        self.notes: list[str] = []
        text = decoded(data, "application/json").lstrip("\ufeff")
        self._root = self._lines(text) if name.lower().endswith((".jsonl", ".ndjson")) else _parsed(text)

    def about(self) -> dict[str, Any]:
        """The outermost value."""
        return _told("", self._root)

    def children(self, path: Sequence[int], first: int, count: int) -> list[dict[str, Any]]:
        """What is inside a value that is found by the numbers of those above it. Raises CallError."""
        node = self._root
        for at in path:
            inside = _inside(node)
            if not 0 <= at < len(inside):
                raise CallError("result.no_piece", "There is no such place in it.")
            node = inside[at][1]
        return [_told(key, value) for key, value in _inside(node)[max(0, first) : max(0, first) + count]]

    def _lines(self, text: str) -> list[Any]:
        """One value a line."""
        found: list[Any] = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    found.append(_parsed(line))
                except CallError as error:
                    self.notes.append(f"Line {number:,} and what follows is not shown. {error}")
                    break
        return found


def _parsed(text: str) -> Any:
    try:
        return read_json(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        words = f"It is no JSON: {error.msg} in line {error.lineno:,}, column {error.colno:,}."
        raise CallError("result.not_shown", words) from None
    except RecursionError:
        words = "It is nested deeper than a tree can show."
        raise CallError("result.not_shown", words) from None


def _inside(value: Any) -> Sequence[tuple[str, Any]]:
    """What is inside, with what it is called; of very much the parts that it comes in."""
    first, last = (value.first, value.last) if isinstance(value, _Stretch) else (0, _count(value))
    inside = value.inside if isinstance(value, _Stretch) else value
    if last - first <= limits.WINDOW:
        if isinstance(inside, _Pairs):
            return inside[first:last]
        return [(str(at), inside[at]) for at in range(first, last)]
    size = _size(last - first)
    cuts = [(at, min(at + size, last)) for at in range(first, last, size)]
    return [(f"{begin:,} … {end - 1:,}", _Stretch(inside, begin, end)) for begin, end in cuts]


def _size(count: int) -> int:
    """How much is in each part of so much."""
    size = limits.PART
    while count / size > limits.WINDOW / 2:
        size *= limits.PART
    return size


def _rows(count: int) -> int:
    """How many rows stand for so much."""
    return count if count <= limits.WINDOW else -(-count // _size(count))


def _count(value: Any) -> int:
    return value.last - value.first if isinstance(value, _Stretch) else len(value) if isinstance(value, list) else 0


def _told(key: str, value: Any) -> dict[str, Any]:
    """A value in words: what it is called, what it is, and how much is inside."""
    kind, words = _words(value)
    count = _count(value)
    words = words[: limits.VALUE]
    return {"key": key[: limits.VALUE], "kind": kind, "words": words, "count": count, "rows": _rows(count)}


def _words(value: Any) -> tuple[str, str]:
    if isinstance(value, _Stretch):
        return "part", ""
    if isinstance(value, _Pairs):
        return "object", ""
    if isinstance(value, list):
        return "list", ""
    if isinstance(value, _Number):
        return "number", str(value)
    if isinstance(value, str):
        return "text", value
    return "word", {True: "true", False: "false"}.get(value, "null")
