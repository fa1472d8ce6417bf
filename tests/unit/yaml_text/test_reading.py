"""Frontmatter: the quick reader agrees with the thorough one, and that one with YAML but for what is refused."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.text.places import FormatError, Keys
from desktop.yaml_text import lines, values
from desktop.yaml_text.mapping import read_mapping
from desktop.yaml_text.values import MAX_VALUES
from tests.unit.skills.formats.kit import load, place


def thorough(head: str) -> object:
    return values.read(head).data


# -- the quick reader -------------------------------------------------------------------------------------------------

PLAIN = [
    "a: b\n",
    "a: Does this, and that; it's (good).\n",
    "a: 7\nb: -5\nc: 1.5\nd: 1.0.0\ne: 0\n",
    "a: true\nb: false\nc: null\n",
    "a:\nb: x\n",
    "a: [x, y]\nb: []\nc: {}\nd: {x: 1, y: z}\ne: ['q', \"r\"]\n",
    "a:\n  - x\n  - 7\nb: c\n",
    "a:\n- x\n- y\nb: c\n",
    "a:\n  b:\n    c: d\n    e:\n      - f\n  g: h\ni: j\n",
    "a: 'x: y # z'\nb: \"it's\"\n",
    "a: >-\n  one\n  two\nb: c\n",
    "a: |\n  one: two\n  # three\nb: c\n",
    "# top\na: b\n\n   \n  # in\nb: c\n",
    "a:\r\n  b: c\r\n  d: |-\r\n    e\r\n    f\r\n",
    "$inherit: x\n",
    "a: http://x/y\n",
    "a: path/to-file.txt\n",
    "ключ: значение é 😀\n",
    "a.b: c\n",
    "a: x   \n",
    "a: y\nb: n\n",
]
BEYOND = [
    "a: yes\n",
    "a: 'it''s'\n",
    'a: "q\\n"\n',
    "a: |\n  x\n\n  y\n",
    "a: >\n  x\n    y\n",
    "a: [1, {b: c}]\n",
    "a: &x 1\nb: *x\n",
    "a: x # c\n",
    "a: 2020-01-01\n",
    "a: ~\n",
    "a: 0123\n",
    "a: x\n  y\n",
    "a:\n  - b: c\n",
    "a: 1e3\n",
    "a: x\na: y\n",
    "\ta: b\n",
    "a: x: y\n",
    "a: !!str x\n",
    "- a\n",
    "a\n",
    "  a: b\n",
    "a:\n   b: c\n  d: e\n",
    "a: [x,\n  y]\n",
    "? a\n: b\n",
    "a: b\x85c: d\n",
    "a: |2\n   x\n",
    "a: >+\n  x\n",
    "a: |\nb: c\n",
    "a: '\n",
    "a: x:\n",
    "a: .5\n",
    "a: 0x1F\n",
    "<<: {a: b}\n",
    "a: [x, ]\n",
    "a: {x: 1, x: 2}\n",
    "a: {x}\n",
    "'a': b\n",
    "a: \x07\n",
    "a:\n- x\n  b: c\n",
    "a:\n  - x\n - y\n",
    "a: -\n",
    "a: - b\n",
    "a: @x\n",
]


@pytest.mark.spec("R-SK-1")
@pytest.mark.parametrize("head", PLAIN)
def test_common_frontmatter_is_read_the_quick_way_and_means_the_same(head: str) -> None:
    quick = lines.read(head)
    assert quick is not None
    assert quick == thorough(head) == yaml.load(head, Loader=yaml.CSafeLoader)


@pytest.mark.parametrize("head", BEYOND)
def test_the_quick_reader_steps_aside_where_it_is_not_sure(head: str) -> None:
    assert lines.read(head) is None


SCALAR = st.sampled_from(
    [
        "",
        "x",
        "a b",
        "7",
        "-0",
        "007",
        "1.5",
        "1.",
        "1e3",
        "true",
        "Yes",
        "null",
        "~",
        "[a, b]",
        "[]",
        "[a,]",
        "[[a]]",
        "[1, ]",
        "[a: b]",
        "{a: 1}",
        "{a: 1, b: 'c'}",
        "{a:1}",
        "{}",
        "{a: }",
        "{ a: b }",
        "[ a ]",
        "[a b, -1]",
        "[-]",
        "['a', b]",
        "'q'",
        '"q"',
        '"a\\n"',
        "'a'b",
        "'",
        "a: b",
        "a #b",
        "a#b",
        "#",
        "-",
        "- a",
        "?",
        "? a",
        ":",
        ":a",
        "a:",
        "http://x/y",
        "/a/b",
        "(a)",
        "a, b",
        "&a",
        "*a",
        "!x",
        "|",
        ">",
        "|-",
        ">-",
        "|2",
        "> x",
        "%a",
        "@a",
        "`a`",
        "é",
        "2020-01-01",
        "1_0",
        "0x1F",
        "12:30",
        "=",
        "<<",
        ".inf",
        "it's",
        'say "x"',
        "a\\b",
        "null x",
        "--- x",
        "...",
        "1.2.3",
        "1.2.3a",
        "-x",
        "- - a",
        "00",
        "9999999999999999",
        "$x",
        "a]",
        "a}",
        "x ",
        "a\tb",
        "\u2028",
        "\u00a0x",
    ]
)
VALUE = st.one_of(st.sampled_from(["", "x", "7", "[a, b]", "|", ">-"]), SCALAR)
SHAPE = st.sampled_from(
    [
        "K: V",
        "K: V",
        "K:",
        "  K: V",
        "  K:",
        "    K: V",
        "   K: V",
        "- V",
        "  - V",
        "    - V",
        "K V",
        "a: V",
        "  V",
        "   V",
        "# V",
        "  # V",
        "",
        "K:  V",
        "K: V\r",
    ]
)
LINES = st.lists(st.tuples(SHAPE, VALUE), max_size=7).map(
    lambda lines: "".join(
        shape.replace("K", f"k{number}").replace("V", value) + "\n" for number, (shape, value) in enumerate(lines)
    )
)


@pytest.mark.spec("R-SK-1")
@given(LINES)
def test_whatever_the_quick_reader_reads_the_thorough_one_reads_the_same(head: str) -> None:
    quick = lines.read(head)
    if quick:
        found = thorough(head)
        assert json.dumps(quick) == json.dumps(found), head  # json: 1 and 1.0 and true are equal to Python


@pytest.mark.spec("R-SK-1")
@given(LINES)
def test_reading_never_fails_but_with_a_place_in_the_frontmatter(head: str) -> None:
    loaded = load(f"---\n{head}---\n")
    for problem in loaded.problems:
        assert 1 <= problem.line <= head.count("\n") + 3
        assert problem.column >= 1
        assert problem.code
    try:
        data, locate, _ = read_mapping(head, 2)
    except FormatError:
        return
    json.dumps(data, allow_nan=False)
    assert all(locate((key,))[0] >= 2 for key in data)


# -- places -----------------------------------------------------------------------------------------------------------

PLACED = "name: x\nd: >-\n  k: v\nm:\n  l:\n  - a\n  - 'b'\n  f: [x, 'y',  z]\n  o: {p: q,  r: \"s\"}\n  t:\n    u: v\n"


@pytest.mark.parametrize("extra", ["", "zz: &a b\n"])
@pytest.mark.parametrize(
    ("keys", "line", "column"),
    [
        (("name",), 1, 7),
        (("m", "l", 0), 6, 5),
        (("m", "l", 1), 7, 6),
        (("m", "f", 0), 8, 7),
        (("m", "f", 1), 8, 11),
        (("m", "f", 2), 8, 16),
        (("m", "o", "p"), 9, 10),
        (("m", "o", "r"), 9, 18),
        (("m", "t", "u"), 11, 8),
        (("m", "t", "u", "none"), 11, 8),
        (("none",), 0, 1),
        (("m", "f"), 8, 6),
        (("k",), 0, 1),
    ],
)
def test_both_readers_find_a_value_at_the_same_place(extra: str, keys: Keys, line: int, column: int) -> None:
    assert (lines.read(PLACED + extra) is None) == bool(extra)
    _, locate, _ = read_mapping(PLACED + extra, 1)
    assert locate(keys) == (line, column)


# -- the thorough reader ----------------------------------------------------------------------------------------------

LEVELS = "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(9))
REFUSED = {
    "a bomb of aliases": ("a: &a [x, x, x, x, x, x, x, x, x, x]\n" + LEVELS, "too-large", 4),
    "a long text used often": (f"a: &a {'x' * 50_000}\nb: [{', '.join(['*a'] * 100)}]\n", "too-large", 2),
    "a bomb of merges": ("a: &a {x: 1}\nb: &b {<<: [" + "*a, " * 3_000 + "]}\n", "too-large", 2),
    "too many values": ("".join(f"k{n}: v\n" for n in range(MAX_VALUES)), "too-large", MAX_VALUES // 2),
    "an alias of itself": ("a: &a {b: *a}\n", "yaml", 1),
    "an alias of nothing": ("a: *b\n", "yaml", 1),
    "nested lists": ("a: " + "[" * 60_000 + "\n", "too-deep", 1),
    "nested mappings": ("".join(" " * n + "a:\n" for n in range(300)), "too-deep", 41),
    "a list of lists of lists": ("a:\n" + "- " * 30_000 + "\n", "too-deep", 2),
    "a key given twice": ("a: 1\nb: 2\na: 3\n", "duplicate-key", 3),
    "a key given twice inside": ("a:\n  b: {c: 1, c: 2}\n", "duplicate-key", 2),
    "a key that is a list": ("a: b\n? [x]\n: y\n", "key", 2),
    "an alias as a key": ("a: &a b\n*a : c\n", "key", 2),
    "a Python object": ("a: b\nc: !!python/object/apply:os.system [x]\n", "tag", 2),
    "a private tag": ("a: !x y\n", "tag", 1),
    "binary data": ("a: !!binary aGk=\n", "tag", 1),
    "a wrong type": ("a: !!int x\n", "tag", 1),
    "a merge of text": ("a:\n  <<: x\n", "yaml", 2),
    "a tab": ("a:\n\tb: c\n", "yaml", 2),
    "a tab after spaces": ("a:\n  b: c\n \td: e\n", "yaml", 3),
    "a second colon": ("a: b\nc: Use when: x\n", "yaml", 2),
    "an open quote": ("a: 'b\nc: d\n", "yaml", 1),
    "an open bracket": ("a: [b\nc: d\n", "yaml", 2),
    "a list": ("- a\n", "yaml", 1),
    "only text": ("hello\n", "yaml", 1),
    "a control character": ("a: b\nc: \x07\n", "yaml", 2),
    "an at sign": ("a: @b\n", "yaml", 1),
    "a percent sign": ("%x\n", "yaml", 1),
}


@pytest.mark.spec("R-SK-1", "R-SK-2")
@pytest.mark.parametrize("name", REFUSED)
def test_dangerous_or_broken_yaml_is_a_problem_at_its_line(name: str) -> None:
    head, code, line = REFUSED[name]
    loaded = load(f"---\n{head}---\n")
    found = place(loaded)
    assert loaded.definitions == ()
    assert (found[0], found[1], found[3]) == (f"frontmatter.{code}", line + 1, "error")


def test_a_second_document_is_refused() -> None:
    with pytest.raises(FormatError, match="a second document") as caught:
        thorough("a: b\n--- \nc: d\n")
    assert caught.value.line == 2


def test_what_broken_yaml_says_is_for_a_person() -> None:
    def said(head: str) -> str:
        return load(f"---\n{head}---\n").problems[0].message

    assert said("a:\n\tb: c\n") == "a tab indents here: use spaces"
    assert said("a: Use when: x\n") == "a second colon on this line: put the text in quotes"
    assert said("a: 'b\n") == "this quote is not closed"
    assert said("a: 1\na: 2\n") == "the key 'a' is given twice"
    assert said("a: &a [*a]\n") == "*a contains itself"


def test_merges_aliases_and_types_are_read() -> None:
    head = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\nd: {<<: [{x: 5}, *a]}\ne: !!str 7\nf: !!float 7\ng: ! 8\n"
    assert thorough(head) == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": {"x": 1, "y": 2},
        "d": {"x": 5, "y": 2},
        "e": "7",
        "f": 7.0,
        "g": "8",
    }


def test_readings_that_may_surprise_are_warnings() -> None:
    loaded = load("---\nname: a\ndescription: d\nmetadata:\n  x-old: no\n  x-big: 99999999999999999999\n---\n")
    assert [(p.code, p.line, p.severity) for p in loaded.problems] == [
        ("frontmatter.reading", 5, "warning"),
        ("frontmatter.reading", 6, "warning"),
    ]
    assert loaded.definitions[0].metadata == {"x-old": False, "x-big": "99999999999999999999"}
    assert loaded.definitions[0].state == "ready"


TEXTS = st.text(st.characters(exclude_characters="eEo", exclude_categories=["Cs"]), max_size=10)
"""Without what is a number in YAML 1.2 only, and so in JSON: PyYAML writes the text 1e3 without quotes."""
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**15), 10**15), TEXTS, st.floats(-1e6, 1e6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, TREES, max_size=4), st.booleans())
def test_what_yaml_writes_is_read_back(data: dict[str, object], flow: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow)
    assert thorough(text) == data
    quick = lines.read(text)
    assert quick is None or quick == data
