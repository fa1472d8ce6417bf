"""Changing one key of YAML: the key is changed, and every other byte is as it was (R-SK-11)."""

import subprocess
import sys
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from desktop.yaml_text.change import (
    REMOVE,
    NotEditable,
    change_item,
    change_key,
    in_lines,
    with_block,
    with_item,
    without_item,
)

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
@pytest.mark.parametrize(
    "text", ["{name: a}", "- a\n", "a: [\n", "? {x: 1}\n: 2\n", "? a\n: 2\n", "name: a\n---\nname: b\n"]
)
def test_what_is_no_plain_list_of_keys_is_left_to_text(text: str) -> None:
    with pytest.raises(NotEditable):
        change_key(text, ["name"], "b")


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize(
    ("text", "path", "value", "new"),
    [
        ("a: {b: 1}  # why\nc: 2\n", ["a", "d"], 3, "a:  # why\n  b: 1\n  d: 3\nc: 2\n"),
        ("a:  # why\n  - x\n  - y\nc: 2\n", ["a"], ["z"], "a: [z]  # why\nc: 2\n"),
        ("a: {b: 1, c: 2}\n", ["a", "b"], REMOVE, "a:\n  c: 2\n"),
        ("a: {b: 1}\nc: 2\n", ["a", "b"], REMOVE, "c: 2\n"),
        ("a: {b: 1}\nc: 2\n", ["a", "d"], REMOVE, "a: {b: 1}\nc: 2\n"),
        ("a:\n  b: 1\nc: 2\n", ["a", "d"], REMOVE, "a:\n  b: 1\nc: 2\n"),
        ("a:\n  b:\n    c: 1\nd: 2\n", ["a", "b", "c"], REMOVE, "d: 2\n"),
        ("--- # head\na: 1\n...\n", ["b"], 2, "--- # head\na: 1\nb: 2\n...\n"),
        ("a: 1\n...\n", ["a"], REMOVE, ""),
        ("a: 1\n", ["a"], 1e16, "a: 1.0e+16\n"),
        ("a: 1\n", ["a"], "~/notes", "a: ~/notes\n"),
        ("a: 1\n", ["a"], r"^\d+$", "a: '^\\d+$'\n"),
    ],
)
def test_what_stands_around_a_change_is_kept(text: str, path: list[str], value: Any, new: str) -> None:
    assert change_key(text, path, value) == new
    yaml.safe_load(new)


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize(
    ("text", "path", "value", "new"),
    [
        ("a: |\n  x\n  # head\n", ["b"], 2, "a: |\n  x\n  # head\nb: 2\n"),
        ("a: |\n  x\n\n  # head\n\n", ["b"], 2, "a: |\n  x\n\n  # head\nb: 2\n\n"),
        ("a: |+\n  x\n\n\n", ["b"], 2, "a: |+\n  x\n\n\nb: 2\n"),
        ("a: |+\n\n\n", ["b"], 2, "a: |+\n\n\nb: 2\n"),
        ("a: |\n  x\n     \n# of b\nb: 1\n", ["a"], 2, "a: 2\n# of b\nb: 1\n"),
        ("a: |\n  x\nb: |\n  y\n  # head\n", ["b"], REMOVE, "a: |\n  x\n"),
        ("a: >-\n  x\n  #tag\n# of b\nb: 1\n", ["a"], "y\nz", "a: |-\n  y\n  z\n# of b\nb: 1\n"),
        ("a:\n  b: |\n    x\n    # head\n", ["a", "c"], 2, "a:\n  b: |\n    x\n    # head\n  c: 2\n"),
        ("a: 'x\n  # no comment'\n", ["b"], 2, "a: 'x\n  # no comment'\nb: 2\n"),
        ("a:\n  - |\n    # head\n", ["b"], 2, "a:\n  - |\n    # head\nb: 2\n"),
    ],
)
def test_a_line_of_a_text_that_looks_like_a_comment_stays_in_its_text(
    text: str, path: list[str], value: Any, new: str
) -> None:
    assert change_key(text, path, value) == new


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("a: &x 1\nb: *x\n", ["a"], 2),  # b would mean nothing
        ("x: &x\n  k: 1\na: *x\n", ["a", "k"], 2),  # x would change too
        ("a: x\n  # why\nb: 1\n", ["a"], "y\nz"),  # the comment would be part of the text
        ("a: |\n  x\nb: 1\n  # why\n", ["b"], REMOVE),  # here, too
        ("a: 1\na: 2\n", ["a"], 3),
        ("m: {when: 2020-01-01}\n", ["m", "new"], 1),  # what stands in the same braces is written anew
        ("m: {own: !tag x}\n", ["m", "new"], 1),
        ("m: {much: .inf}\n", ["m", "new"], 1),
    ],
)
def test_a_change_that_would_change_more_is_left_to_text(text: str, path: list[str], value: Any) -> None:
    with pytest.raises(NotEditable, match="without changing more"):
        change_key(text, path, value)


DEEP = """
import sys
from desktop.domain.errors import KnownError
from desktop.domain.text.places import FormatError
from desktop.yaml_text import document
from desktop.yaml_text.change import change_key, in_lines
text = sys.argv[1] * int(sys.argv[2])
for read in (document.read, in_lines, lambda text: change_key(text, ["new"], 1)):
    try:
        read(text)
    except (FormatError, KnownError) as error:
        print(type(error).__name__)
"""


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize("piece", ["[", "a: {b: [", "- ", "? ", "? - "])
@pytest.mark.parametrize("times", [300, 30_000])
def test_a_text_that_is_nested_too_deeply_is_refused_and_ends_nothing(piece: str, times: int) -> None:
    """In a process of its own: the library would end it without a word."""
    read = subprocess.run([sys.executable, "-c", DEEP, piece, str(times)], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stdout.split()) == (0, ["FormatError", "FormatError", "NotEditable"]), read.stderr


LINES = st.sampled_from(["a: 1", "b: |", "c: >+", "d:", "e: 'x", "f: &x y", "g: *x", "h: {i: 1}", "  j: 2", "  k: |-"])
PARTS = st.sampled_from(["  # text", "    # deeper", "# note", "", "  word", "    word'", "  - x", "      ", "..."])


@pytest.mark.spec("R-SK-11")
@given(
    st.lists(LINES | PARTS, max_size=12).map("\n".join),
    st.sampled_from([["a"], ["d", "j"], ["d", "new"], ["b"], ["new"], ["h", "i"]]),
    st.sampled_from([REMOVE, 7, "one\ntwo\n", ["x"]]),
)
def test_whatever_is_changed_all_else_means_what_it_meant(text: str, path: list[str], value: Any) -> None:
    try:
        changed = change_key(text, path, value)
    except NotEditable:
        return
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed) or {}
    assert {key: before[key] for key in before if key != path[0]} == {
        key: after[key] for key in after if key != path[0]
    }
    if len(path) == 1:
        assert after.get(path[0]) == (None if value is REMOVE else value)


def test_where_lists_have_a_line_for_each_item_a_short_one_has_it_too() -> None:
    assert change_key("a: 1\n", ["a"], ["x", {"b": ["z"]}], block_lists=True) == ("a:\n  - x\n  - b:\n      - z\n")


def test_a_mapping_in_braces_becomes_lines_that_can_be_changed() -> None:
    assert in_lines('{\n "a": {"b": ["c"]},\n "d": 1\n}\n') == "a:\n  b:\n    - c\nd: 1\n"
    assert (in_lines("~\n"), in_lines("a: {b: 1}\n")) == ("", "a: {b: 1}\n")


LISTED = """\
# mine
servers:
# the first
- name: a_b   # kept
  command: x

# the second
-   command: y
    name: c
    tools:
      one: read  # why
# end
other: 1
"""


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize(
    ("name", "after", "added"),
    [("a-b", "  command: x\n", "  tools:\n    two: write\n"), ("c", "      one: read  # why\n", "      two: write\n")],
)
def test_a_key_of_one_entry_of_a_list_changes_and_nothing_else(name: str, after: str, added: str) -> None:
    made = change_item(LISTED, "servers", name, ["tools", "two"], "write", what="it")
    assert made == LISTED.replace(after, after + added)


@pytest.mark.parametrize("text", ["", "servers: []\n", "servers: [{name: c}]\n", "servers:\n- {name: c}\n", "a: {\n"])
def test_an_entry_that_has_no_lines_of_its_own_is_left_to_the_editor(text: str) -> None:
    with pytest.raises(NotEditable):
        change_item(text, "servers", "c", ["tools", "two"], "write", what="it")


SERVERS = """# my servers
servers:
  # the first
  - name: git_hub
    command: npx   # fast
    args: [a, b]

  # second
  - name: two
    text: |
      a

      b

other: 1
"""


def test_an_entry_goes_with_its_lines_alone_and_comes_back_with_them() -> None:
    made, block = without_item(SERVERS, "servers", "git-hub", what="it")
    assert block == "  - name: git_hub\n    command: npx   # fast\n    args: [a, b]\n"
    assert made == SERVERS.replace(block, "")
    back = yaml.safe_load(with_block(made, "servers", block))
    assert back["servers"] == yaml.safe_load(SERVERS)["servers"][::-1]
    none, last = without_item(made, "servers", "two", what="it")
    assert yaml.safe_load(none) == {"servers": None, "other": 1}
    assert yaml.safe_load(with_block(none, "servers", last))["servers"] == yaml.safe_load(made)["servers"]
    bare, lines = without_item("servers:\n- name: a\n  x: 1\n- name: b\n", "servers", "a", what="it")
    assert yaml.safe_load(with_block(bare, "servers", lines)) == {"servers": [{"name": "b"}, {"name": "a", "x": 1}]}


@pytest.mark.parametrize(
    "text",
    [
        "servers: [{name: a}]\n",
        "servers:\n  - {name: a, command: x}\n",
        "servers:\n  -\n    name: a\n  - name: b\n",
        "servers:\n  - name: a\n    x: &q 1\n  - name: b\n    y: *q\n",
        "servers:\n  - name: c\n    x: &q 1\n  - name: a\n    x: &q 2\n  - name: b\n    y: *q\n",
        "servers:\n  - name: a\n  - name: a\n",
        "servers:\n  - name: b\n",
    ],
)
def test_an_entry_without_which_something_else_would_differ_is_left_to_the_editor(text: str) -> None:
    with pytest.raises(NotEditable):
        without_item(text, "servers", "a", what="it")


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)
KEYS = st.text("abc-: #'\"yn", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize("value", [1e-05, [1e-05], [[1e16]], [[[1e-05]]], [{"a": [[1e-05]], "b": {"c": 1e22}}]])
def test_a_number_with_an_exponent_stays_a_number_at_any_depth(value: Any) -> None:
    assert yaml.safe_load(change_key(HEAD, ["name"], value))["name"] == value
    assert (
        yaml.safe_load(with_item("tools: []\n", "tools", {"name": "x", "value": value}))["tools"][0]["value"] == value
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
