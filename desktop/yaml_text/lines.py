"""The quick way through YAML: nested block mappings, lists of scalars, one-line flow values, simple block texts.

It reads what most frontmatter is made of in a tenth of a YAML library's time, and steps aside (None) at anything it is
not sure of; ``values`` then decides. What both read they read alike: a property test holds them to it.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.domain.text.places import Keys

_ODD_CHARACTERS = lazy_pattern("[\t\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""A tab, what YAML takes for a line end, and what it refuses."""

_LINE = lazy_pattern(r"( *)(?:((?:[^\W\d]|\$)[\w.$-]*):(?: +([^\s#][^\n]*?))?|-( +[^\s#][^\n]*?)|#[^\n]*?)? *\r?\Z")
"""Indent, then a key with or without a value, an item of a list, a comment, or nothing."""

_INTEGER = lazy_pattern(r"(?:0|-?[1-9]\d{0,14})\Z")
_DECIMAL = lazy_pattern(r"-?(?:0|[1-9]\d{0,9})\.\d{1,9}\Z")
_VERSION = lazy_pattern(r"\d+(?:\.\d+){2,}\Z")
_FLOW_PLAIN = lazy_pattern(r"[A-Za-z_/($][^#:\[\]{}&*!|>'\"%@`,]*\Z")
_FLOW_KEY = lazy_pattern(r"[A-Za-z_$][\w$-]*\Z")
_WORDS = {"true": True, "false": False, "null": None}
_OTHER_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""Words that one YAML or the other reads as something else."""
_ODD, _FRESH = object(), object()
MAX_HEAD = 8_000
MAX_DEPTH = 30
"""Beyond these it steps aside, so that the limits of ``values`` are the only ones."""
_SHARED = 40
"""Strings up to this length are shared between files: types, tags, tool names."""


def read(head: str) -> dict[str, Any] | None:
    """The mapping that ``head`` is, or None when something in it is beyond this reader."""
    if len(head) > MAX_HEAD or _ODD_CHARACTERS.search(head) is not None:
        return None
    reader = _LineReader(head)
    return reader.root if reader.run() else None


@lru_cache(maxsize=1_024)
def _parsed(line: str) -> tuple[int, str, str, Any] | None:
    """(indent, key, rest, value) of a line; no key: an item of a list; neither key nor rest: nothing. None: beyond us.

    Skills repeat each other's lines, so the same few are asked for again and again. ``value`` is ``_FRESH`` where it is
    a list or a mapping, which nobody may share, or a block text.
    """
    match = _LINE.match(line)
    if match is None:
        return None
    spaces, key, rest, item = match.groups()
    rest = rest or (item or "").lstrip(" ")
    if not rest:
        return len(spaces), sys.intern(key or ""), "", None
    value = _FRESH if rest[0] in "[{" or (key and rest[0] in "|>") else scalar(rest)
    return None if value is _ODD or rest.startswith("- ") else (len(spaces), sys.intern(key or ""), rest, value)


class _LineReader:
    """One pass over the lines. ``_levels`` holds the open mappings with their indents, ``_empty`` the key above without
    a value, ``_items`` the list at hand with its indent ``_depth``."""

    __slots__ = ("_at", "_depth", "_empty", "_items", "_levels", "_lines", "root")

    def __init__(self, head: str) -> None:
        self.root: dict[str, Any] = {}
        self._lines = head.split("\n")
        self._at = 0
        self._levels: list[tuple[int, dict[str, Any]]] = [(0, self.root)]
        self._empty = ""
        self._items: list[Any] | None = None
        self._depth = 0

    def run(self) -> bool:
        """Read to the end; False as soon as a line is beyond it."""
        lines, many = self._lines, len(self._lines)
        while self._at < many:
            parsed = _parsed(lines[self._at])
            self._at += 1
            if parsed is None:
                return False
            indent, key, rest, value = parsed
            if key:
                if not self._key(indent, key, rest, value):
                    return False
            elif rest and not self._item(indent, rest, value):
                return False
        return True

    def _key(self, indent: int, key: str, rest: str, value: Any) -> bool:
        levels = self._levels
        depth, holder = levels[-1]
        if indent != depth:
            if indent > depth and self._empty:
                inner: dict[str, Any] = {}
                holder[self._empty] = inner
                levels.append((indent, inner))
            while levels[-1][0] > indent:
                levels.pop()
            depth, holder = levels[-1]
        self._items = None
        if depth != indent or key in holder or len(levels) > MAX_DEPTH:
            return False
        if value is _FRESH:
            value = _flow(rest) if rest[0] in "[{" else self._block(rest, indent)
        self._empty = "" if rest else key
        holder[key] = value
        return value is not _ODD

    def _item(self, indent: int, text: str, value: Any) -> bool:
        if value is _FRESH:
            value = _flow(text)
        if self._items is None:
            depth, holder = self._levels[-1]
            if not self._empty or indent < depth:
                return False
            self._items = holder[self._empty] = []
            self._empty, self._depth = "", indent
        self._items.append(value)
        return indent == self._depth and value is not _ODD

    def _block(self, style: str, indent: int) -> Any:
        """A block text whose lines all have one indent and none of which is empty."""
        if style not in ("|", "|-", ">", ">-"):
            return _ODD
        found: list[str] = []
        depth = -1
        while self._at < len(self._lines):
            line = self._lines[self._at].removesuffix("\r")
            text = line.lstrip(" ")
            spaces = len(line) - len(text)
            if not text and self._at == len(self._lines) - 1:
                break
            if text and spaces <= indent:
                break
            if not text or (depth >= 0 and spaces != depth):
                return _ODD
            depth = spaces
            found.append(text)
            self._at += 1
        joined = (" " if style[0] == ">" else "\n").join(found)
        return _ODD if not found else joined if style[-1] == "-" else joined + "\n"


def scalar(text: str) -> Any:
    """A value on one line, or ``_ODD``. ``text`` is trimmed and not empty."""
    first = text[0]
    if first.isalpha() or first in "_/($":
        if ": " in text or " #" in text or text[-1] == ":":
            return _ODD
        if len(text) > _SHARED:
            return text
        return sys.intern(text) if text.lower() not in _OTHER_WORDS else _WORDS.get(text, _ODD)
    if first in "\"'":
        inner = text[1:-1]
        return inner if text[-1] == first and len(text) > 1 and first not in inner and "\\" not in inner else _ODD
    if first in "[{":
        return _flow(text)
    return _number(text)


def _number(text: str) -> Any:
    if _INTEGER.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    return text if _VERSION.match(text) else _ODD


def _flow(text: str) -> Any:
    """``[a, b]`` or ``{a: b, c: 1}`` of plain scalars on one line."""
    inner = text[1:-1].strip()
    if text[-1] != ("]" if text[0] == "[" else "}"):
        return _ODD
    parts = [part.strip() for part in inner.split(",")] if inner else []
    return _flow_list(parts) if text[0] == "[" else _flow_mapping(parts)


def _flow_list(parts: list[str]) -> Any:
    items = [_flow_scalar(part) for part in parts]
    return _ODD if _ODD in items else items


def _flow_mapping(parts: list[str]) -> Any:
    found: dict[str, Any] = {}
    for part in parts:
        key, colon, rest = part.partition(": ")
        value = _flow_scalar(rest.lstrip(" "))
        if not colon or value is _ODD or key in found or not _FLOW_KEY.match(key):
            return _ODD
        found[sys.intern(key)] = value
    return found


def _flow_scalar(text: str) -> Any:
    if _FLOW_PLAIN.match(text):
        return sys.intern(text) if text.lower() not in _OTHER_WORDS else _WORDS.get(text, _ODD)
    if text[:1] in ('"', "'"):
        plain = len(text) > 1 and text[-1] == text[0] and not set("\"'\\[]{}:#") & set(text[1:-1])
        return text[1:-1] if plain else _ODD
    return _number(text)


# -- where something is -----------------------------------------------------------------------------------------------


def locate(head: str, keys: Keys) -> tuple[int, int]:
    """Line in ``head`` and column, from 1, of the value at ``keys`` in what ``read`` read, inside of quotes; of the
    nearest key that is there, (0, 1) when there is none."""
    best, found = (0, 1), 0
    trail: list[tuple[int, str]] = []
    item, block = 0, -1
    for number, text in enumerate(head.split("\n"), 1):
        line = _LINE.match(text)
        indent = len(text) - len(text.lstrip(" "))
        if line is None or 0 <= block < indent or (line[2] is None and line[4] is None):
            continue
        if line[2] is not None:
            block = indent if line[3] and line[3][0] in "|>" else -1
            trail = [*(entry for entry in trail if entry[0] < indent), (indent, line[2])]
            item, place = 0, line.start(3) if line[3] else line.start(2)
        else:
            item, place = item + 1, line.end(4) - len(line[4].lstrip(" "))
        names = (*(name for _, name in trail), *([item - 1] if line[4] is not None else []))
        if len(names) > found and names == keys[: len(names)]:
            best, found = (number, _inside(text, place, keys[len(names) :]) + 1), len(names)
    return best


def _inside(line: str, place: int, keys: Keys) -> int:
    """The offset of a value in the flow list or mapping at ``place``, or of the text in the quotes there."""
    if line[place : place + 1] in ("[", "{") and keys:
        at = place + 1
        for number, part in enumerate(line[at:].split(",")):
            key, colon, _ = part.partition(": ")
            if keys[0] == (key.strip() if line[place] == "{" else number):
                at += len(key) + 2 if line[place] == "{" and colon else 0
                at += len(line[at:]) - len(line[at:].lstrip(" "))
                return _inside(line, at, ())
            at += len(part) + 1
    return place + (line[place : place + 1] in ('"', "'"))
