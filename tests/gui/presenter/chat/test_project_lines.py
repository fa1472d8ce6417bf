"""The list of chats by the folder that they work in."""

from dataclasses import replace

import pytest

from desktop.presenter.chat.thread_lines import NEWEST, OLDER, PROJECT, arrange
from tests.gui.presenter.chat.test_lists import NOW, thread

TIDES, REPORT = "/w/tides", "/w/report"


@pytest.mark.spec("R-PRJ-1")
def test_chats_stand_below_their_folder_the_last_used_first_and_those_without_one_at_the_end():
    records = [
        thread("r", 1, project=REPORT),
        thread("t-old", 30, project=TIDES),
        thread("t", 0, project=TIDES),
        thread("none", 0.5),
        thread("pinned", 50, pinned=True, project=REPORT),
    ]
    rows = arrange(records, NOW, closed={REPORT: "is gone"})
    assert [(row.title, row.thread_id) for row in rows] == [
        ("tides", ""),
        ("t", "t"),
        ("t-old", "t-old"),
        ("report", ""),
        ("pinned", "pinned"),
        ("r", "r"),
        ("No folder", ""),
        ("none", "none"),
    ]
    assert [row.note for row in rows if row.job_id] == ["", "is gone", ""]
    assert rows[3].spoken == "Folder report, 2 chats, is gone, unfolded"
    folded = arrange(records, NOW, unfolded={PROJECT + TIDES, PROJECT})
    assert [row.title for row in folded] == ["tides", "report", "pinned", "r", "No folder"]
    assert folded[0].runs == ("t", "t-old"), "what is folded keeps its mark"


def test_where_no_chat_has_a_folder_the_list_is_by_day_as_ever():
    records = [thread("a", 1), thread("b", 30)]
    assert [row.title for row in arrange(records, NOW)] == ["Today", "a", "Yesterday", "b"]


def test_older_chats_of_a_folder_are_folded_into_one_line():
    records = [thread(str(n), n, project=TIDES) for n in range(NEWEST + 3)]
    rows = arrange(records, NOW)
    assert [row.title for row in rows] == ["tides", *map(str, range(NEWEST)), "3 older"]
    opened = arrange(records, NOW, unfolded={OLDER + TIDES})
    assert [row.title for row in opened[-4:]] == ["3 older", "5", "6", "7"]
    one_more = arrange(records[: NEWEST + 1], NOW)
    assert [row.title for row in one_more] == ["tides", *map(str, range(NEWEST + 1))], "a line saves nothing for one"


def test_archived_chats_of_a_folder_are_with_the_archived_ones():
    records = [thread("a", 1, project=TIDES), replace(thread("b", 2, project=TIDES), archived=True)]
    assert [row.title for row in arrange(records, NOW)] == ["tides", "a", "Archived"]
