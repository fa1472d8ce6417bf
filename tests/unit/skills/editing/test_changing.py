"""Changing one key of a skill's frontmatter: the key is changed, and every other byte is as it was (R-SK-11)."""

import ast
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.editing.code_text import change_literal
from desktop.skills.editing.yaml_text import REMOVE, NotEditable, change_key

HEAD = """\
# what it is
name: greet
description: "Says hello"   # one line

allowed-tools: read-file  bash
license:   MIT
metadata:
  # for finding it
  tags: [chat, 'small talk']
  params:
    type: object
    properties:
      who: {type: string}
  x-own:
      - odd indent
      - kept
other: [1,2,   3]
"""


WHO = "      who: {type: string}\n"
ONE_LINE = 'description: "Says hello"   # one line\n'


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (["name"], "hello", "name: greet\n", "name: hello\n"),
        (["description"], "Says: hello", ONE_LINE, ONE_LINE.replace("Says", "Says:")),
        (["allowed-tools"], REMOVE, "allowed-tools: read-file  bash\n", ""),
        (["metadata", "tags"], ["a", "b c"], "  tags: [chat, 'small talk']\n", "  tags: [a, b c]\n"),
        (["metadata", "visibility"], "hidden", "      - kept\n", "      - kept\n  visibility: hidden\n"),
        (["metadata", "params", "type"], "array", "    type: object\n", "    type: array\n"),
        (["metadata", "params", "properties", "who"], {"type": "number"}, WHO, "      who:\n        type: number\n"),
        (["metadata", "params", "properties", "no"], {"a": 1}, WHO, WHO + '      "no":\n        a: 1\n'),
        (["other"], REMOVE, "other: [1,2,   3]\n", ""),
        (["new"], True, "other: [1,2,   3]\n", "other: [1,2,   3]\nnew: true\n"),
        (["deep", "er"], 1, "other: [1,2,   3]\n", "other: [1,2,   3]\ndeep:\n  er: 1\n"),
        (["gone"], REMOVE, "", ""),
        (["metadata", "gone"], REMOVE, "", ""),
    ],
)
def test_only_the_lines_of_the_changed_key_change(path: list[str], value: Any, old: str, new: str) -> None:
    assert change_key(HEAD, path, value) == HEAD.replace(old, new, 1)


@pytest.mark.spec("R-SK-11")
def test_the_last_key_of_a_mapping_takes_the_mapping_with_it() -> None:
    assert change_key("name: a\nmetadata:\n  role: main\n", ["metadata", "role"], REMOVE) == "name: a\n"


@pytest.mark.spec("R-SK-11")
def test_an_empty_or_flow_value_on_the_way_is_written_anew_and_nothing_else() -> None:
    assert change_key("name: a\nmetadata: {tags: [x]}\n", ["metadata", "role"], "main") == (
        "name: a\nmetadata:\n  tags: [x]\n  role: main\n"
    )
    assert change_key("name: a\nmetadata:\nlast: 1\n", ["metadata", "role"], "main") == (
        "name: a\nmetadata:\n  role: main\nlast: 1\n"
    )


@pytest.mark.spec("R-SK-11")
def test_line_ends_and_a_missing_last_one_are_kept() -> None:
    assert change_key("name: a\r\nx: 1\r\n", ["name"], "b") == "name: b\r\nx: 1\r\n"
    assert change_key("name: a", ["x"], 1) == "name: a\nx: 1\n"
    assert change_key("", ["name"], "a") == "name: a\n"


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize("text", ["{name: a}", "- a\n", "a: [\n", "? {x: 1}\n: 2\n", "name: a\n---\nname: b\n"])
def test_what_is_no_plain_list_of_keys_is_left_to_text(text: str) -> None:
    with pytest.raises(NotEditable):
        change_key(text, ["name"], "b")


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)
KEYS = st.text("abc-: #'\"yn", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.spec("R-SK-11")
@given(
    st.sampled_from([["name"], ["metadata", "tags"], ["metadata", "params", "properties", "who"], ["fresh"]]), VALUES
)
def test_any_value_is_read_back_as_it_was_written(path: list[str], value: Any) -> None:
    text = change_key(HEAD, path, value)
    data, before = yaml.safe_load(text), yaml.safe_load(HEAD)
    at, rest = data, before
    for name in path[:-1]:
        at, rest = at[name], rest[name]
    assert at[path[-1]] == value
    rest[path[-1]] = value
    assert data == before


SOURCE = '''"""A skill."""
frontmatter = {
    "name": "greet",  # its name
    "description": 'says "hello"',
    "metadata": {"tags": ["a"], "params": {"type": "object"}},
}


async def run(ctx, args):
    return "ä"
'''


@pytest.mark.spec("R-SK-6", "R-SK-11")
@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (["name"], "hello", '"greet"', "'hello'"),
        (["metadata", "tags"], ["b"], '["a"]', "['b']"),
        (["metadata", "role"], "main", '{"type": "object"}}', "{\"type\": \"object\"}, 'role': 'main'}"),
        (["extra"], 1, '{"type": "object"}},\n', '{"type": "object"}},\n    \'extra\': 1,\n'),
        (["description"], REMOVE, '    "description": \'says "hello"\',\n', ""),
        (["metadata", "tags"], REMOVE, '"tags": ["a"], ', ""),
        (["gone"], REMOVE, "", ""),
    ],
)
def test_a_python_literal_is_changed_in_place(path: list[str], value: Any, old: str, new: str) -> None:
    assert change_literal(SOURCE, path, value) == SOURCE.replace(old, new, 1)


@pytest.mark.spec("R-SK-6")
@pytest.mark.parametrize(
    "source", ["x = 1\n", "frontmatter = make()\n", "def run(:\n", "frontmatter = {'metadata': make()}\n"]
)
def test_a_file_without_a_literal_is_left_to_text(source: str) -> None:
    with pytest.raises(NotEditable):
        change_literal(source, ["metadata", "tags"], ["x"])


@pytest.mark.spec("R-SK-11")
@given(st.sampled_from([["name"], ["metadata", "tags"], ["fresh"], ["metadata", "fresh"]]), VALUES)
def test_any_value_in_a_python_literal_is_read_back(path: list[str], value: Any) -> None:
    text = change_literal(SOURCE, path, value)
    literal = ast.literal_eval(ast.parse(text).body[1].value)  # type: ignore[attr-defined]
    at = literal
    for name in path:
        at = at[name]
    assert json.dumps(at) == json.dumps(value)
    assert text.endswith(SOURCE[SOURCE.index("async def") :])
