"""What validating may cost at worst: short schemas that never end are problems, ordinary ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from desktop.skills.schemas import validation as schemas
from desktop.skills.schemas.cost import ENDLESS, MAX_STEPS, SchemaCost, extent

TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}


def doubling(count: int, word: str = "allOf", inside: str = "") -> dict[str, Any]:
    """A chain of definitions that each name the next one twice, in place or for a member."""
    defs: dict[str, Any] = {f"d{count}": {"type": "object"}}
    for number in range(count):
        step: Any = {"$ref": f"#/$defs/d{number + 1}"}
        step = {"properties": {inside: step}} if inside else step
        defs[f"d{number}"] = {word: [step, dict(step)]}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": defs}


@pytest.mark.spec("R-SK-4", "R-SK-2")
@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("place", [(), ("properties", "a"), ("properties", "a", "items")])
def test_a_schema_that_is_endless_to_follow_is_a_problem(word: str, place: tuple[str, ...]) -> None:
    schema: dict[str, Any] = doubling(40, word)
    defs = schema.pop("$defs")
    for name in reversed(place):
        schema = {name: schema}
    found = schemas.check({**schema, "$defs": defs}, arguments=False)
    assert [problem.message for problem in found] == [
        f"references and alternatives make more than {MAX_STEPS:,} steps of one value"
    ]


@pytest.mark.spec("R-SK-4")
def test_named_references_count_like_pointers() -> None:
    schema = doubling(40)
    for number in range(41):
        schema["$defs"][f"d{number}"]["$anchor"] = f"d{number}"
    for number in range(40):
        schema["$defs"][f"d{number}"]["allOf"] = [{"$ref": f"#d{number + 1}"}, {"$dynamicRef": f"#d{number + 1}"}]
    assert SchemaCost(schema).at(0) > MAX_STEPS


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize(
    "schema",
    [
        TREE,
        doubling(8),
        {"type": "object", "properties": {"kind": {"oneOf": [{"const": number} for number in range(200)]}}},
        {"properties": {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(300)}},
    ],
)
def test_ordinary_combinations_are_none(schema: dict[str, Any]) -> None:
    assert schemas.check(schema, arguments=True) == ()


@pytest.mark.spec("R-TOOL-2")
def test_a_schema_that_comes_back_to_itself_costs_by_the_depth_of_the_value() -> None:
    plain = SchemaCost(TREE)
    assert plain.at(60) < 60 * plain.at(2)
    assert plain.at(65) == ENDLESS
    branch = {"properties": {"next": {"$ref": "#"}}}
    twice = SchemaCost({"allOf": [branch, dict(branch)]})
    assert twice.at(3) < 100
    assert twice.at(40) == ENDLESS
    assert SchemaCost({"type": "object", "additionalProperties": {"type": "string"}}).is_light
    assert SchemaCost({"properties": {"x": {"$ref": "#/properties/x"}}}).widest == ENDLESS
    assert SchemaCost(doubling(40, inside="a")).widest < MAX_STEPS < SchemaCost(doubling(40, inside="a")).at(41)


@pytest.mark.spec("R-TOOL-2")
def test_expressions_that_go_back_cost_more_than_those_that_do_not() -> None:
    assert SchemaCost({"pattern": "^(a|aa)+(?!b)$"}).at(0) > 500 > SchemaCost({"pattern": "^(a|aa)+$"}).at(0)


def test_the_extent_of_a_value_is_counted_up_to_too_much() -> None:
    assert extent(1) == (1, 0)
    assert extent({"a": [1, {"b": 2}]}) == (7, 3)
    endless: list[Any] = []
    endless += [endless]
    assert extent(endless)[1] >= 1_000
