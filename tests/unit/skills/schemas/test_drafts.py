"""Schemas of every draft, with names that look like keywords: read as they are meant, and never an exception."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError, ValidationFailure
from desktop.domain.tools import ToolSpec
from desktop.pipeline.validation import Validator
from desktop.skills.schemas import validation as schemas
from tests.unit.skills.formats.kit import load

SEVENTH = "http://json-schema.org/draft-07/schema#"
URIS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": SEVENTH,
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
TUPLE = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}


def spec(params: dict[str, Any], *, returns: Any = None, source: str = "mine") -> ToolSpec:
    return ToolSpec("t", "", params, Category.READ, returns=returns, source=source)


async def fits(schema: dict[str, Any], value: Any) -> bool:
    try:
        await Validator().check_result(spec({}, returns=schema), value)
    except ValidationFailure:
        return False
    return True


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize("uri", URIS.values())
@pytest.mark.parametrize(
    "name",
    [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "$id",
        "id",
        "$anchor",
        "$schema",
        "pattern",
        "patternProperties",
        "items",
        "default",
        "const",
        "enum",
        "type",
        "properties",
        "allOf",
    ],
)
def test_a_property_may_have_the_name_of_a_keyword(uri: str, name: str) -> None:
    schema = {"$schema": uri, "type": "object", "properties": {name: {"type": "string", "pattern": "^a"}}}
    assert schemas.check(schema, arguments=True) == ()


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize("name", ["default", "const", "enum", "examples"])
def test_a_property_called_like_data_is_looked_into(name: str) -> None:
    found = schemas.check({"properties": {name: {"$ref": "https://example.org/x"}}}, arguments=True)
    assert found[0].pointer == f"/properties/{name}/$ref"


@pytest.mark.spec("R-SK-4")
def test_a_reference_into_a_part_that_no_keyword_holds_is_followed() -> None:
    schema = {"x-parts": {"a": {"pattern": "("}}, "properties": {"p": {"$ref": "#/x-parts/a"}}}
    assert schemas.check(schema, arguments=True)[0].pointer == "/x-parts/a/pattern"


@pytest.mark.spec("R-SK-4")
def test_a_draft_from_before_the_fourth_is_a_problem_that_says_what_to_write() -> None:
    (found,) = schemas.check({"$schema": "http://json-schema.org/draft-03/schema#", "type": "object"}, arguments=True)
    assert found.pointer == "/$schema"
    assert "2020-12" in found.message


@pytest.mark.spec("R-TOOL-2")
async def test_the_draft_that_a_schema_names_is_the_one_that_validates() -> None:
    for uri in (SEVENTH, URIS["draft2019-09"], URIS["draft6"], URIS["draft4"]):
        schema = {"$schema": uri, **TUPLE}
        assert schemas.check(schema, arguments=False) == ()
        assert await fits(schema, ["a", 1])
        assert not await fits(schema, [1, "a"])
        assert not await fits(schema, ["a", 1, 2])
    assert schemas.check(TUPLE, arguments=False)[0].pointer == "/items"
    old = {"$schema": URIS["draft4"], "maximum": 5, "exclusiveMaximum": True}
    assert not await fits(old, 5)
    assert schemas.check({**old, "$schema": SEVENTH}, arguments=False) != ()


@pytest.mark.spec("R-TOOL-3")
async def test_an_open_object_of_a_server_stays_open_and_one_of_a_skill_is_closed() -> None:
    params = {"type": "object", "properties": {"a": {"type": "string"}}}
    await Validator().check(spec(params, source="mcp"), {"a": "x", "more": 1})
    with pytest.raises(ValidationFailure, match="more"):
        await Validator().check(spec(params), {"a": "x", "more": 1})
    with pytest.raises(ValidationFailure, match="more"):
        await Validator().check(spec({**params, "additionalProperties": False}, source="mcp"), {"more": 1})
    await Validator().check(spec({}, source="mcp"), {"anything": 1})


@pytest.mark.spec("R-TOOL-3")
async def test_combined_arguments_are_closed_in_drafts_that_can_say_so() -> None:
    params = {"allOf": [{"properties": {"a": {"type": "string"}}}]}
    await Validator().check(spec(params), {"a": "x"})
    with pytest.raises(ValidationFailure):
        await Validator().check(spec(params), {"b": 1})
    await Validator().check(spec({"$schema": SEVENTH, **params}), {"a": "x"})


@pytest.mark.spec("R-TOOL-2")
async def test_what_a_tuple_of_an_old_draft_costs_is_counted() -> None:
    part: dict[str, Any] = {"type": "array", "items": [{"$ref": "#/definitions/n"}] * 2}
    schema = {"$schema": SEVENTH, "$ref": "#/definitions/n", "definitions": {"n": {"allOf": [part] * 20}}}
    value: list[Any] = []
    for _ in range(30):
        value = [value]
    with pytest.raises(ValidationFailure, match="too deeply nested"):
        await Validator().check_result(spec({}, returns=schema), value)


WORDS = st.sampled_from(
    [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "$id",
        "id",
        "$schema",
        "$anchor",
        "$defs",
        "definitions",
        "properties",
        "items",
        "prefixItems",
        "additionalItems",
        "patternProperties",
        "dependencies",
        "dependentSchemas",
        "allOf",
        "not",
        "if",
        "type",
        "pattern",
        "enum",
        "const",
        "default",
        "required",
        "$vocabulary",
        "format",
        "minimum",
        "a",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=3),
    st.just("\ud800"),
    st.sampled_from(["#", "#/", "#/$defs/a", "#a", "string", "(", "%", "#/%", "http://x", *URIS.values()]),
)
ANY_JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
)


@pytest.mark.spec("R-SK-2", "R-SK-4")
@given(st.dictionaries(WORDS, ANY_JSON, max_size=5), st.booleans())
def test_no_schema_raises_whatever_it_says(schema: dict[str, Any], arguments: bool) -> None:
    schemas.check(schema, arguments=arguments)


ADDRESS = {
    "type": "object",
    "properties": {"state": {"$ref": "#/definitions/state"}, "next": {"$ref": "/address"}},
    "definitions": {"state": {"enum": ["CA", "NY"]}},
}
TEXT = {"$anchor": "text", "maxLength": 3}
BUNDLE = {
    "$id": "https://example.com/customer",
    "type": "object",
    "properties": {
        "a": {"$ref": "/address"},
        "b": {"$ref": "https://example.com/address#/definitions/state"},
        "c": {"$ref": "names/short#text"},
        "d": {"$ref": "#/$defs/2/properties/state"},
    },
    "$defs": {
        "1": {"$id": "names/", "$defs": {"s": {"$id": "short", "$defs": {"t": TEXT}}}},
        "2": {"$id": "/address", **ADDRESS},
    },
}


@pytest.mark.spec("R-SK-4")
async def test_several_schemas_bundled_in_one_refer_to_each_other_by_their_addresses() -> None:
    assert schemas.check(BUNDLE, arguments=True) == ()
    for value, valid in (
        ({"a": {"state": "CA", "next": {"state": "NY"}}, "b": "NY", "c": "abc"}, True),
        ({"c": "abcd"}, False),
        ({"a": {"next": {"next": {"state": "X"}}}}, False),
        ({"b": "X"}, False),
        ({"d": "X"}, False),
    ):
        assert await fits(BUNDLE, value) is valid


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize("reference", ["/other", "https://example.org/customer", "urn:x", "names/long", "../x#text"])
def test_a_bundle_that_names_what_is_not_in_it_says_so(reference: str) -> None:
    (problem,) = schemas.check({**BUNDLE, "properties": {"a": {"$ref": reference}}}, arguments=True)
    assert (problem.pointer, problem.message) == ("/properties/a/$ref", f"{reference} lies outside; nothing is fetched")


@pytest.mark.spec("R-SK-4", "R-TOOL-2")
def test_schemas_of_a_bundle_that_lead_to_each_other_without_end_are_refused() -> None:
    round_it = {"b": {"$id": "b", "$ref": "c"}, "c": {"$id": "c", "$ref": "a"}}
    circle = {"$id": "https://e.x/a", "$ref": "b", "$defs": round_it}
    wide = {str(n): {"$id": f"n{n}", "allOf": [{"$ref": f"n{n + 1}"}] * 2} for n in range(40)}
    for schema in (circle, {"$id": "https://e.x/", "$ref": "n0", "$defs": {**wide, "40": {"$id": "n40"}}}):
        assert "steps of one value" in schemas.check(schema, arguments=False)[0].message


@pytest.mark.spec("R-SK-2", "R-SK-4")
def test_what_is_no_json_or_nested_without_end_is_a_problem() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"not": deep}
    assert "deep" in schemas.check({"$comment": "", **deep}, arguments=False)[0].message
    assert "JSON" in schemas.check({"$comment": "", "default": {1, 2}}, arguments=False)[0].message


def suite() -> Iterator[tuple[str, bool, Any, Any]]:
    """(draft, whether it is an optional part, schema, tests) of the official JSON Schema test suite."""
    folder = os.environ.get("ASSENT_JSON_SCHEMA_SUITE", "")
    if not folder:
        pytest.skip("ASSENT_JSON_SCHEMA_SUITE names no folder with the official JSON Schema test suite")
    for draft, uri in URIS.items():
        files = sorted(Path(folder, "tests", draft).rglob("*.json"))
        assert files, f"no tests of {draft} in {folder}"
        for path in files:
            for case in json.loads(path.read_text("utf-8")):
                schema = case["schema"]
                if isinstance(schema, dict):
                    schema = {"$schema": uri, **schema}
                yield draft, "optional" in path.parts, schema, case["tests"]


@pytest.mark.soak
@pytest.mark.spec("R-SK-4", "R-TOOL-2")
async def test_the_official_suite_of_json_schema_raises_nothing_and_agrees() -> None:
    """Run with ``-m soak`` and ASSENT_JSON_SCHEMA_SUITE. What is refused is so on purpose: nothing is fetched, whole
    schemas that are true or false are no objects, and endless ones are not followed."""
    counts: Counter[str] = Counter()
    validator = Validator()
    for draft, optional, schema, tests in suite():
        head = json.dumps({"name": "a", "description": "d", "metadata": {"returns": schema}})
        loaded = load(f"---\n{head}\n---\n")
        assert all(problem.code != "file.bug" for problem in loaded.problems), schema
        refused = bool(schemas.check(schema, arguments=False))
        for one in tests:
            kind = f"{draft}{' optional' if optional else ''}"
            if refused:
                counts[f"{kind} refused"] += 1
                continue
            try:
                await validator.check_result(spec({}, returns=schema), one["data"])
                valid = True
            except ValidationFailure:
                valid = False
            except ConfigurationError as error:
                raise AssertionError(f"{schema} passed the check and does not compile") from error
            counts[f"{kind} {'agrees' if valid == one['valid'] else 'differs'}"] += 1
    print(*(f"{name}: {count}" for name, count in sorted(counts.items())), sep="\n")
    for draft in URIS:
        assert counts[f"{draft} differs"] <= 1  # a metaschema of its own, which is not fetched
        assert counts[f"{draft} agrees"] > 9 * counts[f"{draft} refused"]
