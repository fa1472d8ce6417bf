"""Tables and values: told window by window, as what they are: text."""

from __future__ import annotations

import json

import pytest

from desktop.domain.files.results import ResultRefused, ResultValue
from desktop.workers.inside import CallError
from desktop.workers.result_host.table import ResultTable
from desktop.workers.result_host.tree import ResultTree
from tests.unit.workers.result_host.conftest import Show

pytestmark = pytest.mark.spec("R-DOC-2")


def rows(table: ResultTable, first: int = 0, count: int = 99) -> list[list[str]]:
    return list(table.window(first, count, 300))


def test_a_first_row_of_words_names_the_columns_and_numbers_are_sorted_as_numbers() -> None:
    table = ResultTable(b"gauge;level\r\nQuay;9\r\nHarbour;10\r\nBridge;\r\nOld;-1,5\r\nNew;2.5\r\n", "a.csv")
    assert (table.names, table.rows, table.columns) == (["gauge", "level"], 5, 2)
    table.sort(1, descending=False)
    assert [row[0] for row in rows(table)] == ["New", "Quay", "Harbour", "Old", "Bridge"]
    table.sort(1, descending=True)
    assert [row[0] for row in rows(table)] == ["Old", "Harbour", "Quay", "New", "Bridge"], "what is empty stays last"
    table.sort(-1, descending=False)
    assert [row[0] for row in rows(table)][:2] == ["Quay", "Harbour"], "as it is written again"


def test_a_formula_is_text_like_any_other() -> None:
    formula = '=HYPERLINK("http://x","y")'
    table = ResultTable(f'name,value\n"{formula.replace(chr(34), chr(34) * 2)}",+1+1\n@SUM(A1),-2\n'.encode(), "a.csv")
    assert rows(table) == [[formula, "+1+1"], ["@SUM(A1)", "-2"]]


def test_a_million_columns_are_counted_and_two_hundred_shown() -> None:
    table = ResultTable(b",".join(b"1" for _ in range(1_000_000)), "a.csv")
    assert (table.columns, len(table.names), len(rows(table)[0])) == (1_000_000, 200, 200)
    assert table.notes == ["It has 1,000,000 columns; the first 200 are shown."]


def test_of_more_rows_than_are_held_the_first_are_shown() -> None:
    table = ResultTable(b"1\n" * 1_000_001, "a.tsv")
    assert table.rows == 1_000_000
    assert table.notes == ["Only the first 1,000,000 rows are shown."]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.tsv", b"a\tb\n1\t2\n"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16")),
        ("a.csv", b"a,b\r\n1,2"),
        ("a.csv", b"a|b\n1|2\n"),
    ],
)
def test_tables_are_read_however_they_are_written(name: str, data: bytes) -> None:
    table = ResultTable(data, name)
    assert (table.names, rows(table)) == (["a", "b"], [["1", "2"]])


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        ("3;1,5\n4;2,5\n", [["3", "1,5"], ["4", "2,5"]]),
        ("'1','b,c'\n'd','e'\n", [["1", "b,c"], ["d", "e"]]),
        ('1, "b, c"\n2, d\n', [["1", "b, c"], ["2", "d"]]),
        ("1\n2\nthree, or,more\n", [["1"], ["2"], ["three", " or", "more"]]),
        ("1,it's\n2,'tis\n3,x\n", [["1", "it's"], ["2", "'tis"], ["3", "x"]]),
        ("1\n\n2\n", [["1"], ["2"]]),
        ("", []),
    ],
)
def test_what_parts_the_cells_is_what_fits_most_rows(data: str, cells: list[list[str]]) -> None:
    assert rows(ResultTable(data.encode(), "a.csv")) == cells


@pytest.mark.parametrize("row", [",'a", ',"', "it's, 'tis a, \"q\n", "| '"])
async def test_rows_that_are_made_to_take_long_are_shown_like_others(show: Show, row: str) -> None:
    async with show(row * (65_536 // len(row)), "table", "a.csv") as result:
        assert result.about.names


def told(tree: ResultTree, *path: int) -> list[tuple[str, str, str, int]]:
    return [(one["key"], one["kind"], one["words"], one["count"]) for one in tree.children(path, 0, 400)]


def test_values_stand_as_they_are_written() -> None:
    tree = ResultTree(b'{"a": 1e400, "a": 123456789012345678901234567890, "b": [true, null, "x"], "c": {}}', "a.json")
    assert told(tree) == [
        ("a", "number", "1e400", 0),
        ("a", "number", "123456789012345678901234567890", 0),
        ("b", "list", "", 3),
        ("c", "object", "", 0),
    ]
    assert told(tree, 2) == [("0", "word", "true", 0), ("1", "word", "null", 0), ("2", "text", "x", 0)]
    with pytest.raises(CallError, match="no such place"):
        tree.children((2, 9), 0, 1)


def test_lines_of_values_are_a_list_as_far_as_they_can_be_read() -> None:
    tree = ResultTree(b'{"a":1}\n\n[2]\n{oops\n{"b":1}\n', "log.jsonl")
    assert told(tree) == [("0", "object", "", 1), ("1", "list", "", 1)]
    assert tree.notes[0].startswith("Line 4 and what follows is not shown. It is no JSON")


async def test_what_is_no_json_or_too_deep_is_refused_by_the_process(show: Show) -> None:
    for text, why in (("[" * 100_000 + "]" * 100_000, "nested deeper"), ('{"a": }', "line 1, column 7")):
        with pytest.raises(ResultRefused, match=why):
            async with show(text, "tree", "a.json"):
                pass


async def test_windows_of_five_megabytes_come_one_by_one(show: Show) -> None:
    data = json.dumps([{"n": n, "text": "x" * 60} for n in range(60_000)])
    assert len(data) > 5_000_000
    async with show(data, "tree", "a.json") as result:
        assert result.about.root == ResultValue("", "list", "", 60_000, 6)
        parts = await result.nodes([], 0, 400)
        assert [(part.key, part.kind, part.rows) for part in parts][4:] == [
            ("40,000 … 49,999", "part", 100),
            ("50,000 … 59,999", "part", 100),
        ]
        assert [node.key for node in await result.nodes([5, 99], 98, 400)] == ["59998", "59999"]
        assert await result.nodes([5, 99, 99], 0, 1) == [ResultValue("n", "number", "59999", 0, 0)]
    table = "name,value\n" + "".join(f"row {n},{n}\n" for n in range(100_000))
    async with show(table, "table", "a.csv") as result:
        assert (result.about.rows, result.about.names) == (100_000, ("name", "value"))
        await result.sort(1, descending=True)
        assert await result.rows(0, 2) == [("row 99999", "99999"), ("row 99998", "99998")]
        assert await result.rows(99_999, 5, whole=True) == [("row 0", "0")]
