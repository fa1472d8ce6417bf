"""Merging frontmatter from the outermost source to the innermost (R-INV-12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

PRIVATE = frozenset({"role", "tags", "visibility", "main", "category", "params", "returns", "order", "hook"})
"""Keys that say what one skill is; never inherited. The source names role, tags and visibility; the others describe a
skill's own interface and would be wrong on another."""


def _prepend(outer: Any, inner: Any) -> Any:
    return [*_listed(inner), *_listed(outer)]


def _append(outer: Any, inner: Any) -> Any:
    return [*_listed(outer), *_listed(inner)]


def _shallow(outer: Any, inner: Any) -> Any:
    if isinstance(outer, Mapping) and isinstance(inner, Mapping):
        return {**outer, **inner}
    return inner


def _listed(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


POLICIES: Mapping[str, Callable[[Any, Any], Any]] = {"paths": _prepend, "mcp": _shallow, "include": _append}
"""How a key's outer and inner values become one; every other key is replaced."""


def merged(layers: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Merge ``(label, metadata)`` layers, outermost first; the last is the skill itself.

    Returns the effective metadata, and for each key the label of the layer that decided it. Private keys count only
    in the last layer; ``$…`` keys steer the cascade itself and stay out of the result.
    """
    result: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for at, (label, metadata) in enumerate(layers):
        own = at == len(layers) - 1
        for key, value in metadata.items():
            if key.startswith("$") or (key in PRIVATE and not own):
                continue
            policy = POLICIES.get(key)
            result[key] = policy(result[key], value) if policy is not None and key in result else value
            origin[key] = label
    return result, origin


class InheritanceError(ValueError):
    """Inheritance that goes in a circle, or whose orders contradict each other."""


MAX_ANCESTORS = 64


def linearised(name: str, parents: Callable[[str], Sequence[str]]) -> list[str]:
    """C3: the skill first, then its ancestors, each before its own parents, in the order they were named.

    Raises InheritanceError for a circle, for orders that contradict each other, and for more than 64 ancestors.
    """
    return _c3(name, parents, (), {})


def _c3(
    name: str, parents: Callable[[str], Sequence[str]], above: tuple[str, ...], done: dict[str, list[str]]
) -> list[str]:
    if name in above:
        raise InheritanceError(f"skills inherit from each other in a circle: {' from '.join((*above, name))}")
    if len(above) > MAX_ANCESTORS or len(done) > MAX_ANCESTORS:
        raise InheritanceError(f"{name} inherits from more than {MAX_ANCESTORS} skills")
    if name not in done:
        direct = list(dict.fromkeys(parents(name)))
        lists = [list(_c3(parent, parents, (*above, name), done)) for parent in direct]
        done[name] = [name, *_woven(name, [*lists, direct])]
    return done[name]


def _woven(name: str, lists: list[list[str]]) -> list[str]:
    out: list[str] = []
    while lists := [one for one in lists if one]:
        head = next((one[0] for one in lists if not any(one[0] in other[1:] for other in lists)), None)
        if head is None:
            raise InheritanceError(f"{name} inherits in orders that contradict each other")
        out.append(head)
        lists = [[entry for entry in one if entry != head] for one in lists]
    return out
