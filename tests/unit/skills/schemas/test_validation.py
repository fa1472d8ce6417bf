"""``params`` and ``returns``: valid JSON Schema or a problem with its pointer and place (R-SK-4)."""

import json

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.schemas import validation as schemas
from tests.unit.skills.formats.kit import load, place

GOOD = [
    {},
    {"type": "object"},
    {"type": ["object", "null"]},
    {"properties": {"a": True, "b": {"type": "string"}}},
    {"type": "object", "properties": {"next": {"$ref": "#"}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
    {
        "$defs": {
            "tree": {"type": "object", "properties": {"l": {"$ref": "#/$defs/tree"}, "r": {"$ref": "#/$defs/tree"}}}
        },
        "$ref": "#/$defs/tree",
    },
    {"allOf": [{"required": ["a"]}], "patternProperties": {"^x-": {}}, "dependentSchemas": {"a": {"minProperties": 2}}},
    {"properties": {"a": {"pattern": "^[a-z]{1,64}$"}, "b": {"const": {"$ref": "http://x"}}}},
    {"$resolve": "args.schema"},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "prefixItems": [{}], "x-ours": 1},
    {"$defs": {"a/b~c": {}}, "properties": {"x": {"$ref": "#/$defs/a~1b~0c"}}},
    {"$anchor": "top", "items": {"$ref": "#top"}},
    {"$id": "https://x.org/a", "properties": {"a": {"$ref": "https://x.org/a"}}},
]

BAD = {
    "a type that is none": ({"type": "objekt"}, "/type"),
    "one of many types": ({"properties": {"a/b": {"type": ["string", "x"]}}}, "/properties/a~1b/type"),
    "required as text": ({"type": "object", "required": "a"}, "/required"),
    "a number as text": ({"properties": {"a": {"minimum": "3"}}}, "/properties/a/minimum"),
    "a negative length": ({"properties": {"a": {"maxLength": -1}}}, "/properties/a/maxLength"),
    "properties as a list": ({"properties": ["a"]}, "/properties"),
    "an enum that is text": ({"properties": {"a": {"enum": "x"}}}, "/properties/a/enum"),
    "a broken expression": ({"properties": {"a": {"pattern": "("}}}, "/properties/a/pattern"),
    "a broken expression as a key": ({"patternProperties": {"(": {}}}, "/patternProperties/("),
    "an expression too large": ({"pattern": "((a{1,100}){1,100}){1,100}"}, "/pattern"),
    "too many expressions": (
        {"properties": {f"p{n}": {"pattern": f"^a{n}$"} for n in range(30)}},
        "/properties/p9/pattern",
    ),
    "a reference into the web": ({"$ref": "https://example.org/schema.json"}, "/$ref"),
    "a reference to a file": ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "/properties/a/$ref"),
    "a reference to nothing": ({"items": {"$ref": "#/$defs/none"}}, "/items/$ref"),
    "a reference that is a number": ({"$ref": 5}, "/$ref"),
    "an anchor that is not there": ({"$ref": "#none"}, ""),
    "a reference beside an id": ({"$id": "https://x.org/a", "$ref": "b"}, "/$ref"),
    "itself": ({"$ref": "#"}, "/$ref"),
    "itself by a detour": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        "/$ref",
    ),
    "text for arguments": ({"type": "string"}, "/type"),
    "a list for arguments": ({"type": ["array", "null"]}, "/type"),
}


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize("schema", GOOD, ids=json.dumps)
def test_a_valid_schema_is_no_problem(schema: dict[str, object]) -> None:
    assert schemas.check(schema, arguments=True) == ()


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize("name", BAD)
def test_an_invalid_schema_is_named_by_its_json_pointer(name: str) -> None:
    schema, pointer = BAD[name]
    assert schemas.check(schema, arguments=True)[0].pointer == pointer


@pytest.mark.spec("R-SK-4")
def test_a_schema_problem_stands_where_the_file_has_it() -> None:
    head = (
        "params:\n    type: object\n    properties:\n      a:\n        type: strin\n  returns:\n    $ref: http://x/y\n"
    )
    loaded = load(f"---\nname: a\ndescription: d\nmetadata:\n  {head}---\n")
    assert [(p.code, p.line, p.column, p.severity) for p in loaded.problems] == [
        ("schema.invalid", 9, 15, "error"),
        ("schema.invalid", 11, 11, "error"),
    ]
    assert "params is no valid JSON Schema at /properties/a/type: type must be one of" in loaded.problems[0].message
    assert loaded.definitions[0].state == "broken"


@pytest.mark.spec("R-SK-4")
@pytest.mark.parametrize("value", ["7", "text", "[a]", "true"])
def test_a_schema_has_to_be_a_mapping(value: str) -> None:
    loaded = load(f"---\nname: a\ndescription: d\nmetadata:\n  params: {value}\n---\n")
    assert place(loaded) == ("schema.invalid", 5, 11, "error")


@pytest.mark.spec("R-SK-4")
def test_flat_params_and_those_of_code_have_their_places_too() -> None:
    assert place(load("---\nname: a\ndescription: d\nmetadata:\n  params: {type: x}\n---\n")) == (
        "schema.invalid",
        5,
        18,
        "error",
    )
    flat = load("---\nname: a\ndescription: d\nparams:\n  type: x\n---\n")
    assert [(p.code, p.line, p.column) for p in flat.problems] == [("key.flat", 4, 1), ("schema.invalid", 5, 9)]
    code = "frontmatter = {'name': 'a', 'description': 'd',\n 'params': {'type': 'x'}}\ndef run(ctx, args): ..."
    python = load(code, "a.skill.py")
    assert [(p.code, p.line, p.column) for p in python.problems] == [("key.flat", 2, 12), ("schema.invalid", 2, 22)]


KEYWORDS = st.sampled_from(
    sorted(
        {
            "type",
            "properties",
            "items",
            "required",
            "enum",
            "description",
            "minimum",
            "maxLength",
            "additionalProperties",
            "anyOf",
            "not",
            "pattern",
            "format",
            "minItems",
            "title",
            "default",
            "const",
            "uniqueItems",
            "examples",
            "$comment",
        }
    )
)
VALUES = st.one_of(
    st.sampled_from(
        ["object", "string", "x", "^a$", "(", ["string", "null"], ["string", "string"], [], [1], {}, True, None]
    ),
    st.integers(-2, 5),
    st.floats(0, 3),
)
SCHEMAS = st.recursive(
    st.dictionaries(KEYWORDS, VALUES, max_size=4),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "items": inner,
            "additionalProperties": inner,
            "anyOf": st.lists(inner, max_size=2),
            "type": st.sampled_from(["object", "y"]),
        },
    ),
    max_leaves=6,
)


@pytest.mark.spec("R-SK-4")
@given(SCHEMAS)
def test_what_counts_as_valid_compiles_and_the_rest_does_not(schema: dict[str, object]) -> None:
    try:
        jsonschema_rs.Draft202012Validator(schema, offline=True)
        valid = True
    except (ValueError, jsonschema_rs.ReferencingError):
        valid = False
    assert (schemas.check(schema, arguments=False) == ()) == valid
