"""The schema of a promised value as models can be held to it word by word (R-MOD-8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 8
MAX_PROPERTIES = 100
_KEPT = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"})
"""What all providers take; a schema with more is kept to by the tool that takes the value."""
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def strict_form(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same schema, closed: each value that fits it fits the original. None where there is no such form, as with
    properties that may be left out."""
    if schema.get("type") != "object":
        return None
    left = [MAX_PROPERTIES]
    return _closed(schema, MAX_DEPTH, left)


def _closed(schema: Any, depth: int, left: list[int]) -> dict[str, Any] | None:
    if not isinstance(schema, Mapping) or depth <= 0 or not schema.keys() <= _KEPT or not _typed(schema):
        return None
    made = dict(schema)
    for name in ("items", "anyOf"):
        if name not in schema:
            continue
        many = schema[name] if name == "anyOf" else [schema[name]]
        inside = [_closed(one, depth - 1, left) for one in many] if isinstance(many, list) else [None]
        if not inside or any(one is None for one in inside):
            return None
        made[name] = inside if name == "anyOf" else inside[0]
    return _closed_object(made, depth, left) if schema.get("type") == "object" else made


def _typed(schema: Mapping[str, Any]) -> bool:
    """Whether it says what kind of value it is."""
    kind = schema.get("type")
    if kind is None:
        return "anyOf" in schema
    return isinstance(kind, str) and kind in _TYPES and (kind != "array" or "items" in schema)


def _closed_object(made: dict[str, Any], depth: int, left: list[int]) -> dict[str, Any] | None:
    properties, required = made.get("properties"), made.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list) or made.get("additionalProperties"):
        return None
    left[0] -= len(properties)
    if left[0] < 0 or not properties or set(required) != set(properties):
        return None
    inside = {name: _closed(one, depth - 1, left) for name, one in properties.items()}
    if any(one is None for one in inside.values()):
        return None
    return {**made, "properties": inside, "additionalProperties": False}
