"""Grouping of threads and finding by a few letters."""

import datetime
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from desktop.domain.threads import ThreadJob, ThreadRecord
from desktop.presenter.chat.thread_lines import arrange, job_key
from desktop.presenter.chat.threads import ThreadListModel
from desktop.presenter.common.fuzzy import match
from desktop.presenter.schedules.words import chip_words, thread_words
from desktop.presenter.transcript.live_threads import LiveThreads

NOW = datetime.datetime(2026, 11, 21, 15, 0)


def thread(name, hours, **more):
    at = (NOW - datetime.timedelta(hours=hours)).timestamp()
    return ThreadRecord(name, name, at, at, **more)


def test_threads_are_grouped_by_day_with_the_pinned_ones_on_top():
    rows = arrange(
        [
            thread("old", 24 * 400),
            thread("month", 24 * 30),
            thread("week", 24 * 3),
            thread("yesterday", 20),
            thread("today", 1),
            thread("pinned", 24 * 90, pinned=True),
            thread("newest", 0),
        ],
        NOW,
    )
    assert [r.title for r in rows if not r.thread_id] == [
        "Pinned",
        "Today",
        "Yesterday",
        "Last 7 days",
        "October",
        "October 2025",
    ]
    assert [r.thread_id for r in rows if r.thread_id][:3] == ["pinned", "newest", "today"]


def test_an_interrupted_thread_carries_a_mark_that_is_read_aloud_too():
    rows = [row for row in arrange([thread("cut", 1, state="interrupted"), thread("whole", 2)], NOW) if row.thread_id]
    assert [(row.state, row.spoken) for row in rows] == [("interrupted", "cut, interrupted"), ("", "whole")]


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
    assert second is not None
    assert first.score > second.score


def test_letters_out_of_order_do_not_fit():
    assert match("tac", "cat") is None
    assert match("", "anything") is not None


@given(st.text(max_size=30), st.text(max_size=60))
def test_the_ranges_always_lie_in_the_text(query, text):
    fit = match(query, text)
    if fit:
        assert all(start >= 0 and start + length <= len(text) + len(query) for start, length in fit.ranges)


def run_of(name, job_id, hours, status="done", **more):
    job = ThreadJob(job_id, f"Job {job_id}", status)
    return replace(thread(name, hours, label="job", **more), title=f"Job {job_id}, {name}", job=job)


@pytest.mark.spec("R-CRON-6")
def test_the_runs_of_a_job_are_one_row_at_the_newest_that_unfolds_and_says_how_each_ended():
    runs = [run_of(f"r{at}", "1", at * 30, "failed" if at == 0 else "done") for at in range(50)]
    threads = [*runs, thread("mine", 1), run_of("kept", "1", 2, pinned=True), run_of("other", "2", 20, "running")]
    rows = arrange(threads, NOW)
    assert [(row.title, len(row.runs), row.state) for row in rows] == [
        ("Pinned", 0, ""),
        ("Job 1, kept", 0, ""),
        ("Today", 0, ""),
        ("Job 1", 50, "failed"),
        ("mine", 0, ""),
        ("Yesterday", 0, ""),
        ("Job 2", 1, ""),
    ]
    opened = arrange(threads, NOW, {"1"})
    assert [row.title for row in opened[4:54]] == [f"r{at}" for at in range(50)]
    assert {(row.inside, row.icon, row.time_text) for row in opened[4:54]} == {
        (True, "failed", "Failed"),
        (True, "allow", "Done"),
    }
    assert opened[3].spoken == "Job Job 1, 50 runs, unfolded"


@pytest.mark.spec("R-CRON-6")
def test_a_run_of_a_job_that_is_gone_for_good_is_a_row_of_its_own_with_the_icon():
    rows = arrange([replace(thread("left", 1, label="job"), job=ThreadJob("", "", "", deleted=True))], NOW)
    assert [(row.title, row.icon) for row in rows[1:]] == [("left", "schedules")]


@pytest.mark.spec("R-CRON-6", "R-CRON-1")
@pytest.mark.parametrize(
    ("job", "chip", "words"),
    [
        (ThreadJob("1", "Report", "running"), "Job: running", "under the job's rules: nobody is asked"),
        (ThreadJob("1", "Report", "limit"), "Job: limit", "at its answer stay under the job's"),
        (ThreadJob("1", "Report", "done", deleted=True), "Job: done", "A run of Report, which was deleted."),
        (ThreadJob("", "", "", deleted=True), "Job", "at its answer only read"),
    ],
)
def test_a_job_s_thread_says_how_it_ended_and_under_whose_rules_a_person_writes_there(job, chip, words):
    assert chip_words(job) == chip
    assert words in thread_words(job)


def test_the_row_of_a_folded_run_is_its_job_s(qapp):
    model = ThreadListModel(LiveThreads())
    threads = [run_of("r0", "1", 0), run_of("r1", "1", 3), thread("mine", 1)]
    model.show(arrange(threads, NOW))
    assert [model.place(name) for name in ("r0", "r1", job_key("1"), "mine")] == [1, 1, 1, 2]
    model.show(arrange(threads, NOW, {"1"}))
    assert [model.place(name) for name in ("r0", "r1", job_key("1"), "mine")] == [2, 3, 1, 4]
    assert model.flags(model.index(1)) != Qt.ItemFlag.NoItemFlags
    assert model.flags(model.index(0)) == Qt.ItemFlag.NoItemFlags
