"""Whether a changed text says what it shall and nothing else: two trees of nodes compared but for one key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop.yaml_text.parsing import yaml

_SAME_IF_EQUAL = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
"""Kinds of values that may be written in several ways."""


def nothing_else_differs(before: yaml.Node | None, after: yaml.Node | None, path: Sequence[str]) -> bool:
    """Whether both mean the same without the value at ``path`` and the mappings that hold nothing but it."""
    return _rest(before, path, {}) == _rest(after, path, {})


def means(node: yaml.Node | None, path: Sequence[str], expected: yaml.Node | None) -> bool:
    """Whether the value at ``path`` means the same as the one in ``expected``; None: there shall be none."""
    found, wanted = _found(node, path), _found(expected, path[-1:])
    if found is None or wanted is None:
        return found is wanted
    return _digest(found, {}) == _digest(wanted, {})


def all_the_same(before: Sequence[yaml.Node], after: Sequence[yaml.Node]) -> bool:
    """Whether two lists of values mean the same."""
    return [_digest(node, {}) for node in before] == [_digest(node, {}) for node in after]


def _found(node: yaml.Node | None, path: Sequence[str]) -> yaml.Node | None:
    for name in path:
        inner = [value for key, value in node.value if key.value == name] if isinstance(node, yaml.MappingNode) else []
        node = inner[-1] if inner else None
    return node


def _rest(node: yaml.Node | None, path: Sequence[str], known: dict[int, int]) -> tuple[Any, ...]:
    if not path or not isinstance(node, yaml.MappingNode):
        return ()
    found: list[Any] = []
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == path[0]:
            if inner := _rest(value, path[1:], known):
                found.append((key.value, inner))
        else:
            found.append((_name(key, known), _digest(value, known)))
    return tuple(found)


def _name(key: yaml.Node, known: dict[int, int]) -> Any:
    return key.value if isinstance(key, yaml.ScalarNode) else _digest(key, known)


def _digest(node: yaml.Node, known: dict[int, int]) -> int:
    """The same for nodes that mean the same. Each node is looked at once, however often aliases lead to it."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = 0  # a node that contains itself
    if isinstance(node, yaml.MappingNode):
        content: Any = tuple((_name(key, known), _digest(value, known)) for key, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        content = tuple(_digest(value, known) for value in node.value)
    else:
        content = yaml.SafeLoader("").construct_document(node) if node.tag in _SAME_IF_EQUAL else node.value
    made = known[id(node)] = hash((node.tag, content))
    return made
