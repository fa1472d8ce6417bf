"""A form from a JSON Schema, and arguments from what was filled in. No Qt.

What a form cannot show (alternatives, references, nested lists) is one field of JSON. The form checks what a person
can mistype; whether the arguments fit the schema is decided by the pipeline alone, as for every call.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.presenter.skills.words import type_words

FieldKind = Literal["text", "integer", "number", "boolean", "choice", "list", "group", "json"]
DEEPEST = 2
"""Objects inside objects that are shown as fields; deeper ones are JSON."""
MAX_FIELDS = 60
_SIMPLE = frozenset({"string", "integer", "number", "boolean"})
_UNSHOWN = frozenset({"$ref", "anyOf", "oneOf", "allOf", "not", "if", "const", "$dynamicRef"})


@dataclass(frozen=True, slots=True)
class FormField:
    """One entry of a form made from a schema."""

    name: str
    """Name of the argument."""
    kind: FieldKind
    """Which control it gets."""
    required: bool
    """Whether a value must be given."""
    words: str
    """Its kind in words."""
    description: str = ""
    """The schema's own words about it."""
    default: Any = None
    """As text for the control."""
    has_default: bool = False
    """Whether the schema gives a default."""
    choices: tuple[Any, ...] = ()
    """Values of a choice."""
    fields: tuple[FormField, ...] = ()
    """Entries of a group."""
    item: str = "string"
    """The simple type of a list's lines."""
    low: float | None = None
    """The least number, inclusive."""
    high: float | None = None
    """The greatest number, inclusive."""


def fields_of(schema: Mapping[str, Any] | None) -> tuple[FormField, ...] | None:
    """The entries for a schema of arguments; () for one that takes none, None where only JSON can say them."""
    if schema is None:
        return ()
    if _UNSHOWN & schema.keys() or schema.get("type", "object") != "object":
        return None
    return _fields(schema, 0)


def _fields(schema: Mapping[str, Any], depth: int) -> tuple[FormField, ...] | None:
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping) or len(properties) > MAX_FIELDS:
        return None
    if not properties and schema.get("additionalProperties") not in (None, False):
        return None
    listed = schema.get("required")
    required = set(map(str, listed)) if isinstance(listed, list) else set()
    return tuple(_field(str(name), part, str(name) in required, depth) for name, part in properties.items())


def _field(name: str, part: Any, required: bool, depth: int) -> FormField:
    schema: Mapping[str, Any] = part if isinstance(part, Mapping) else {}
    kind, choices, fields, item = _kind(schema, depth)
    low, high = (_bound(schema.get(word)) for word in ("minimum", "maximum"))
    return FormField(
        name,
        kind,
        required,
        type_words(schema),
        str(schema.get("description", ""))[:600],
        schema.get("default"),
        "default" in schema,
        choices,
        fields,
        item,
        low,
        high,
    )


def _kind(schema: Mapping[str, Any], depth: int) -> tuple[FieldKind, tuple[Any, ...], tuple[FormField, ...], str]:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and all(isinstance(c, (str, int, float, bool)) for c in choices):
        return "choice", tuple(choices), (), ""
    kind = schema.get("type")
    if _UNSHOWN & schema.keys() or not isinstance(kind, str):
        return "json", (), (), ""
    if kind in ("integer", "number", "boolean"):
        return kind, (), (), ""  # type: ignore[return-value]  # just checked
    if kind == "string":
        return "text", (), (), ""
    if kind == "array":
        return _list_kind(schema.get("items"))
    fields = _fields(schema, depth + 1) if kind == "object" and depth < DEEPEST else None
    return ("group", (), fields, "") if fields else ("json", (), (), "")


def _list_kind(items: Any) -> tuple[FieldKind, tuple[Any, ...], tuple[FormField, ...], str]:
    item = items.get("type") if isinstance(items, Mapping) else None
    if item in _SIMPLE and not _UNSHOWN & items.keys() and "enum" not in items:
        return "list", (), (), str(item)
    return "json", (), (), ""


def _bound(value: Any) -> float | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else None


# -- what was filled in -----------------------------------------------------------------------------------------------

Raw = str | int | bool | None | Mapping[str, Any]
"""A control's content: text, the place of a choice (-1: none), ticked, or the contents of a group."""


def read(fields: Sequence[FormField], raw: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(arguments, what is wrong by field). Fields of groups are named ``group.field``; empty optional ones are out."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in fields:
        try:
            given, value = _value(field, raw.get(field.name))
        except _GroupWrongError as wrong:
            errors.update({f"{field.name}.{name}": sentence for name, sentence in wrong.errors.items()})
            continue
        except ValueError as error:
            errors[field.name] = str(error)
            continue
        if given:
            values[field.name] = value
        elif field.required:
            errors[field.name] = "This is required."
    return values, errors


class _GroupWrongError(ValueError):
    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__()
        self.errors = errors


def _value(field: FormField, raw: Any) -> tuple[bool, Any]:
    """(whether anything was given, the value). Raises ValueError with a sentence."""
    match field.kind:
        case "boolean":
            return raw is not None, bool(raw)
        case "choice":
            return (True, field.choices[raw]) if isinstance(raw, int) and raw >= 0 else (False, None)
        case "group":
            values, errors = read(field.fields, raw if isinstance(raw, Mapping) else {})
            if errors and (values or field.required):
                raise _GroupWrongError(errors)
            return bool(values) or field.required, values
    text = str(raw or "")
    if not text.strip():
        # An empty text is a text where one is required; anything else that is empty was not given.
        return field.kind == "text" and bool(text), text
    if field.kind == "list":
        return True, [_simple(field.item, line, field) for line in text.split("\n") if line.strip()]
    if field.kind == "json":
        return True, parse_json(text)
    return True, _simple("string" if field.kind == "text" else field.kind, text, field)


def _simple(kind: str, text: str, field: FormField) -> Any:
    if kind == "string":
        return text
    if kind == "boolean":
        if text.strip().lower() in ("true", "yes", "false", "no"):
            return text.strip().lower() in ("true", "yes")
        raise ValueError(f"“{text.strip()[:40]}” is neither true nor false.")
    return _number(kind, text.strip(), field)


def _number(kind: str, text: str, field: FormField) -> int | float:
    try:
        value = int(text) if kind == "integer" else float(text)
    except ValueError:
        words = "whole number" if kind == "integer" else "number"
        raise ValueError(f"“{text[:40]}” is no {words}.") from None
    if not math.isfinite(value):
        raise ValueError("This has to be a number that is not infinite.")
    if field.low is not None and value < field.low:
        raise ValueError(f"This must be at least {field.low:g}.")
    if field.high is not None and value > field.high:
        raise ValueError(f"This must be at most {field.high:g}.")
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def parse_json(text: str) -> Any:
    """Parse a JSON value. Raises ValueError with a sentence that names the place."""
    try:
        return read_json(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise ValueError("This is nested too deeply.") from None


def parse_object(text: str) -> dict[str, Any]:
    """All arguments as one JSON object; empty text means none. Raises ValueError with a sentence."""
    value = parse_json(text) if text.strip() else {}
    if not isinstance(value, dict):
        raise ValueError("Arguments are an object: names and values between { and }.")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number.")


def default_text(field: FormField) -> str:
    """A default as its control's text."""
    value = field.default
    if not field.has_default or value is None:
        return ""
    if field.kind == "list" and isinstance(value, list):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) and field.kind != "json" else json.dumps(value, ensure_ascii=False)
