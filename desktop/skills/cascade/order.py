"""The order of middleware: ``before`` and ``after`` against names and phase sentinels (R-INV-10)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass

SENTINELS = ("$pre-configure", "$configure", "$post-configure", "$pre-execute", "$execute", "$post-execute")
"""The phases of one invocation, in their order."""


class OrderCycle(ValueError):
    """Constraints that cannot all hold; ``cycle`` lists the names, the first repeated at the end."""

    def __init__(self, cycle: Sequence[str]) -> None:
        super().__init__(f"the order of middleware goes in a circle: {' before '.join(cycle)}")
        self.cycle = tuple(cycle)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one entry wants to stand. Names that are not in the chain bind nothing."""

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def ordered(entries: Iterable[Placement]) -> tuple[str, ...]:
    """The names (sentinels left out) so that every constraint holds; ties keep the order given.

    Raises OrderCycle. The sentinels stand in their fixed order; an entry without constraints comes after what was
    declared before it.
    """
    places = {entry.name: entry for entry in entries}
    followers = _edges(places)
    waiting = dict.fromkeys(followers, 0)
    for after in followers.values():
        for name in after:
            waiting[name] += 1
    rank = {name: at for at, name in enumerate((*SENTINELS, *places))}
    free = [name for name in followers if not waiting[name]]
    out: list[str] = []
    while free:
        name = min(free, key=lambda one: rank[one])
        free.remove(name)
        out.append(name)
        for follower in followers[name]:
            waiting[follower] -= 1
            if not waiting[follower]:
                free.append(follower)
    if len(out) < len(followers):
        raise OrderCycle(_cycle(followers, set(followers) - set(out)))
    return tuple(name for name in out if name not in SENTINELS)


def _edges(places: Mapping[str, Placement]) -> dict[str, list[str]]:
    """The names that have to come later, by name."""
    followers: dict[str, list[str]] = {name: [] for name in (*SENTINELS, *places)}
    for first, second in itertools.pairwise(SENTINELS):
        followers[first].append(second)
    for entry in places.values():
        for name in entry.before:
            if name in followers and name != entry.name:
                followers[entry.name].append(name)
        for name in entry.after:
            if name in followers and name != entry.name:
                followers[name].append(entry.name)
    return followers


def _cycle(followers: Mapping[str, Sequence[str]], stuck: set[str]) -> list[str]:
    """One circle among what could not be placed: every stuck name has a stuck one before it, so walk back."""
    before = {name: [one for one in stuck if name in followers[one]] for name in stuck}
    path = [min(stuck)]
    while True:
        earlier = min(before[path[-1]])
        if earlier in path:
            return [earlier, *reversed(path[path.index(earlier) :])]
        path.append(earlier)
