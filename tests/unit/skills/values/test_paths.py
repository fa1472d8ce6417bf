"""Path expressions in three tiers: read, write, query, remove, top-level keys (S-PAT-1, C-5)."""

from __future__ import annotations

import copy
from collections import defaultdict
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.values.kinds import PathError
from desktop.skills.values.paths import is_meta_key, path_get, path_keys, path_query, path_remove, path_set

pytestmark = pytest.mark.spec("C-5", "S-PAT-1")

DATA: dict[str, Any] = {
    "a": {"b": {"c": 1}, "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}], "none": None},
    "b.c": "dotted",
    "0": "digit",
    "allowed-tools": "x",
    "rows": [[1, 2], [3, 4]],
}


@pytest.mark.parametrize(
    ("expr", "found"),
    [
        ("a.b.c", 1),
        ("a.list[0].n", "x"),
        ("a.list.1.n", "y"),
        ("a.list[-1].v", 2),
        ("rows[1][0]", 3),
        ("rows.1.0", 3),
        ('["b.c"]', "dotted"),
        ("a['list'][0]['n']", "x"),
        ("0", "digit"),
        ("[0]", "digit"),
        ("allowed-tools", "x"),
        ("$.a.b.c", 1),
        ("$['b.c']", "dotted"),
        ("$.allowed-tools", "x"),
        ("$.a.list[?@.v > 1].n", "y"),
        ("a.list[?(@.n == 'x')].v", 1),
        ("$..c", 1),
        ("$.rows[*][-1]", 2),
        ("$.rows[0:2]", [1, 2]),
        ("$", DATA),
    ],
)
def test_each_tier_reads_what_it_names(expr: str, found: object) -> None:
    assert path_get(DATA, expr) == found


@pytest.mark.parametrize(
    "expr", ["a.x.y", "a.list[2]", "a.list[-3]", "a.b.c.d", "rows.x", "$.x", "$..nothing", "b[?(@.x)]", "a.list.n"]
)
def test_what_is_not_there_is_none_or_the_default_and_no_error(expr: str) -> None:
    assert path_get(DATA, expr) is None
    assert path_get(DATA, expr, "d") == "d"
    assert path_query(DATA, expr) == []


def test_a_value_of_none_is_there() -> None:
    assert path_get(DATA, "a.none", "d") is None
    assert path_query(DATA, "a.none") == [None]


def test_a_query_gives_every_match_in_order() -> None:
    assert path_query(DATA, "$.rows[*][*]") == [1, 2, 3, 4]
    assert path_query(DATA, "$..v") == [1, 2]
    assert path_query(DATA, "a.list[?(@.v)].n") == ["x", "y"]
    assert path_query(DATA, "a.b.c") == [1]


@pytest.mark.parametrize(
    ("expr", "column"),
    [
        ("", 1),
        (".a", 1),
        ("a.", 2),
        ("a..b", 2),
        ("a[", 2),
        ("a[x]", 2),
        ("a]b", 2),
        ("a[1]b", 5),
        ("a['b]", 2),
        ("$x", 2),
        ("$.", 3),
        ("$[", 3),
        ("$.a[?]", 6),
        ("$.a[01]", 6),
        ("a[?(@.x==)]", 10),
        ("[?(@.x==)]", 9),
        ("$['a", 5),
        ("$[?matches(@.a,'x')]", 4),
        ("$.a b", 4),
        ("$[?@.*==1]", 7),
        ("$[9007199254740992]", 3),
        ("$context", 2),
        (r"$['\q']", 5),
        (r"$['\ud800']", 10),
    ],
)
def test_a_malformed_expression_is_refused_with_its_column(expr: str, column: int) -> None:
    for operation in (path_get, path_query, path_remove):
        with pytest.raises(PathError) as caught:
            operation(copy.deepcopy(DATA), expr)
        assert caught.value.column == column, str(caught.value)
    with pytest.raises(PathError):
        path_set({}, expr, 1)
    with pytest.raises(PathError):
        path_keys({}, [expr])


@pytest.mark.parametrize(
    ("before", "expr", "after"),
    [
        ({}, "a.b.c", {"a": {"b": {"c": 9}}}),
        ({}, "a[0].b", {"a": [{"b": 9}]}),
        ({}, "a.0.b", {"a": [{"b": 9}]}),
        ({}, "a[1]", {"a": [None, 9]}),
        ({"a": {}}, "a.0.b", {"a": {"0": {"b": 9}}}),
        ({"a": [1, 2]}, "a[-1]", {"a": [1, 9]}),
        ({"a": [1]}, "a[1]", {"a": [1, 9]}),
        ({"a": None}, "a.b", {"a": {"b": 9}}),
        ({"a": 5}, "a", {"a": 9}),
        ({}, "$.a['b.c']", {"a": {"b.c": 9}}),
        ({"a": [{"x": 1}, {"x": 2}]}, "$.a[*].x", {"a": [{"x": 9}, {"x": 9}]}),
        ({"a": [{"x": 1}, {"x": 2}]}, "a[?(@.x==2)].x", {"a": [{"x": 1}, {"x": 9}]}),
        ({"a": [{"x": 1}]}, "$.a[?@.x==7].x", {"a": [{"x": 1}]}),
        ([1], "[0]", [9]),
    ],
)
def test_writing_makes_what_is_missing_on_the_way(before: Any, expr: str, after: Any) -> None:
    path_set(before, expr, 9)
    assert before == after


@pytest.mark.parametrize(
    ("before", "expr"),
    [
        ({"a": 5}, "a.b"),
        ({"a": "text"}, "a[0]"),
        ({"a": [1]}, "a.name"),
        ({"a": []}, "a[999999999]"),
        ({"a": [1]}, "a[-2]"),
        ({}, "a[-1]"),
        ({"a": (1, 2)}, "a[0]"),
        ({"a": MappingProxyType({})}, "a.b"),
        ({}, "$"),
        ({}, "__proto__.x"),
        ({"a": {}}, "a.__class__"),
        ({"a": [{"x": 1}, (1,)]}, "$.a[*][*]"),
        (5, "a"),
        ({"a": b"xy"}, "a[0]"),
        ({"a": bytearray(b"xy")}, "a[0]"),
        ({"__proto__": 1}, "$..__proto__"),
    ],
)
def test_a_write_that_would_destroy_or_explode_is_refused_and_changes_nothing(before: Any, expr: str) -> None:
    kept = repr(before)
    with pytest.raises(PathError):
        path_set(before, expr, 1)
    assert repr(before) == kept


@pytest.mark.parametrize(
    ("before", "expr", "after"),
    [
        ({"a": {"b": 1, "c": 2}}, "a.b", {"a": {"c": 2}}),
        ({"a": [1, 2, 3]}, "a[1]", {"a": [1, 3]}),
        ({"a": [1, 2, 3]}, "a.-1", {"a": [1, 2, 3]}),
        ({"a": [1, 2, 3, 4]}, "$.a[0,2,2]", {"a": [2, 4]}),
        ({"a": [1, 2, 3, 4]}, "$.a[?@ > 1]", {"a": [1]}),
        ({"a": {"b": {"b": 1}}, "b": 2}, "$..b", {"a": {}}),
        ({"a": 1}, "x.y", {"a": 1}),
        ({"a": 1}, "$.*", {}),
    ],
)
def test_removing_closes_the_gap_and_what_is_not_there_is_no_error(before: Any, expr: str, after: Any) -> None:
    path_remove(before, expr)
    assert before == after


def test_fixed_containers_and_the_root_cannot_lose_anything() -> None:
    for value, expr in (({"a": (1, 2)}, "a[0]"), ({}, "$"), ({"a": [1, (2,)]}, "$.a[1][0]")):
        with pytest.raises(PathError):
            path_remove(value, expr)


def test_keys_are_the_top_level_names_that_expressions_lead_into() -> None:
    data = {"a": {"x": 1}, "b": {"y": [{"x": 2}]}, "c": 3}
    assert path_keys(data, ["a.x.deep", "missing[0]", "c"]) == {"a", "missing", "c"}
    assert path_keys(data, ["$..x"]) == {"a", "b"}
    assert path_keys(data, ["$[?@ == 3]", "$.*.y"]) == {"c", "b"}
    assert path_keys(data, ["$.*"]) == {"a", "b", "c"}
    assert path_keys(data, []) == set()
    assert path_keys([1, 2], ["$[0]"]) == {"0"}
    assert path_keys([1, 2], ["$[*]"]) == set()


def test_meta_keys_start_with_a_dollar() -> None:
    assert is_meta_key("$deny")
    assert is_meta_key("$")
    assert not is_meta_key("deny$")
    assert not is_meta_key("")


class Trap:
    """Fails when anything of it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"looked at {name}")


def test_attributes_are_never_looked_at() -> None:
    data = {"o": SimpleNamespace(x=1), "t": Trap(), "l": [Trap()]}
    for expr in ("o.x", "o.__class__", "t.x", "$..x", "$.l[0].x", "l[0].__dict__", "$[?@.x == 1]", "$.t['x']"):
        assert path_query(data, expr) == []
    assert path_query(data, "$[?length(@) > 100]") == []
    assert path_query(data, "$[?@ == $.t]") == [data["t"]]


def test_reading_does_not_fill_a_default_dictionary() -> None:
    data: Any = defaultdict(dict)
    assert path_get(data, "a.b") is None
    assert path_query(data, "$.a.b") == []
    assert dict(data) == {}


def test_texts_are_values_and_no_lists() -> None:
    assert path_query({"s": "abc"}, "$.s[*]") == path_query({"s": "abc"}, "s[0]") == []
    assert path_query({"s": "abc"}, "$[?length(@) == 3]") == ["abc"]


# -- RFC 9535, by its own words; test_jsonpath_suite.py runs its compliance suite -------------------------------------

BOOKS = {
    "store": {
        "book": [
            {"category": "reference", "author": "Nigel Rees", "price": 8.95},
            {"category": "fiction", "author": "Evelyn Waugh", "price": 12.99},
            {"category": "fiction", "author": "Herman Melville", "isbn": "0-553", "price": 8.99},
        ],
        "bicycle": {"price": 399},
    }
}


@pytest.mark.parametrize(
    ("expr", "found"),
    [
        ("$.store.book[*].author", ["Nigel Rees", "Evelyn Waugh", "Herman Melville"]),
        ("$.store..price", [8.95, 12.99, 8.99, 399]),
        ("$..book[2].isbn", ["0-553"]),
        ("$..book[-1].isbn", ["0-553"]),
        ("$..book[0,1].price", [8.95, 12.99]),
        ("$..book[:2].price", [8.95, 12.99]),
        ("$..book[::-2].price", [8.99, 8.95]),
        ("$..book[?@.isbn].price", [8.99]),
        ("$..book[?!@.isbn].price", [8.95, 12.99]),
        ("$..book[?@.price<10].price", [8.95, 8.99]),
        ("$..book[?@.price<10 && @.category=='fiction'].price", [8.99]),
        ("$..book[?(@.price>10 || @.isbn) && !(@.price>12)].price", [8.99]),
        ("$..book[?@.price < $.store.bicycle.price].price", [8.95, 12.99, 8.99]),
        ("$.store[?count(@[*]) == 3][0].price", [8.95]),
        ("$.store[?value(@.price) == 399].price", [399]),
        ('$..book[?"fiction" != @["category"]].price', [8.95]),
        ("$..book[1:0:0]", []),
        ("$ .store\n['bicycle'].price", [399]),
        (r"$['\u0073tore'].bicycle.price", [399]),
    ],
)
def test_json_paths_as_in_the_rfc(expr: str, found: list[object]) -> None:
    assert path_query(BOOKS, expr) == found


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("@.t == true", True),
        ("@.t == 1", False),
        ("@.one == 1.0", True),
        ("@.n == null", True),
        ("@.x == @.y", True),
        ("@.x == null", False),
        ("@.x < 1", False),
        ("@.x <= @.y", True),
        ("@.s < 'b'", True),
        ("@.s < 1", False),
        ("@.o == @.p", True),
        ("@.l == @.m", False),
        ("@.t <= true", True),
        ("@.t < true", False),
        ("@.one >= 1", True),
        ("@.n", True),
        ("@.zero", True),
        ("@.empty", True),
        ("@.x", False),
        ("length(@.s) == 1", True),
        ("length(@.one) == length(@.x)", True),
        ("length(@.o) == 2", True),
        ("@.one == 1e0", True),
        ("@.one == -1", False),
    ],
)
def test_comparisons_know_types_nothing_and_existence(test: str, holds: bool) -> None:
    data = {
        "t": True,
        "one": 1,
        "zero": 0,
        "n": None,
        "s": "a",
        "empty": "",
        "o": {"a": 1, "b": [1]},
        "p": {"b": [1], "a": 1},
        "l": [1, 2],
        "m": [1, 2, 3],
    }
    assert bool(path_query([data], f"$[?{test}]")) is holds


# -- bounds -----------------------------------------------------------------------------------------------------------


def test_depth_of_the_data_costs_no_recursion() -> None:
    deep: Any = "end"
    for _ in range(20_000):
        deep = [deep]
    assert path_query({"d": deep}, "$..x") == []
    assert path_query([deep, deep], "$[?@ == $[0]]") == [deep, deep]


def test_too_much_work_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["me"] = loop
    wide = {"l": [list(range(200)) for _ in range(200)]}
    for data, expr in (
        (loop, "$..x"),
        (wide, "$..*..*..*"),
        (wide, "$.l[*][?count($..*) > 1]"),
        (loop, "$[?@ == $.me]"),
    ):
        with pytest.raises(PathError, match="more than 100000"):
            path_query(data, expr)


def test_expressions_have_a_length_a_depth_and_a_number_of_steps() -> None:
    for expr in ("a" * 2_001, "$" + ".a" * 1_001, ".".join("a" * 101), "$[?" + "(" * 40 + "@" + ")" * 40 + "]"):
        with pytest.raises(PathError):
            path_get({}, expr)
    with pytest.raises(PathError):
        path_get({}, "$[?" + "@[?" * 40 + "@" + "]" * 41)


# -- properties -------------------------------------------------------------------------------------------------------

names = st.text("abcxyz-_ ", min_size=1, max_size=4)
steps = st.lists(st.one_of(names, st.integers(0, 5)), min_size=1, max_size=6)


def written(way: list[Any], brackets: bool) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) and brackets else f".{step}" for step in way)
    return text.removeprefix(".")


@given(steps, st.booleans(), st.integers())
def test_what_was_written_is_read_back_removed_and_gone(way: list[Any], brackets: bool, value: int) -> None:
    data: Any = [] if isinstance(way[0], int) else {}
    expr = written(way, brackets)
    path_set(data, expr, value)
    assert path_get(data, expr) == value
    path_remove(data, expr)
    assert path_get(data, expr) is None


@given(st.text("$@.?[]()'\"*:,!<>=&|ab01- ", max_size=30))
def test_any_text_is_an_expression_or_a_path_error(expr: str) -> None:
    data = {"a": [{"b": 1}, "x"], "b": {"a": {}}}
    try:
        values = path_query(data, expr)
    except PathError:
        with pytest.raises(PathError):
            path_get(data, expr)
    else:
        assert path_get(data, expr) == (values[0] if values else None)
