"""Changing keys of a YAML mapping in its text: only the lines of a changed key are written anew (R-SK-11).

A round trip through a YAML library would normalise quotes, indents and blank lines of everything; so the library only
says where a key stands (PyYAML's marks), and writes the one new entry.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.domain.errors import KnownError

MAX_TEXT = 256_000
_PLAIN = re.compile(r"[A-Za-z_/][\w ./,;()+-]*\Z")
_UNPRINTABLE = re.compile("[\x7f-\x84\x86-\x9f\u2028\u2029\ufeff\ufffe\uffff\x85]")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"})


class Remove:
    """The value of a change that takes its key out."""


REMOVE = Remove()


class NotEditable(KnownError):
    """The text is not in a shape that a form can change; it can still be edited as text."""

    code = "skill.not_editable"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of a block mapping: lines ``first`` to ``end`` (exclusive) in the text, ``indent`` of the key."""

    key: str
    first: int
    end: int
    indent: int
    value: Any


def change_key(text: str, path: Sequence[str], value: Any) -> str:
    """``text`` (a YAML mapping) with the key at ``path`` set to ``value``, added where it is missing, or removed.

    ``path`` has one or more names; what lies on the way is made. Raises NotEditable for text that is no block mapping
    (a flow mapping, an alias, more than one document) on the way.
    """
    if len(text) > MAX_TEXT:
        raise NotEditable("The frontmatter is too large for the form.", next_step="Edit it as text.")
    lines = text.splitlines(keepends=True)
    root = _root(text)
    newline = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    return "".join(_changed(lines, root, 0, len(lines), list(path), value, newline))


def _changed(
    lines: list[str], mapping: Any, indent: int, end: int, path: list[str], value: Any, newline: str
) -> list[str]:
    """The lines with the change made below one block mapping whose entries stand at ``indent``."""
    entries = _entries(lines, mapping, end) if mapping is not None else []
    here = entries[0].indent if entries else indent
    found = next((entry for entry in entries if entry.key == path[0]), None)
    if found is None:
        if value is REMOVE:
            return lines
        return _added(lines, entries, here, end, path, value, newline)
    if len(path) > 1 and _is_mapping(found.value) and not found.value.flow_style and found.value.value:
        return _within(lines, found, path, value, newline)
    if value is REMOVE:
        return lines[: found.first] + lines[found.end :] if len(path) == 1 else lines
    if len(path) > 1:
        value = _set(_construct(found.value), path[1:], value)
    fresh = _written(path[0], value, here, newline)
    comment = _comment(lines, found)
    if comment and len(fresh) == 1:
        fresh = [fresh[0].rstrip("\r\n") + comment + newline]
    return [*lines[: found.first], *fresh, *lines[found.end :]]


def _within(lines: list[str], found: _Entry, path: list[str], value: Any, newline: str) -> list[str]:
    """Go down one level; an entry that would be left empty goes with its last key."""
    only = len(found.value.value) == 1 and found.value.value[0][0].value == path[1]
    if value is REMOVE and len(path) == 2 and only:
        return lines[: found.first] + lines[found.end :]
    return _changed(lines, found.value, found.indent + 2, found.end, path[1:], value, newline)


def _added(
    lines: list[str], entries: list[_Entry], indent: int, end: int, path: list[str], value: Any, newline: str
) -> list[str]:
    """A new entry after the last one of its mapping."""
    for name in reversed(path[1:]):
        value = {name: value}
    at = entries[-1].end if entries else end
    before = lines[:at]
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    return [*before, *_written(path[0], value, indent, newline), *lines[at:]]


# -- where keys stand -------------------------------------------------------------------------------------------------


def _yaml() -> Any:
    """PyYAML (40 ms at first): in a thread, please."""
    return importlib.import_module("yaml")


def _root(text: str) -> Any:
    yaml = _yaml()
    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise NotEditable("The frontmatter is not valid YAML.", next_step="Correct it as text first.") from error
    if node is not None and (not _is_mapping(node) or node.flow_style):
        raise NotEditable("The frontmatter is not a plain list of keys.", next_step="Edit it as text.")
    return node


def _is_mapping(node: Any) -> bool:
    return getattr(node, "id", "") == "mapping"


def _entries(lines: list[str], mapping: Any, end: int) -> list[_Entry]:
    """The entries with their lines. Comments and blank lines before the next key belong to that key."""
    nodes = [(key, value) for key, value in mapping.value if getattr(key, "id", "") == "scalar"]
    if len(nodes) < len(mapping.value):
        raise NotEditable("The frontmatter has keys that are not plain words.", next_step="Edit it as text.")
    found = []
    for at, (key, value) in enumerate(nodes):
        first = key.start_mark.line
        limit = nodes[at + 1][0].start_mark.line if at + 1 < len(nodes) else end
        found.append(_Entry(str(key.value), first, _last(lines, first, limit), key.start_mark.column, value))
    return found


def _last(lines: list[str], first: int, limit: int) -> int:
    """Where an entry ends: before the comments and blank lines that lead to what follows."""
    last = limit
    while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _comment(lines: list[str], entry: _Entry) -> str:
    """The comment at the end of a one-line entry, with the space before it."""
    if entry.end != entry.first + 1 or getattr(entry.value, "id", "") != "scalar":
        return ""
    tail = lines[entry.first].rstrip("\r\n")[entry.value.end_mark.column :]
    return tail if tail.lstrip().startswith("#") else ""


def _construct(node: Any) -> Any:
    return _yaml().SafeLoader("").construct_document(node)


def _set(data: Any, path: Sequence[str], value: Any) -> dict[str, Any]:
    """``data`` as a mapping with one value in it changed."""
    result = dict(data) if isinstance(data, Mapping) else {}
    if len(path) > 1:
        result[path[0]] = _set(result.get(path[0]), path[1:], value)
    elif value is REMOVE:
        result.pop(path[0], None)
    else:
        result[path[0]] = value
    return result


# -- writing one entry ------------------------------------------------------------------------------------------------


def _written(key: str, value: Any, indent: int, newline: str) -> list[str]:
    """The lines of a new entry in the house style: short lists on one line, mappings below, texts quoted at need."""
    return [" " * indent + line + newline for line in _lines(key, value)]


def _lines(key: str, value: Any) -> list[str]:
    name = _scalar(key)
    if isinstance(value, Mapping) and value:
        return [f"{name}:", *("  " + line for item, inner in value.items() for line in _lines(str(item), inner))]
    if isinstance(value, (list, tuple)) and value and not _short(value):
        out = [f"{name}:"]
        for item in value:
            out += _item(item)
        return out
    if isinstance(value, str) and "\n" in value and value.strip():
        return _block(name, value)
    return [f"{name}: {_inline(value)}"]


def _item(item: Any) -> list[str]:
    if isinstance(item, Mapping) and item:
        lines = [line for key, inner in item.items() for line in _lines(str(key), inner)]
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
        return [f"{name}: {_quoted(text)}"]
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
    return _quoted(value)


def _quoted(value: Any) -> str:
    """JSON, which is YAML too once what YAML does not take as it is has been escaped."""
    return _UNPRINTABLE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", json.dumps(value, ensure_ascii=False))


def _scalar(text: str, *, flow: bool = False) -> str:
    """A text as a plain scalar where every reader takes it for one, else in double quotes."""
    plain = _PLAIN.match(text) and text == text.strip() and text.lower() not in _WORDS
    if not plain or ": " in text or " #" in text or text.endswith(":") or (flow and "," in text):
        return _quoted(text)
    return text
