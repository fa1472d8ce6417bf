"""Differences: true to both texts, bounded in work."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.approval.permission import PermissionRequest
from desktop.ui.approvals.request.body import DiffCard
from desktop.ui.approvals.request.diffing import Mark, diff, is_small, new_file, plain_rows
from desktop.ui.widgets.folded import lines_of
from desktop.ui.widgets.shown import arguments_text, shown
from tests.gui.approvals.conftest import DialogBench, settled


def marks(old: str, new: str) -> tuple[tuple[Mark, ...], ...]:
    """The parts in which the only line of a text differs, before and after."""
    return tuple(row.marks for row in diff(old, new).rows if row.kind in ("del", "add"))


LINES = st.lists(st.sampled_from(["a", "b", "", "  indented", "a longer line of text"]), max_size=30)


@given(LINES, LINES)
def test_rows_rebuild_both_texts_from_the_common_parts(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old) + "\n" if old else "", "\n".join(new) + "\n" if new else ""
    found = diff(before, after)
    old_lines, new_lines = lines_of(before), lines_of(after)
    for row in found.rows:
        if row.kind == "del":
            assert old_lines[row.number - 1] == row.text
        elif row.kind in ("add", "same"):
            assert new_lines[row.number - 1] == row.text
    assert len(new_lines) - len(old_lines) == found.added - found.removed
    assert (before == after) == (not found.added and not found.removed)


@given(LINES, LINES)
def test_applying_the_rows_to_the_old_text_gives_the_new_one(old: list[str], new: list[str]) -> None:
    before, after = "".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new)
    result, at = [], 0
    old_lines, new_lines = lines_of(before), lines_of(after)
    for row in diff(before, after).rows:
        if row.kind == "hunk":
            continue
        if row.kind == "del":
            result += old_lines[at : row.number - 1]
            at = row.number
        elif row.kind == "add":
            while len(result) < row.number - 1:
                result.append(old_lines[at])
                at += 1
            result.append(row.text)
    result += old_lines[at:]
    assert result == new_lines


def test_the_words_that_differ_are_marked() -> None:
    left, right = marks("starts at 02:00 daily", "starts at 02:10 daily")
    assert (left, right) == (((10, 5),), ((10, 5),))


def test_a_change_of_the_last_line_break_is_said() -> None:
    assert any("line break" in row.text for row in diff("a\nb\n", "a\nb").rows)


def test_a_long_line_goes_on_in_further_rows_with_nothing_left_out() -> None:
    line = "".join(chr(97 + n % 26) for n in range(2_000_000))
    rows = plain_rows(line)
    assert "".join(row.text for row in rows) == line
    assert [row.number for row in rows[:3]] == [1, 0, 0]


def test_a_large_rewrite_is_found_in_bounded_time() -> None:
    before = "".join(f"old {n % 7}\n" for n in range(60_000))
    after = "".join(f"new {n % 5}\n" for n in range(60_000))
    begun = time.thread_time()
    found = diff(before, after)
    assert (found.added, found.removed) == (60_000, 60_000)
    assert time.thread_time() - begun < 25


def test_a_new_file_is_all_added() -> None:
    found = new_file("x\ny\n")
    assert [(row.kind, row.number, row.text) for row in found.rows] == [("add", 1, "x"), ("add", 2, "y")]


@given(st.text())
def test_shown_text_holds_nothing_unseen_and_loses_nothing_visible(text: str) -> None:
    seen = shown(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in seen)
    assert not set(seen) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\ufeff\x7f")
    assert all(c in seen for c in text if c.isalnum() and c.isascii())


def test_arguments_lay_out_texts_of_several_lines() -> None:
    assert arguments_text({"path": "a", "content": "x\ny", "n": 1}) == (
        'path: "a"\ncontent: 3 characters\n    x\n    y\nn: 1'
    )


@pytest.mark.spec("R-PRM-14", "R-UI-7")
async def test_a_large_difference_is_found_beside_the_window_and_allow_waits_for_it(
    bench: DialogBench, write: PermissionRequest
) -> None:
    before = "".join(f"line {n}\n" for n in range(40_000))
    preview = {**write.preview, "before": before, "after": before.replace("line 777\n", "changed\n")}
    await bench.ask(replace(write, preview=preview))
    card = bench.dialog.findChild(DiffCard)
    for _ in range(200):
        if card.ready:
            break
        assert bench.dialog.view.answers.allow.deaf
        await settled(0.02)
    assert card.ready
    assert "+changed" in card.diff_view.text()
    assert bench.dialog.view.answers.allow.deaf


def test_words_and_lines_that_stand_there_often_are_not_compared_pair_by_pair() -> None:
    often, other = "a b " * 100, "a c " * 100
    assert marks(often, other) == ((), ())
    assert marks(":" * 400, ":" * 399 + "x") == (((396, 4),), ((396, 4),))
    assert marks(often[:360] + "z", often[:360] + "y") == (((360, 1),), ((360, 1),))
    before, after = "a\nsame\n" * 700, "c\nsame\n" * 700
    found = diff(before, after)
    assert (found.added, found.removed) == (1_399, 1_399)  # the last line is common
    assert not is_small(before[:5_000], after[:5_000])
    assert is_small("one\ntwo\n\nthree\n", "one\n2\n\nthree\n")
    assert not is_small("x" * 13_000, "")


@pytest.mark.parametrize("apart", [("ab", "xy"), ("k: 1", "k: 1,")], ids=["short lines", "commas"])
def test_many_lines_of_which_every_second_one_changed_are_not_small(apart: tuple[str, str]) -> None:
    before = [f"{apart[0]}{n}" for n in range(400)]
    after = [f"{apart[1]}{n}" if n % 2 else line for n, line in enumerate(before)]
    assert not is_small("\n".join(before), "\n".join(after))
    assert is_small("\n".join(before[:20]), "\n".join(after[:20]))


def test_the_words_of_many_lines_are_marked_until_they_have_cost_enough() -> None:
    before = [" ".join(f"w{n}{m}" for m in range(20)) for n in range(200)]
    after = [line.replace("w", "v", 1).replace("5", "6") for line in before]
    rows = diff("\n".join(before), "\n".join(after)).rows
    marked = [bool(row.marks) for row in rows if row.kind == "add"]
    assert marked[0]
    assert not marked[-1]
