"""A YAML text as a tree in which every value knows its place, under hard limits.

Values stay the text that was written; what a text means is decided by what is wanted in its place (``number``,
``flag``), so ``on`` in a list of words is the word. Aliases, tags and double keys are faults of the value that holds
them, so that one of them costs its entry and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError
from desktop.yaml_text.parsing import event_kind, events

MAX_BYTES = 256_000
MAX_NODES = 20_000
MAX_DEPTH = 12

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][-+]?[0-9]{1,3})?")
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_EMPTY = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that may not stand here."""

    message: str
    line: int
    column: int


@dataclass(slots=True)
class Node:
    """One value. Lines and columns count from 1."""

    kind: Literal["map", "list", "text"]
    """What it is."""
    line: int
    """Where it begins."""
    column: int
    """Where it begins in the line."""
    text: str = ""
    """A scalar's text."""
    plain: bool = False
    """Whether a scalar was written without quotes."""
    items: list[Node] = field(default_factory=list)
    """The values of a list."""
    entries: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    """The values of a map by key, each with the key's own node."""
    own_faults: list[Fault] = field(default_factory=list)
    """What is wrong with it, without what is wrong inside it."""

    def faults(self) -> Iterator[Fault]:
        """The faults of this value and of everything in it."""
        yield from self.own_faults
        for item in self.items:
            yield from item.faults()
        for _, value in self.entries.values():
            yield from value.faults()

    def get(self, key: str) -> Node | None:
        """A value of a map."""
        found = self.entries.get(key)
        return found[1] if found else None

    @property
    def empty(self) -> bool:
        """Whether nothing was written: ``key:`` or ``null``."""
        return self.kind == "text" and self.plain and self.text in _EMPTY

    def flag(self) -> bool | None:
        """True or false, or None when it is neither."""
        word = self.text.lower() if self.kind == "text" and self.plain else ""
        return True if word in _TRUE else False if word in _FALSE else None

    def number(self) -> int | float | None:
        """A finite number, or None."""
        if self.kind != "text" or not self.plain:
            return None
        if _INTEGER.fullmatch(self.text):
            return int(self.text)
        value = float(self.text) if _NUMBER.fullmatch(self.text) else float("inf")
        return value if abs(value) != float("inf") else None


def read(text: str) -> Node | None:
    """The tree of one document, None for an empty one. Raises FormatError."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise FormatError(f"the file is larger than {MAX_BYTES // 1000} KB")
    if not text.strip():
        return None
    return _NodeBuilder(events(text)).document()


class _NodeBuilder:
    """Consumes the parser's events; the depth is limited before Python's stack is."""

    def __init__(self, pieces: Iterator[Any]) -> None:
        self._events = pieces
        self._nodes = 0

    def document(self) -> Node | None:
        next(self._events)  # the stream
        if event_kind(next(self._events)) == "StreamEnd":
            return None
        root = self._node(next(self._events), 1)
        next(self._events)  # the document's end
        if event_kind(second := next(self._events)) != "StreamEnd":
            mark = second.start_mark
            raise FormatError("a second document begins here: one file is one document", mark.line + 1, mark.column + 1)
        return None if root.empty else root

    def _node(self, event: Any, depth: int) -> Node:
        kind, mark = event_kind(event), event.start_mark
        line, column = mark.line + 1, mark.column + 1
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise FormatError(f"the file holds more than {MAX_NODES} values", line, column)
        if depth > MAX_DEPTH:
            raise FormatError(f"values are nested more than {MAX_DEPTH} deep", line, column)
        if kind == "Alias":
            words = f"*{event.anchor[:40]}: aliases are not supported, write the value out"
            return Node("text", line, column, own_faults=[Fault(words, line, column)])
        node = self._filled(kind, event, depth, line, column)
        if event.tag not in (None, "!"):
            node.own_faults.append(Fault("tags (words that begin with !) are not supported", line, column))
        return node

    def _filled(self, kind: str, event: Any, depth: int, line: int, column: int) -> Node:
        if kind == "Scalar":
            return Node("text", line, column, event.value, not event.style and event.tag != "!")
        if kind == "SequenceStart":
            node = Node("list", line, column)
            while event_kind(item := next(self._events)) != "SequenceEnd":
                node.items.append(self._node(item, depth + 1))
            return node
        return self._map(Node("map", line, column), depth)

    def _map(self, node: Node, depth: int) -> Node:
        while event_kind(event := next(self._events)) != "MappingEnd":
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if key.kind != "text" or key.own_faults:
                node.own_faults.append(Fault("a key has to be a plain word", key.line, key.column))
            elif key.text in node.entries:
                words = f"{key.text[:60]!r} is given twice"
                node.own_faults.append(Fault(words, key.line, key.column))
            else:
                node.entries[key.text] = (key, value)
        return node
