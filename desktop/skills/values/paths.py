"""Path expressions: read, write, query and remove values in mappings and sequences (S-PAT-1).

The tier shows in the text: ``$…`` or anything with ``?(`` is JSONPath; otherwise dots and brackets. ``a[0].b`` and
``a.0.b`` go through a list and names in quotes (``a["b.c"]``) may hold anything. Only members and elements are seen,
never attributes; nothing is evaluated. A malformed expression raises PathError with its column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module
from desktop.skills.values.kinds import (
    MAX_EXPRESSION,
    MISSING,
    PathError,
    is_container,
    is_mapping,
    is_sequence,
    is_writable_mapping,
    is_writable_sequence,
)

if TYPE_CHECKING:
    from desktop.skills.values import jsonpath, jsonpath_tree, jsonpath_walk
    from desktop.skills.values.jsonpath_tree import Query
    from desktop.skills.values.jsonpath_walk import ValuePlace
else:
    jsonpath = lazy_module("desktop.skills.values.jsonpath")
    jsonpath_tree = lazy_module("desktop.skills.values.jsonpath_tree")
    jsonpath_walk = lazy_module("desktop.skills.values.jsonpath_walk")

MAX_STEPS = 100
MAX_PADDING = 1_000
"""Elements (None) that a write may add in front of the one written."""

Step = str | int
"""A name or digits, which lead into mappings and lists alike; or a number in brackets."""


def path_get(obj: object, expr: str, default: Any = None) -> Any:
    """The value at ``expr``, of several the first; ``default`` where there is none."""
    steps = _steps(expr)
    if steps is None:
        places = jsonpath_walk.find(_query(expr), obj)
        return places[0].value if places else default
    found = _follow(obj, steps)
    return default if found is MISSING else found


def path_query(obj: object, expr: str) -> list[Any]:
    """Every value that ``expr`` leads to."""
    steps = _steps(expr)
    if steps is None:
        return [place.value for place in jsonpath_walk.find(_query(expr), obj)]
    found = _follow(obj, steps)
    return [] if found is MISSING else [found]


def path_set(obj: object, expr: str, value: Any) -> None:
    """Write ``value`` at ``expr``, making the mappings and lists on the way.

    Several matches are all written; an expression that could match several and matches nothing writes nothing. Raises
    PathError where a value that is no container stands in the way (None gives way), for the root, for names with
    double underscores at both ends, and for a place far behind a list's end. A refused write leaves ``obj`` as it was.
    """
    steps = _steps(expr)
    if steps is not None:
        _write(obj, steps, value)
        return
    places = jsonpath_walk.find(_query(expr), obj)
    for place in places:
        _check_writable(place.holder, place.key)
    for place in places:
        _store(place.holder, _check_writable(place.holder, place.key), value)


def path_remove(obj: object, expr: str) -> None:
    """Delete what ``expr`` leads to: members go, later elements move up. What is not there is no error."""
    steps = _steps(expr)
    if steps is None:
        _delete(jsonpath_walk.find(_query(expr), obj))
        return
    if not steps:
        raise PathError("The root itself cannot be changed.")
    holder = _follow(obj, steps[:-1])
    key = _key_in(holder, steps[-1])
    if key is not None:
        _delete([jsonpath_walk.ValuePlace(None, holder, key)])


def path_keys(obj: object, exprs: Iterable[str]) -> set[str]:
    """The names of the top-level members that the expressions lead to or into.

    ``a.b`` and ``a[0]`` stand for ``a`` whether or not it is there; of a JSONPath only members of ``obj`` count.
    """
    found: set[str] = set()
    for expr in exprs:
        steps = _steps(expr)
        if steps:
            found.add(str(steps[0]))
        elif steps is None:
            found |= _top_level(obj, _query(expr))
    return found


def is_meta_key(key: str) -> bool:
    """Whether a key is a directive of the runtime and no name: it starts with ``$``."""
    return key.startswith("$")


# -- reading an expression --------------------------------------------------------------------------------------------

_PART = re.compile(
    r"(?P<dot>\.)?(?P<name>[^.\[\]]+)"
    r"|\[(?P<index>-?[0-9]{1,15})\]"
    r"|\[(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\]|\\.)*)')\]",
    re.DOTALL,
)
_DIGITS = re.compile(r"[0-9]{1,15}")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _is_jsonpath(expr: str) -> bool:
    return expr.startswith("$") or "?(" in expr


def _query(expr: str) -> Query:
    """A JSONPath, whose ``$`` may be left out in front of one with a filter."""
    if expr.startswith("$"):
        return jsonpath.parse(expr)
    start = "$" if expr.startswith("[") else "$."
    return jsonpath.parse(start + expr, len(start))


@lru_cache(maxsize=1024)
def _steps(expr: str) -> tuple[Step, ...] | None:
    """The way to one place, or None for a JSONPath that may lead to several."""
    if _is_jsonpath(expr):
        way = _query(expr).steps()
        return (
            None
            if way is None
            else tuple(step.name if isinstance(step, jsonpath_tree.Name) else step.index for step in way)
        )
    if len(expr) > MAX_EXPRESSION:
        raise PathError(f"A path expression may have {MAX_EXPRESSION} characters at most.")
    steps: list[Step] = []
    at = 0
    while at < len(expr) or not steps:
        match = _PART.match(expr, at)
        if match is None or (match["name"] is not None and bool(match["dot"]) is not bool(steps)):
            raise PathError(f"At column {at + 1} of the path: a name was expected.", column=at + 1)
        steps.append(_step(match))
        at = match.end()
    if len(steps) > MAX_STEPS:
        raise PathError(f"A path may have {MAX_STEPS} steps at most.")
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match["index"] is not None:
        return int(match["index"])
    quoted = match["double"] if match["double"] is not None else match["single"]
    return match["name"] if quoted is None else _ESCAPED.sub(r"\1", quoted)


# -- following and writing --------------------------------------------------------------------------------------------


def _follow(node: Any, steps: tuple[Step, ...]) -> Any:
    """What lies at the end of the way, or MISSING."""
    for step in steps:
        key = _key_in(node, step)
        if key is None:
            return MISSING
        node = node[key]
    return node


def _key_in(node: Any, step: Step) -> Step | None:
    """The key or place of ``node`` that a step means, or None where there is nothing."""
    if is_mapping(node):
        key = str(step)
        return None if node.get(key, MISSING) is MISSING else key
    if not is_sequence(node):
        return None
    index = _index(node, step)
    return index if index is not None and 0 <= index < len(node) else None


def _index(node: Any, step: Step) -> int | None:
    """The place in a sequence that a step means, which may lie outside; None for a name."""
    if isinstance(step, int):
        return step if step >= 0 else len(node) + step
    return int(step) if _DIGITS.fullmatch(step) else None


def _is_index(step: Step) -> bool:
    return isinstance(step, int) or _DIGITS.fullmatch(step) is not None


def _write(obj: Any, steps: tuple[Step, ...], value: Any) -> None:
    """Go as far as there are containers, build the rest apart, and hang it in with one write."""
    if not steps:
        raise PathError("The root itself cannot be changed.")
    for step in steps:
        _refuse_dunder(step)
    node, at = obj, 0
    while at < len(steps) - 1:
        found = _follow(node, steps[at : at + 1])
        if found is MISSING or found is None:
            break
        node, at = found, at + 1
    for step in reversed(steps[at + 1 :]):
        inner: Any = [] if _is_index(step) else {}
        _store(inner, step, value)
        value = inner
    _store(node, steps[at], value)


def _refuse_dunder(step: Step) -> None:
    """Such names are hooks in the languages that may read the value later (``__proto__``)."""
    if isinstance(step, str) and len(step) > 4 and step.startswith("__") and step.endswith("__"):
        raise PathError(f"{step!r} cannot be written.")


def _store(holder: Any, step: Step, value: Any) -> None:
    _check_writable(holder, step)
    if is_writable_mapping(holder):
        _refuse_dunder(step)
        holder[str(step)] = value
        return
    index = _index(holder, step)
    if index is None or index < 0 or index - len(holder) > MAX_PADDING:
        raise PathError(f"{str(step)!r} is no place in a list of {len(holder)}.")
    if index < len(holder):
        holder[index] = value
    else:
        holder.extend([None] * (index - len(holder)))
        holder.append(value)


def _check_writable(holder: Any, step: Step | None) -> Step:
    """The step, when ``holder`` can be changed there at all."""
    if step is None:
        raise PathError("The root itself cannot be changed.")
    if not is_writable_mapping(holder) and not is_writable_sequence(holder):
        kind = "a fixed container" if is_container(holder) else "a value that holds no others"
        raise PathError(f"{str(step)!r} cannot be changed: {kind} stands there.")
    return step


def _delete(places: list[ValuePlace]) -> None:
    """Remove places, the last elements of a list first, so that the others stay where they were."""
    once = {(id(place.holder), place.key): place for place in places}
    for place in places:
        _check_writable(place.holder, place.key)
    for place in sorted(once.values(), key=_last_first):
        del place.holder[place.key]


def _last_first(place: ValuePlace) -> int:
    return -place.key if isinstance(place.key, int) else 0


def _top_level(obj: object, query: Query) -> set[str]:
    """The members of ``obj`` through which a JSONPath goes."""
    return {place.top for place in jsonpath_walk.find(query, obj) if isinstance(place.top, str)}
