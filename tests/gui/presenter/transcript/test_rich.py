"""What a tool gave beside its text: links, embedded resources, data, and how far a call is."""

import json
from typing import Any

import pytest

from desktop.domain.runs.events import ToolCallAdvanced
from desktop.presenter.transcript.items import LinkPart, ShownProgress
from desktop.presenter.transcript.rich import embedded_of, links_of, progress_of, table_of, task_words


def advanced(done: float, total: float | None, text: str = "") -> ToolCallAdvanced:
    return ToolCallAdvanced(run_id="r", thread_id="t", message_id="m", call_id="c", done=done, total=total, text=text)


@pytest.mark.spec("R-MCP-5")
@pytest.mark.parametrize(
    ("done", "total", "words"),
    [
        (3, 12, "3 of 12, reading"),
        (3, None, "3, reading"),
        (0, None, "reading"),
        (float("nan"), float("inf"), "reading"),
        (-5, -1, "reading"),
    ],
)
def test_how_far_a_call_is_has_a_figure_only_where_there_is_one(done: float, total: float | None, words: str) -> None:
    assert progress_of(advanced(done, total, "reading")).words == words


def test_more_than_all_of_it_is_all_of_it_on_the_bar() -> None:
    found = progress_of(advanced(30, 12))
    assert found == ShownProgress(30, 12, "")


@pytest.mark.spec("R-MCP-3")
def test_links_and_resources_are_taken_by_their_form_and_capped() -> None:
    facts: dict[str, Any] = {
        "links": [
            {"uri": "https://x.example.org/a", "title": "A", "media_type": "text/csv", "size": 2_000},
            {"uri": 5},
            "no link",
            *({"uri": f"x://{at}", "name": "n" * 500} for at in range(100)),
        ],
        "embedded": [
            {"uri": "x://a", "text": "inside"},
            {"uri": "x://b", "media_type": "application/zip", "size": 9},
            7,
        ],
    }
    links = links_of(facts)
    assert links[0] == LinkPart("A", "https://x.example.org/a", "text/csv, 2.0 KB")
    assert (len(links), len(links[1].title)) == (40, 200)
    assert embedded_of(facts) == (("x://a", "inside"), ("x://b", "(application/zip, 9 bytes, not shown)"))
    for hostile in ({}, {"links": 5, "embedded": "x"}, {"links": [None], "embedded": [None]}):
        assert (links_of(hostile), embedded_of(hostile)) == ((), ())


def test_a_task_is_said_while_it_goes_on() -> None:
    working = {"task": {"server": "files", "id": "1", "status": "working"}}
    assert task_words(working).startswith("It goes on at the server files by itself")
    assert task_words({"task": {"status": "completed"}}) == task_words({"task": 5}) == task_words({}) == ""


@pytest.mark.spec("R-MCP-3")
def test_data_of_rows_is_a_table_and_nothing_else_is() -> None:
    rows = [{"quay": "3", "level": 1.5}, {"quay": "7", "level": None, "note": "a\nb"}]
    table = "quay  level  note\n────  ─────  ────\n3     1.5\n7     null   a b"
    assert table_of(json.dumps(rows)) == table_of(json.dumps({"rows": rows, "count": 2})) == table
    many = table_of(json.dumps([{"at": at} for at in range(100)]))
    assert many.endswith("\nand 40 more rows")
    nested = "[" * 5_000
    for other in ("", "text", "{}", "[1, 2]", '[{"a": 1}]', '{"a": [{"b": 1}], "c": []}', '[{}, {"a": 1}]', nested):
        assert table_of(other) == "", other
    wide = table_of(json.dumps([{f"c{at}": "x" * 200 for at in range(30)}] * 3))
    assert max(map(len, wide.split("\n"))) <= 8 * 42
