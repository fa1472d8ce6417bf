"""The thorough way through YAML: libyaml's events, built into JSON-safe values under hard limits.

PyYAML's own constructor would expand a bomb of aliases, keep the last of two equal keys, make dates and numbers in base
60, and call Python for tags. Here each of these is a limit, a plain string or a problem with its line and column.
Reads YAML 1.1's ``yes`` and ``no`` as config.yaml does; keys are always text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError, Keys, Place
from desktop.yaml_text.parsing import event_kind, events

MAX_DEPTH = 40
MAX_WEIGHT = 100_000
"""Values plus characters, with every use of an alias counted again: what the mapping would be written out."""
MAX_VALUES = 5_000
MAX_INTEGER = 2**63 - 1

_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d*)\Z|0x[0-9a-fA-F]+\Z|0o[0-7]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?\Z")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
for _value, _names in ((True, ("yes", "true", "on")), (False, ("no", "false", "off"))):
    for _name in _names:
        _WORDS |= dict.fromkeys((_name, _name.title(), _name.upper()), _value)
_TAGS = {f"tag:yaml.org,2002:{name}": name for name in ("str", "int", "float", "bool", "null", "map", "seq")}

_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}


@dataclass(slots=True)
class YamlMapping:
    """A mapping that was read; ``marks`` has the places of its values, when they were asked for. ``notes`` are readings
    that may surprise: warnings, not failures."""

    data: dict[str, Any]
    marks: dict[Keys, Place] = field(default_factory=dict)
    notes: list[FormatError] = field(default_factory=list)


def read(text: str, *, first_line: int = 1, marks: bool = False, what: str = "frontmatter") -> YamlMapping:
    """Read YAML that has to be a mapping. FormatError for anything else. ``first_line`` is where ``text`` begins in its
    file; ``what`` it is called in a sentence."""
    builder = _ValueBuilder(first_line, marks, what)
    return YamlMapping(builder.build(events(text, first_line)), builder.marks, builder.notes)


@dataclass(slots=True)
class _Anchor:
    value: Any
    values: int
    weight: int


class _ValueBuilder:
    """Consumes events recursively; the depth is limited before Python's stack is."""

    def __init__(self, first_line: int, marks: bool, what: str) -> None:
        self.marks: dict[Keys, Place] = {}
        self.notes: list[FormatError] = []
        self._what = what
        self._first_line = first_line
        self._wanted = marks
        self._anchors: dict[str, _Anchor | None] = {}
        self._values = 0
        self._weight = 0
        self._events: Iterator[Any] = iter(())

    def build(self, pieces: Iterator[Any]) -> dict[str, Any]:
        self._events = pieces
        next(pieces)  # the stream
        if event_kind(next(pieces)) == "StreamEnd":
            return {}
        first = next(pieces)
        if event_kind(first) == "Scalar" and first.value == "" and not first.style:
            value: Any = {}
        elif event_kind(first) != "MappingStart":
            raise self._error(first, "a mapping of keys to values is needed")
        else:
            value = self._value(first, (), 1)
        self._finish()
        return dict(value)

    def _finish(self) -> None:
        for event in self._events:
            if event_kind(event) == "DocumentStart":
                raise self._error(event, f"the {self._what} holds a second document")

    def _error(self, event: Any, message: str, code: str = "frontmatter.yaml") -> FormatError:
        mark = event.start_mark
        return FormatError(message, self._first_line + mark.line, mark.column + 1, code)

    def _value(self, event: Any, keys: Keys, depth: int) -> Any:
        if self._wanted:
            quoted = getattr(event, "style", None) in ("'", '"')
            self.marks[keys] = (self._first_line + event.start_mark.line, event.start_mark.column + 1 + quoted)
        kind = event_kind(event)
        if kind == "Alias":
            return self._alias(event)
        if depth > MAX_DEPTH:
            raise self._error(event, f"values are nested more than {MAX_DEPTH} deep", "frontmatter.too-deep")
        anchor, values, weight = event.anchor, self._values, self._weight
        if anchor is not None:
            self._anchors[anchor] = None
        if kind == "Scalar":
            self._count(event, 1, 1 + len(event.value))
            value = self._scalar(event)
        else:
            self._count(event, 1, 1)
            self._tag(event, ("map",) if kind == "MappingStart" else ("seq",))
            value = self._mapping(keys, depth) if kind == "MappingStart" else self._list(keys, depth)
        if anchor is not None:
            self._anchors[anchor] = _Anchor(value, self._values - values, self._weight - weight)
        return value

    def _count(self, event: Any, values: int, weight: int) -> None:
        self._values += values
        self._weight += weight
        if self._values > MAX_VALUES or self._weight > MAX_WEIGHT:
            message = f"written out, this would be more than {MAX_VALUES} values or {MAX_WEIGHT} characters"
            raise self._error(event, message, "frontmatter.too-large")

    def _alias(self, event: Any) -> Any:
        found = self._anchors.get(event.anchor)
        if found is None:
            inside = event.anchor in self._anchors
            raise self._error(event, f"*{event.anchor} " + ("contains itself" if inside else "is not defined above"))
        self._count(event, found.values, found.weight)
        return found.value

    def _list(self, keys: Keys, depth: int) -> list[Any]:
        items: list[Any] = []
        while event_kind(event := next(self._events)) != "SequenceEnd":
            items.append(self._value(event, (*keys, len(items)), depth + 1))
        return items

    def _mapping(self, keys: Keys, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while event_kind(event := next(self._events)) != "MappingEnd":
            if event_kind(event) != "Scalar":
                raise self._error(event, "a key has to be plain text", "frontmatter.key")
            key: str = event.value
            self._count(event, 1, 1 + len(key))
            if not event.style and key == "<<":
                merged = self._merge(next(self._events), keys, depth) | merged
                continue
            if key in found:
                raise self._error(event, f"the key {key[:60]!r} is given twice", "frontmatter.duplicate-key")
            found[key] = self._value(next(self._events), (*keys, key), depth + 1)
        return merged | found if merged else found

    def _merge(self, event: Any, keys: Keys, depth: int) -> dict[str, Any]:
        value = self._value(event, (*keys, "<<"), depth + 1)
        parts = value if isinstance(value, list) else [value]
        found: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, dict):
                raise self._error(event, "<< merges mappings only")
            found = part | found
        return found

    def _tag(self, event: Any, expected: tuple[str, ...]) -> str:
        """The explicit type, "" for none. Python objects, binary data and private tags are refused."""
        if event.tag is None or event.tag == "!":
            return ""
        name = _TAGS.get(event.tag)
        if name not in expected:
            shown = str(event.tag).replace("tag:yaml.org,2002:", "!!")[:80]
            raise self._error(event, f"the tag {shown} is not allowed here: values are plain data", "frontmatter.tag")
        return name

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        kind = self._tag(event, ("str", "int", "float", "bool", "null"))
        if kind == "str" or (not kind and (event.style or event.tag == "!")):
            return text
        value = self._plain(event, text)
        if kind and not isinstance(value, _KINDS[kind]):
            raise self._error(event, f"{text[:40]!r} is not a value of type {kind}", "frontmatter.tag")
        return float(value) if kind == "float" else value

    def _plain(self, event: Any, text: str) -> Any:
        if text in _WORDS:
            value = _WORDS[text]
            if isinstance(value, bool) and text.lower() not in ("true", "false"):
                read_as = "true" if value else "false"
                self._note(event, f"{text} is read as {read_as}: write {read_as}, or {text!r} for the word")
            return value
        if _INTEGER.match(text):
            return self._integer(event, text)
        if _FLOAT.match(text):
            number = float(text)
            if abs(number) != float("inf"):
                return number
            self._note(event, "this number is too large and is kept as text")
        return text

    def _integer(self, event: Any, text: str) -> Any:
        if len(text) <= 24:
            number = int(text, 0) if text[:2] in ("0x", "0o") else int(text)
            if abs(number) <= MAX_INTEGER:
                return number
        self._note(event, "this number is too large and is kept as text")
        return text

    def _note(self, event: Any, message: str) -> None:
        if len(self.notes) < 20:
            self.notes.append(self._error(event, message, "frontmatter.reading"))
