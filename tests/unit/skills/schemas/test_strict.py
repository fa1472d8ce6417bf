"""Which schemas a model can be held to word by word, and in which form."""

from typing import Any

import pytest

from desktop.skills.schemas.strict import MAX_PROPERTIES, strict_form

TEXT = {"type": "string"}


def an(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], **more}


@pytest.mark.spec("R-MOD-8")
def test_a_schema_is_closed_at_every_depth() -> None:
    inner = an({"a": {"enum": ["x", "y"], "type": "string"}})
    whole = an({"rows": {"type": "array", "items": inner}, "or": {"anyOf": [inner, {"type": "null"}]}})
    closed = {**inner, "additionalProperties": False}
    assert strict_form(whole) == {
        **an({"rows": {"type": "array", "items": closed}, "or": {"anyOf": [closed, {"type": "null"}]}}),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "array", "items": TEXT},
        {"type": "object"},
        {"type": "object", "properties": {"a": TEXT}},
        {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a"]},
        an({"a": TEXT}, additionalProperties=True),
        an({"a": TEXT}, additionalProperties=TEXT),
        an({"a": {}}),
        an({"a": {"type": ["string", "null"]}}),
        an({"a": {"type": "array"}}),
        an({"a": {"type": "string", "pattern": "x"}}),
        an({"a": {"$ref": "#"}}),
        an({"a": {"anyOf": []}}),
        an({"a": "string"}),
        an({str(number): TEXT for number in range(MAX_PROPERTIES + 1)}),
        {"type": "object", "properties": [], "required": []},
        {"type": "object", "properties": {"a": TEXT}, "required": "a"},
    ],
)
@pytest.mark.spec("R-MOD-8")
def test_what_has_no_such_form_has_none(schema: dict[str, Any]) -> None:
    assert strict_form(schema) is None


def test_a_schema_without_a_bottom_has_none() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(100):
        deep = an({"a": deep})
    assert strict_form(deep) is None
