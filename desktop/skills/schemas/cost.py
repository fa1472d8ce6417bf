"""What validating against a schema can cost at worst, so that no schema holds up the app (R-SK-4, R-TOOL-2).

Forty definitions that each name the next one twice are a short text and 2^40 steps. Worked out by going over the graph
of references once for each level of the value: what applies to one value adds up, and of what applies to the parts of
it the worst part counts. Costs are in steps of some 10 to 100 ns and end at ``ENDLESS``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import unquote

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.schemas.drafts import LATEST, REFERENCES, address_from, draft_of, follow, schemas_in

ENDLESS = 10**12
MAX_STEPS = 10_000
"""For one value, the parts of it left out: a schema beyond this is refused as a whole."""
MAX_DEPTH = 64
"""Levels of a value that are told apart; deeper ones do not validate against a schema that comes back to itself."""
MAX_COUNT, MAX_COUNT_DEPTH = 5_000_000, 1_000
_LIGHT = 64
_BACKTRACKS = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]|[+*?}]\+")
_BACKTRACKING = 1_000
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_EVERY_ITEM = ("items", "additionalItems", "contains", "unevaluatedItems")
_TUPLES = ("prefixItems", "items")
_EVERY_MEMBER = ("additionalProperties", "unevaluatedProperties")
_AGAIN = ("unevaluatedProperties", "unevaluatedItems")


@dataclass(slots=True)
class _Node:
    """One schema of the tree: its own cost, the schemas that apply to the same value, and those that apply to parts of
    it."""

    own: int
    factor: int = 1
    here: list[int] = field(default_factory=list)
    every: list[int] = field(default_factory=list)
    parts: dict[str, list[int]] = field(default_factory=dict)


class SchemaCost:
    """The cost of validating against one schema; works out more levels as deeper values come."""

    def __init__(self, schema: Any) -> None:
        self._names = _Names(schema)
        self._nodes: dict[int, _Node] = {}
        self._root = self._read(schema)
        self._order = _ordered(self._nodes, self._root)
        self._levels: list[dict[int, int]] = []

    @property
    def widest(self) -> int:
        """The most steps that any of its parts takes for one value, the parts of that left out."""
        self.at(0)
        return max(self._levels[0].values()) if self._levels else ENDLESS

    def at(self, depth: int) -> int:
        """The steps for a value with so many levels below it, each of them at its worst place."""
        if self._order is None:
            return ENDLESS
        while len(self._levels) <= min(depth, MAX_DEPTH) and not self._is_settled:
            self._levels.append(self._level(self._levels[-1] if self._levels else {}))
        if depth > MAX_DEPTH and not self._is_settled:
            return ENDLESS
        return self._levels[min(depth, len(self._levels) - 1)][self._root]

    @property
    def _is_settled(self) -> bool:
        """Whether deeper values cost no more at any one place."""
        return len(self._levels) > 1 and self._levels[-1] == self._levels[-2]

    @property
    def is_light(self) -> bool:
        """Whether values take few steps for each of their parts, however deep they are."""
        return self.at(MAX_DEPTH) <= _LIGHT and self._is_settled

    def of(self, value: Any) -> int:
        """The steps for this value, at worst."""
        count, depth = extent(value)
        return min(ENDLESS, count * self.at(depth))

    def _level(self, below: Mapping[int, int]) -> dict[int, int]:
        costs: dict[int, int] = {}
        for number in self._order or ():
            node = self._nodes[number]
            every = sum(below.get(part, 0) for part in node.every)
            worst = max((sum(below.get(part, 0) for part in parts) for parts in node.parts.values()), default=0)
            here = node.factor * sum(costs[inner] for inner in node.here)
            costs[number] = min(ENDLESS, node.own + here + every + worst)
        return costs

    def _read(self, schema: Any) -> int:
        """Every schema that can be reached; the number of the first."""
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if id(part) in self._nodes:
                continue
            node = self._nodes[id(part)] = _Node(_own(part), 2 if _has(part, _AGAIN) else 1)
            if isinstance(part, Mapping):
                waiting += self._connected(part, node)
        return id(schema)

    def _connected(self, part: Mapping[str, Any], node: _Node) -> Iterator[Any]:
        """Note what applies together with a schema, and where; yields it."""
        for inner in (*_in_place(part), *self._names.targets(part)):
            node.here.append(id(inner))
            yield inner
        for inner in _of_every(part):
            node.every.append(id(inner))
            yield inner
        for name, inner in _of_one(part):
            node.parts.setdefault(name, []).append(id(inner))
            yield inner


class _Names:
    """Resolves references inside a schema. One that cannot be told leads to every schema with a name of its own."""

    def __init__(self, schema: Any) -> None:
        id_key = (draft_of(schema) or LATEST).id_key
        parts = schemas_in(schema)
        self._parts = {id(part.schema): part for part in parts}
        self._resources = {part.base: part.resource for part in parts}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._dynamic: dict[str, list[Any]] = {}
        self._outermost = [part.schema for part in parts if "$recursiveAnchor" in part.schema]
        for part in parts:
            for word in ("$anchor", "$dynamicAnchor", id_key):
                name = part.schema.get(word)
                if isinstance(name, str) and (word != id_key or name.startswith("#")):
                    self._anchors[part.base, name.removeprefix("#")] = part.schema
                    self._dynamic.setdefault(name, []).extend([part.schema] if word == "$dynamicAnchor" else [])

    def targets(self, part: Mapping[str, Any]) -> Iterator[Any]:
        for word in REFERENCES:
            reference = part.get(word)
            if isinstance(reference, str):
                yield from self._found(part, reference)
            if word == "$dynamicRef" and isinstance(reference, str):
                yield from self._dynamic.get(reference.partition("#")[2], ())
            yield from self._outermost if word == "$recursiveRef" and reference is not None else ()

    def _found(self, part: Mapping[str, Any], reference: str) -> list[Any]:
        known = self._parts.get(id(part))
        address = address_from(known.base, reference) if known is not None else ""
        resource, fragment = self._resources.get(address), unquote(reference.partition("#")[2])
        if resource is None:
            return [*self._resources.values(), *self._anchors.values()]
        if fragment and not fragment.startswith("/"):
            target = self._anchors.get((address, fragment))
        else:
            target = follow(resource, f"#{reference.partition('#')[2]}")
        return [] if target is None else [target]


def extent(value: Any) -> tuple[int, int]:
    """How many values a JSON value is made of, keys of objects included, and how many levels it has below it; both end
    at some number that is too many."""
    count, depth, level = 0, -1, [value]
    while level and count < MAX_COUNT and depth < MAX_COUNT_DEPTH:
        depth += 1
        count += len(level)
        below: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                below += one.values()
                count += len(one)
            elif isinstance(one, list | tuple):
                below += one
        level = below
    return count, depth


def _ordered(nodes: Mapping[int, _Node], root: int) -> list[int] | None:
    """Each after all that apply to the same value; None when one of them applies to itself."""
    order: list[int] = []
    state: dict[int, bool] = {}
    for start in (root, *nodes):
        waiting = [(start, False)]
        while waiting:
            number, ready = waiting.pop()
            if ready:
                state[number] = True
                order.append(number)
            elif number not in state:
                state[number] = False
                waiting.append((number, True))
                waiting += [(inner, False) for inner in nodes[number].here if not state.get(inner, False)]
                if any(state.get(inner) is False for inner in nodes[number].here):
                    return None
    return order


def _own(part: Any) -> int:
    patterns = [part["pattern"]] if _has(part, ("pattern",)) else []
    if _has(part, ("patternProperties",)) and isinstance(part["patternProperties"], Mapping):
        patterns += part["patternProperties"]
    hard = sum(1 for text in patterns if isinstance(text, str) and _BACKTRACKS.search(text))
    return 1 + len(patterns) + _BACKTRACKING * hard


def _has(part: Any, words: tuple[str, ...]) -> bool:
    return isinstance(part, Mapping) and any(word in part for word in words)


def _in_place(part: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that apply to the same value."""
    for word in _LISTS:
        inner = part.get(word)
        yield from inner if isinstance(inner, list) else ()
    for word in _SINGLE:
        if word in part:
            yield part[word]
    for word in ("dependentSchemas", "dependencies"):
        inner = part.get(word)
        yield from inner.values() if isinstance(inner, Mapping) else ()


def _of_every(part: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas of all members, or all items, that another one may apply to as well."""
    for word in (*_EVERY_ITEM, *_EVERY_MEMBER, "propertyNames"):
        if word in part and not isinstance(part[word], list):
            yield part[word]
    inner = part.get("patternProperties")
    yield from inner.values() if isinstance(inner, Mapping) else ()


def _of_one(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas of single members and items."""
    inner = part.get("properties")
    yield from inner.items() if isinstance(inner, Mapping) else ()
    for word in _TUPLES:
        items = part.get(word)
        yield from ((f"[{number}]", one) for number, one in enumerate(items)) if isinstance(items, list) else ()
