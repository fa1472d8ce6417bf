"""The ``parameters`` of one entry of tools.yaml, read into JSON Schema (R-CLI-5, R-CLI-6, S-CLI-1)."""

from __future__ import annotations

from typing import Any

from desktop.domain.text.suggestions import nearest
from desktop.tools.cli.template import NAME
from desktop.tools.cli.values import (
    DEFAULT_MAX_LENGTH,
    LARGEST,
    Kind,
    Parameter,
    compiled,
    is_loose,
    pattern_problem,
    text_problem,
)
from desktop.tools.declared.entries import EntryProblems
from desktop.yaml_text.tree import Node

MAX_PARAMETERS = 50
MAX_CHOICES = 500
MAX_PATTERN = 1_000
COMMON = ("type", "description", "optional", "default", "enum")
OWN: dict[Kind, tuple[str, ...]] = {
    "string": ("pattern", "minLength", "maxLength", "allow_leading_dash"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
}


def read_parameters(node: Node | None, notes: EntryProblems) -> tuple[Parameter, ...]:
    """The parameters that can be used; problems of the others are noted, which fails the entry."""
    if node is None or node.empty:
        return ()
    if node.kind != "map" or len(node.entries) > MAX_PARAMETERS:
        notes.error(node, "parameters", f"this has to hold names with values, at most {MAX_PARAMETERS}")
        return ()
    found = []
    for name, (key, value) in node.entries.items():
        at = f"parameters.{name[:64]}"
        if not NAME.fullmatch(name):
            notes.error(key, at, "a parameter's name is letters, digits, _ and -, and begins with a letter or _")
        elif value.kind != "map":
            notes.error(value, at, "a parameter needs at least its type")
        else:
            read = _Parameter(name, value, at, notes).read()
            if read is not None:
                found.append(read)
    return tuple(found)


class _Parameter:
    """One parameter while it is read."""

    def __init__(self, name: str, node: Node, at: str, notes: EntryProblems) -> None:
        self._name = name
        self._node = node
        self._at = at
        self._notes = notes
        self._good = True

    def read(self) -> Parameter | None:
        kind = self._kind()
        if kind is None:
            return None
        self._unknown(kind)
        schema: dict[str, Any] = {"type": kind}
        self._described(schema)
        self._choices(schema, kind)
        if kind == "string":
            self._text_rules(schema)
        elif kind != "boolean":
            self._bounds(schema, kind)
        optional, dash = self._flag("optional"), self._flag("allow_leading_dash")
        if not self._good:
            return None
        plain = Parameter(self._name, kind, schema, True, dash)
        self._default(schema, plain)
        required = not optional and "default" not in schema
        return Parameter(self._name, kind, schema, required, dash) if self._good else None

    def _error(self, key: str, message: str) -> None:
        self._good = False
        self._notes.error(self._node.get(key) or self._node, f"{self._at}.{key}" if key else self._at, message)

    def _kind(self) -> Kind | None:
        node = self._node.get("type")
        word = node.text if node is not None and node.kind == "text" else ""
        if word == "enum":
            if self._node.get("enum") is None:
                self._error("type", "a parameter of type enum needs its enum: the list of choices")
                return None
            return "string"
        if word in OWN:
            return word
        self._error("type", "a parameter needs a type: string, integer, number, boolean or enum")
        return None

    def _unknown(self, kind: Kind) -> None:
        known = (*COMMON, *OWN[kind])
        for name, (key, _) in self._node.entries.items():
            if name not in known:
                self._good = False
                suggested = nearest(name, known)
                hint = f": did you mean {suggested[0]}?" if suggested else f" for a parameter of type {kind}"
                self._notes.error(key, self._at, f"there is no key {name[:60]!r}{hint}")

    def _described(self, schema: dict[str, Any]) -> None:
        node = self._node.get("description")
        if node is None:
            return
        if node.kind != "text" or len(node.text) > 1000 or any("\ud800" <= c <= "\udfff" for c in node.text):
            self._error("description", "this has to be a text of at most 1,000 characters")
        elif not node.empty:
            schema["description"] = node.text

    def _flag(self, key: str) -> bool:
        node = self._node.get(key)
        if node is None:
            return False
        value = node.flag()
        if value is None:
            self._error(key, "this has to be true or false")
        return bool(value)

    def _choices(self, schema: dict[str, Any], kind: Kind) -> None:
        node = self._node.get("enum")
        if node is None:
            return
        values = [_value(item, kind) for item in node.items] if node.kind == "list" else []
        if not values or len(values) > MAX_CHOICES:
            self._error("enum", f"this has to be a list of 1 to {MAX_CHOICES} choices")
        elif None in values:
            self._error("enum", f"every choice has to be of type {kind}")
        elif len(set(values)) < len(values):
            self._error("enum", "a choice is there twice")
        elif any(isinstance(v, str) and ("\0" in v or any("\ud800" <= c <= "\udfff" for c in v)) for v in values):
            self._error("enum", "a choice holds a character that no argument can have")
        else:
            schema["enum"] = values

    def _text_rules(self, schema: dict[str, Any]) -> None:
        for key in ("minLength", "maxLength"):
            node = self._node.get(key)
            if node is None:
                continue
            value = node.number()
            if not isinstance(value, int) or not 0 <= value <= 100_000:
                self._error(key, "this has to be a whole number from 0 to 100000")
            else:
                schema[key] = value
        if "enum" not in schema:
            schema.setdefault("maxLength", DEFAULT_MAX_LENGTH)
        if schema.get("minLength", 0) > schema.get("maxLength", DEFAULT_MAX_LENGTH):
            self._error("minLength", "this is more than maxLength")
        self._pattern(schema)

    def _pattern(self, schema: dict[str, Any]) -> None:
        node = self._node.get("pattern")
        if node is None:
            return
        if node.kind != "text" or node.empty or len(node.text) > MAX_PATTERN:
            self._error("pattern", f"this has to be a text of at most {MAX_PATTERN} characters")
        elif wrong := pattern_problem(node.text):
            self._error("pattern", wrong)
        else:
            schema["pattern"] = node.text
            if is_loose(node.text):
                words = "a text fits that only contains this: write ^(?:…)$ to mean all of it"
                self._notes.warn(node, f"{self._at}.pattern", words)

    def _bounds(self, schema: dict[str, Any], kind: Kind) -> None:
        for key in ("minimum", "maximum"):
            node = self._node.get(key)
            if node is None:
                continue
            value = node.number()
            if value is None or (kind == "integer" and not isinstance(value, int)):
                self._error(key, f"this has to be a{'n integer' if kind == 'integer' else ' number'}")
            else:
                schema[key] = value
        if schema.get("minimum", -LARGEST) > schema.get("maximum", LARGEST):
            self._error("minimum", "this is more than maximum")

    def _default(self, schema: dict[str, Any], plain: Parameter) -> None:
        """A default obeys the same rules as a call's value."""
        node = self._node.get("default")
        if node is None:
            return
        value = _value(node, plain.kind)
        if value is None or not compiled(schema).is_valid(value):
            self._error("default", f"this is no value that the parameter allows (type {plain.kind})")
        elif isinstance(value, str) and (wrong := text_problem(plain, value)):
            self._error("default", f"this {wrong}")
        else:
            schema["default"] = value


def _value(node: Node, kind: Kind) -> str | int | float | bool | None:
    """What was written as a value of this type, or None."""
    if node.kind != "text":
        return None
    if kind == "string":
        return None if node.empty else node.text
    if kind == "boolean":
        return node.flag()
    value = node.number()
    return None if kind == "integer" and not isinstance(value, int) else value
