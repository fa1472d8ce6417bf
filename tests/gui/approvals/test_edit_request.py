"""A request to change parts of a file: the edits one by one, the whole file, and what changed meanwhile."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from shots.edits import CHANGED, EDITS, edit_request

from desktop.presenter.approvals.request_facts import request_facts
from desktop.presenter.approvals.request_words import confinement_words, hides_something
from desktop.tools.builtin.edits.encoded import decoded
from desktop.tools.builtin.edits.places import TextEdit, apply, find_places
from desktop.tools.builtin.edits.shown import MAX_SHOWN, preview_of
from desktop.ui.approvals.request.body import DiffCard
from desktop.ui.approvals.request.edits import CHANGED_HEAD, ShownEdits
from desktop.ui.approvals.request.lines_view import ROW, LinesView
from tests.gui.approvals.conftest import DialogBench, settled


def preview(text: str, *edits: dict[str, Any]) -> dict[str, Any]:
    file, changes = decoded(text.encode()), [TextEdit.of(edit) for edit in edits]
    places = find_places(file.plain, changes)
    return preview_of("/w/f", file, changes, places, apply(file, changes, places))


def shown(found: dict[str, Any]) -> list[tuple[str, int, int, str]]:
    edits = ShownEdits.of(found)
    assert edits is not None
    return [(row.kind, row.old, row.number, row.text) for row in edits.rows()[0]]


@pytest.mark.spec("R-EDT-1", "R-PRM-2")
def test_each_edit_has_a_head_with_where_its_text_was_found_and_numbers_of_both_files() -> None:
    text = "".join(f"{number}\n" for number in range(1, 41))
    found = preview(text, {"old": "10\n", "new": "10\nnew\n"}, {"old": "30\n31\n", "new": "x\n"})
    assert shown(found) == [
        ("head", 0, 0, "Edit 1 the text to replace is there once, at line 10"),
        ("same", 8, 8, "8"),
        ("same", 9, 9, "9"),
        ("same", 10, 10, "10"),
        ("add", 0, 11, "new"),
        ("same", 11, 12, "11"),
        ("same", 12, 13, "12"),
        ("head", 0, 0, "Edit 2 the text to replace is there once, at lines 30 and 31"),
        ("same", 28, 29, "28"),
        ("same", 29, 30, "29"),
        ("del", 0, 30, "30"),
        ("del", 0, 31, "31"),
        ("add", 0, 31, "x"),
        ("same", 32, 32, "32"),
        ("same", 33, 33, "33"),
    ]


def test_an_edit_of_every_place_says_which_of_how_many() -> None:
    heads = [
        row[3] for row in shown(preview("a\n\n\n\na\n", {"old": "a", "new": "b", "all": True})) if row[0] == "head"
    ]
    assert heads == ["Edit 1 every place, 1 of 2, at line 1", "Edit 1 every place, 2 of 2, at line 5"]


def test_what_the_whole_file_counts_its_lines_from_is_where_its_part_begins() -> None:
    text = "".join(f"{number}\n" for number in range(1, 100_000))
    found = preview(text, {"old": "\n70000\n", "new": "\nchanged\n"})
    assert found["first_line"] == 69_996
    assert ("del", 0, 70_000, "70000") in shown(found)


@pytest.mark.spec("R-EDT-1", "R-PRM-2")
async def test_the_request_shows_edits_first_and_says_what_they_are_bound_to(bench: DialogBench) -> None:
    bench.window.resize(1100, 1200)
    await bench.ask(edit_request())
    card = bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    view = card.views.currentWidget()
    assert isinstance(view, LinesView)
    assert card.title.text() == "2 edits in one file"
    assert view is card.words
    assert view.text().count("the text to replace is there once") == 2
    facts = {fact.caption: fact for fact in request_facts(edit_request(), "Title")}
    assert facts["Bound to"].text.startswith("the version it read at ")
    assert facts["Bound to"].text.endswith("173 lines, 3.0 KB, 9f3c 41d0")
    assert facts["Bound to"].mark == "unchanged since"
    assert confinement_words(edit_request()).startswith(
        "Both edits are made, or neither. Line ends (LF), encoding (UTF-8) and file mode stay as they are."
    )
    card.show_view("diff")
    assert "@@ lines 3 to 10 of 174" in card.diff_view.text()


@pytest.mark.spec("R-EDT-1", "R-PRM-5")
async def test_a_change_meanwhile_stands_over_the_edits(bench: DialogBench) -> None:
    await bench.ask(edit_request(CHANGED))
    card = bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    assert card.words is not None
    rows = card.words.rows
    assert (rows[0].kind, rows[0].text.startswith(CHANGED_HEAD)) == ("news", True)
    changes = [(row.kind, row.text) for row in rows if row.kind in ("del", "add")]
    assert changes[:2] == [
        ("del", "def load(path: Path, station: str) -> pd.DataFrame:"),
        ("add", "def load(path: Path, station: str):"),
    ]
    bound = next(fact for fact in request_facts(edit_request(CHANGED), "") if fact.caption == "Bound to")
    assert "it has changed since you answered" in bound.text
    assert bound.mark == ""


@pytest.mark.spec("R-EDT-1")
async def test_f7_goes_from_edit_to_edit_and_back(bench: DialogBench) -> None:
    bench.window.resize(900, 560)
    await bench.ask(edit_request())
    view, card = bench.dialog.view, bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    lines = card.words
    assert lines is not None
    heads = [at for at, row in enumerate(lines.rows) if row.kind == "head"]

    def row_at_top() -> int:
        return lines.verticalScrollBar().value() // ROW if lines is not None else -1

    bench.dialog.take_keys()
    for shift, head in ((False, heads[0]), (False, heads[1]), (False, heads[1]), (True, heads[0])):
        modifier = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(view, Qt.Key.Key_F7, modifier)
        await settled()
        assert view.steps.at == head
        top, height = row_at_top(), lines.viewport().height() // ROW
        assert top <= head < top + height


@pytest.mark.spec("R-PRM-2", "R-EDT-1")
async def test_allow_waits_until_the_last_edit_has_been_seen(bench: DialogBench) -> None:
    bench.window.resize(900, 560)
    question = await bench.ask(edit_request())
    view, card = bench.dialog.view, bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    lines = card.words
    assert lines is not None
    assert not lines.is_read
    assert view.answers is not None
    view.answers.allow.click()
    await settled()
    assert not question.done()
    bench.dialog.take_keys()
    while not lines.is_read:
        lines.first_unread()
        await settled()
    await bench.awake()
    view.answers.allow.click()
    assert (await question).allowed


@pytest.mark.spec("R-PRM-15", "R-EDT-1")
def test_characters_that_cannot_be_seen_are_found_inside_edits() -> None:
    assert not hides_something(edit_request())
    hidden = [*EDITS, {"old": "a", "new": "a\u202eb"}]
    assert hides_something(replace(edit_request(), arguments={"path": "x", "edits": hidden}))


async def test_more_places_than_are_shown_have_to_be_read_as_arguments(bench: DialogBench) -> None:
    text = "a\n" * (MAX_SHOWN + 5)
    found = preview(text, {"old": "a", "new": "b", "all": True})
    assert found["notes"] == ["5 more places that it changes"]
    await bench.ask(replace(edit_request(), preview=found, arguments={"path": "f", "edits": list(EDITS)}))
    card = bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    assert card.words is not None
    assert "parse_dates" in card.words.text()
    assert card.title.text() == f"1 edit at {MAX_SHOWN + 5} places in one file"


@pytest.mark.parametrize(
    "odd", [{"edits": "x"}, {"edits": [1]}, {"edits": [{}]}, {"edits": [{"line": "x"}], "bound": 3}]
)
async def test_a_preview_of_another_shape_is_shown_as_far_as_it_goes(bench: DialogBench, odd: dict[str, Any]) -> None:
    request = edit_request()
    await bench.ask(replace(request, preview={**request.preview, **odd}))
    assert bench.dialog.findChild(DiffCard) is not None
