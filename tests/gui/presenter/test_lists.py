"""Grouping of threads and finding by a few letters."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.threads import ThreadRecord
from desktop.presenter.fuzzy import match
from desktop.presenter.threads import arrange

NOW = datetime.datetime(2026, 11, 21, 15, 0)


def thread(name, hours, **more):
    at = (NOW - datetime.timedelta(hours=hours)).timestamp()
    return ThreadRecord(name, name, at, at, **more)


def test_threads_are_grouped_by_day_with_the_pinned_ones_on_top():
    rows = arrange(
        [
            thread("old", 24 * 400), thread("month", 24 * 30), thread("week", 24 * 3), thread("yesterday", 20),
            thread("today", 1), thread("pinned", 24 * 90, pinned=True), thread("newest", 0),
        ],
        NOW,
    )  # fmt: skip
    assert [r.title for r in rows if not r.thread_id] == [
        "Pinned", "Today", "Yesterday", "Last 7 days", "October", "October 2025",
    ]  # fmt: skip
    assert [r.thread_id for r in rows if r.thread_id][:3] == ["pinned", "newest", "today"]


def test_ten_thousand_threads_are_arranged_without_trouble():
    rows = arrange([thread(str(n), n) for n in range(10_000)], NOW)
    assert sum(1 for r in rows if r.thread_id) == 10_000


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [("new", "New chat", "Renew the lease"), ("gm", "Gaps in March", "Programme"), ("set", "Settings", "Reset")],
)
def test_the_more_fitting_line_wins(query, better, worse):
    first, second = match(query, better), match(query, worse)
    assert first is not None
    assert second is None or first.score > second.score


def test_letters_out_of_order_do_not_fit():
    assert match("tac", "cat") is None
    assert match("", "anything") is not None


@given(st.text(max_size=30), st.text(max_size=60))
def test_the_ranges_always_lie_in_the_text(query, text):
    fit = match(query, text)
    if fit:
        assert all(start >= 0 and start + length <= len(text) + len(query) for start, length in fit.ranges)
