"""One entry of a mapping as it is written: a text plain where every reader takes it for one, else in quotes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.loading.lazy_pattern import lazy_pattern

_PLAIN = lazy_pattern(r"(?:~(?=/)|[A-Za-z_/])[\w ./,;()+-]*\Z")
_UNPRINTABLE = lazy_pattern("[\x7f-\x84\x86-\x9f\u2028\u2029\ufeff\ufffe\uffff\x85]")
_EXPONENT = lazy_pattern(r"\A(-?\d+)e")
"""Without a point YAML 1.1 takes it for a text."""
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"})


def entry_lines(key: str, value: Any, block_lists: bool = False) -> list[str]:
    """Short lists on one line unless ``block_lists``, mappings below, texts quoted at need."""
    name = _scalar(key)
    if isinstance(value, Mapping) and value:
        return [f"{name}:", *("  " + line for line in _mapping(value, block_lists))]
    if isinstance(value, (list, tuple)) and value and (block_lists or not _short(value)):
        return [f"{name}:", *(line for item in value for line in _item(item, block_lists))]
    if isinstance(value, str) and "\n" in value and value.strip():
        return _block(name, value)
    return [f"{name}: {_inline(value)}"]


def _mapping(value: Mapping[Any, Any], block_lists: bool) -> list[str]:
    return [line for key, inner in value.items() for line in entry_lines(str(key), inner, block_lists)]


def _item(item: Any, block_lists: bool) -> list[str]:
    if isinstance(item, Mapping) and item:
        lines = _mapping(item, block_lists)
        return [f"  - {lines[0]}", *(f"    {line}" for line in lines[1:])]
    return [f"  - {_inline(item)}"]


def _block(name: str, text: str) -> list[str]:
    """A literal block; one that a block cannot hold exactly is quoted."""
    body = text.split("\n")
    if (
        _UNPRINTABLE.search(text)
        or any(ord(mark) < 32 and mark not in "\n\t" for mark in text)
        or text != text.lstrip(" \n")
    ):
        return [f"{name}: {as_json(text)}"]
    if text.endswith("\n\n") or not text.endswith("\n"):
        chomp = "|-" if not text.endswith("\n") else "|+"
    else:
        chomp = "|"
    if body[-1] == "":
        body = body[:-1]
    return [f"{name}: {chomp}", *(f"  {line}" if line else "" for line in body)]


def _short(value: Sequence[Any]) -> bool:
    """Whether a list goes on one line."""
    return all(not isinstance(item, (Mapping, list, tuple)) for item in value) and len(_flow(value)) <= 90


def _flow(value: Sequence[Any]) -> str:
    return "[" + ", ".join(_inline(item, flow=True) for item in value) + "]"


def _inline(value: Any, *, flow: bool = False) -> str:
    if isinstance(value, str):
        return _scalar(value, flow=flow)
    if isinstance(value, (list, tuple)) and _short(value):
        return _flow(value)
    return as_json(value)


def as_json(value: Any) -> str:
    """A value as JSON on one line, which is YAML too once what YAML does not take as it is has been written for it:
    numbers like 1e-05 at any depth, and marks that it escapes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{as_json(str(key))}: {as_json(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(as_json, value)) + "]"
    if isinstance(value, float):
        return _EXPONENT.sub(r"\1.0e", repr(value))
    return _UNPRINTABLE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", json.dumps(value, ensure_ascii=False))


def _scalar(text: str, *, flow: bool = False) -> str:
    """A text as a plain scalar where every reader takes it for one, else in quotes."""
    plain = _PLAIN.match(text) and text == text.strip() and text.lower() not in _WORDS
    if plain and not (": " in text or " #" in text or text.endswith(":") or (flow and "," in text)):
        return text
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"  # an expression stays to be read
    return as_json(text)
