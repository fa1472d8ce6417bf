"""``cyclic_peers``: skills that reach themselves by the names in their lists (R-RES-13).

An edge is an exact name in a skill's ``allowed-tools`` that means a skill on the search path. What a glob, a tag or no
list at all would let through is no edge: nearly everything could call nearly everything then, and say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.patterns.lists import AllowedList
from desktop.skills.resolution.globals import Globals
from desktop.skills.resolution.listing import list_on_disk

Peers = Mapping[str, frozenset[str]]


def cyclic_peers(globals: Globals) -> Peers:
    """For each skill that can come to call itself: all skills on such a way, itself among them. Worked out when it is
    first asked for after a change. Blocks where the caches do not know."""
    caches = globals.cache
    if caches.cyclic_peers is not None:
        return caches.cyclic_peers
    definitions = {one.name: one for one in list_on_disk(globals)}
    began = caches.generation
    edges: dict[str, list[str]] = {}
    for name, definition in definitions.items():
        if definition.allowed_tools is None:
            continue
        allowed = AllowedList.of(definition.allowed_tools)
        named = [definitions[other] for other in allowed.exact_names if other in definitions]
        edges[name] = [one.name for one in named if not allowed.denies(_Named(one.name, one.tags, one.params or {}))]
    return caches.keep_peers(began, _peers(edges))


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    tags: tuple[str, ...]
    params: Mapping[str, Any]
    on_server: str = ""
    bound_by: str = ""


def _peers(edges: Mapping[str, Sequence[str]]) -> Peers:
    return {
        name: group
        for group in map(frozenset, components(edges))
        if len(group) > 1 or any(name in edges.get(name, ()) for name in group)
        for name in group
    }


def components(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The strongly connected components, by Tarjan's algorithm: each edge is looked at once, and nothing recurses."""
    search = _Search(edges)
    for name in edges:
        search.begin_at(name)
    return search.found


class _Search:
    """``lowest`` of a name is the earliest one that can be reached from it and is not in a component yet."""

    def __init__(self, edges: Mapping[str, Sequence[str]]) -> None:
        self.found: list[list[str]] = []
        self._edges = edges
        self._number: dict[str, int] = {}
        self._lowest: dict[str, int] = {}
        self._open: dict[str, None] = {}  # in the order in which they were met
        self._way: list[tuple[str, Iterator[str]]] = []

    def begin_at(self, name: str) -> None:
        """All that can be reached from it, unless it was met before."""
        if name not in self._number:
            self._meet(name)
        while self._way:
            here, ahead = self._way[-1]
            other = next(ahead, None)
            if other is None:
                self._leave(here)
            elif other not in self._number:
                self._meet(other)
            elif other in self._open:
                self._lowest[here] = min(self._lowest[here], self._number[other])

    def _meet(self, name: str) -> None:
        self._number[name] = self._lowest[name] = len(self._number)
        self._open[name] = None
        self._way.append((name, iter(self._edges.get(name, ()))))

    def _leave(self, name: str) -> None:
        self._way.pop()
        if self._way:
            before = self._way[-1][0]
            self._lowest[before] = min(self._lowest[before], self._lowest[name])
        if self._lowest[name] == self._number[name]:
            group: list[str] = []
            while not group or group[-1] != name:
                group.append(self._open.popitem()[0])
            self.found.append(group)
