"""JSON as a tree, of which nodes are told as they are opened. Numbers stand as they are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from desktop.workers.inside import CallError
from desktop.workers.result_host import limits
from desktop.workers.web_host.decoding import decoded


class _Number(str):
    """A number as it is written: no digit of it is lost."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """An object, with names that occur twice."""


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
            node = inside[at][1] if isinstance(node, _Pairs) else inside[at]
        inside = _inside(node)
        some = inside[max(0, first) : max(0, first) + count]
        if isinstance(node, _Pairs):
            return [_told(key, value) for key, value in some]
        return [_told(str(max(0, first) + at), value) for at, value in enumerate(some)]

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
        return json.loads(
            text, parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_Pairs
        )
    except json.JSONDecodeError as error:
        words = f"It is no JSON: {error.msg} in line {error.lineno:,}, column {error.colno:,}."
        raise CallError("result.not_shown", words) from None
    except RecursionError:
        words = "It is nested deeper than a tree can show."
        raise CallError("result.not_shown", words) from None


def _inside(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _told(key: str, value: Any) -> dict[str, Any]:
    """A value in words: what it is called, what it is, and how much is inside."""
    kind, words = _words(value)
    return {"key": key[: limits.VALUE], "kind": kind, "words": words[: limits.VALUE], "count": len(_inside(value))}


def _words(value: Any) -> tuple[str, str]:
    if isinstance(value, _Pairs):
        return "object", ""
    if isinstance(value, list):
        return "list", ""
    if isinstance(value, _Number):
        return "number", str(value)
    if isinstance(value, str):
        return "text", value
    return "word", {True: "true", False: "false"}.get(value, "null")
