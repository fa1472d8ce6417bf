"""Changing one key of a skill's frontmatter: the key is changed, and every other byte is as it was (R-SK-11)."""

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.editing.code_text import change_literal
from desktop.yaml_text.change import REMOVE, NotEditable

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)
KEYS = st.text("abc-: #'\"yn", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


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
