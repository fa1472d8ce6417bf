"""The orderly end, and what happens to errors that nobody caught."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.end2end import tiny
from tests.end2end.tiny_app import SECRET
from tests.harness.timeouts import WAIT_S

END = ["quitting", "runs cancelled", "children ended", "flushed"]


@pytest.mark.spec("R-UI-8")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_app_in_order(tmp_path: Path, number: signal.Signals) -> None:
    home = tmp_path / "home"
    with tiny.running(home) as process:
        process.send_signal(number)
        assert tiny.ended(process) == (0, "", "")
    assert tiny.trace(home) == ["started", *END]


@pytest.mark.spec("R-UI-8")
@pytest.mark.parametrize("scenario", ["closes", "quits-from-qt"])
def test_closing_the_window_or_quitting_qt_ends_the_app_in_order(tmp_path: Path, scenario: str) -> None:
    home = tmp_path / "home"
    with tiny.running(home, scenario) as process:
        assert tiny.ended(process) == (0, "", "")
    assert tiny.trace(home) == ["started", *END]


@pytest.mark.spec("R-UI-8")
def test_a_window_that_is_closed_before_anything_is_behind_it_ends_the_app_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "closes-early") as process:
        assert tiny.ended(process) == (0, "", "")
    assert tiny.trace(home) == []


def test_what_the_pages_stand_without_begins_after_the_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "joins-world", until="joined") as process:
        process.terminate()
        assert tiny.ended(process) == (0, "", "")
    assert tiny.trace(home) == ["started", "joined", *END]


@pytest.mark.spec("R-UI-8")
def test_quitting_while_it_still_starts_ends_the_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "slow-start", until="starting") as process:
        process.terminate()
        assert tiny.ended(process) == (0, "", "")
    assert tiny.trace(home) == ["starting", *END]


@pytest.mark.spec("R-UI-8")
def test_quitting_just_after_the_pages_stand_ends_what_the_start_still_does(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "joins-at-the-end", until="joining") as process:
        process.terminate()
        assert tiny.ended(process) == (0, "", "")
    assert tiny.trace(home) == ["started", "joining", *END]
    assert tiny.reports(home) == []


def test_a_start_whose_files_are_taken_away_meanwhile_ends_in_a_sentence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "loses-its-files") as process:
        code, out, err = tiny.ended(process)
    assert (code, out) == (2, "")
    assert err.splitlines()[0].startswith("assent: Assent's own files were exchanged or removed")
    assert err.splitlines()[1:] == ["  Restart Assent. Chats and drafts are kept."]
    assert tiny.trace(home)[-4:] == END
    assert tiny.reports(home) == []


@pytest.mark.spec("R-UI-8", "R-PRM-9")
def test_the_end_denies_questions_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "asking") as process:
        process.terminate()
        assert tiny.ended(process)[0] == 0
    assert sorted(tiny.trace(home)) == sorted(["started", "decided deny closed", *END])


@pytest.mark.spec("R-UI-8")
def test_the_end_cancels_tasks_before_the_store_is_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "slow-task") as process:
        process.terminate()
        assert tiny.ended(process)[0] == 0
    assert tiny.trace(home) == ["started", "quitting", "runs cancelled", "task cancelled", "children ended", "flushed"]


@pytest.mark.spec("R-UI-8")
def test_runs_that_do_not_end_are_waited_for_three_seconds_and_the_store_is_still_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "stubborn-runs") as process:
        started = time.monotonic()
        process.terminate()
        assert tiny.ended(process)[0] == 0
        assert 2.9 < time.monotonic() - started < WAIT_S
    assert tiny.trace(home) == ["started", *END]
    assert "did not end in time: runs" in tiny.log(home)


@pytest.mark.spec("R-UI-8")
def test_a_part_of_the_end_that_fails_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "failing-end") as process:
        process.terminate()
        assert tiny.ended(process)[0] == 0
    assert [line for line in tiny.trace(home) if not line.startswith("reported")] == ["started", *END]
    assert "the end fails" in tiny.reports(home)[0]


@pytest.mark.spec("R-UI-8")
def test_a_thread_that_hangs_does_not_keep_the_app(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "hanging-thread") as process:
        started = time.monotonic()
        process.terminate()
        assert tiny.ended(process)[0] == 0
        assert time.monotonic() - started < WAIT_S
    assert tiny.trace(home) == ["started", *END]


@pytest.mark.spec("R-UI-8", "R-CAN-10")
def test_children_are_gone_when_the_app_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "children") as process:
        child = int(tiny.trace(home)[0].split()[1])
        os.kill(child, 0)
        process.terminate()
        assert tiny.ended(process)[0] == 0
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_asking_twice_to_quit_is_asking_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home) as process:
        for _ in range(3):
            process.terminate()
        assert tiny.ended(process)[0] == 0
    assert tiny.trace(home) == ["started", *END]


def test_asking_to_quit_until_it_is_gone_does_not_cut_the_end_short(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home) as process:
        while process.poll() is None:
            process.terminate()
            time.sleep(0.0005)
        assert tiny.ended(process)[0] == 0
    assert tiny.trace(home) == ["started", *END]


# -- errors that nobody caught ------------------------------------------------------------------------------------


def quit_after(home: Path, scenario: str, line: str) -> None:
    """Run a scenario until its trace has a line that begins so, then end the app."""
    with tiny.running(home, scenario) as process:
        tiny.wait_for(lambda: any(found.startswith(line) for found in tiny.trace(home)))
        process.terminate()
        assert tiny.ended(process)[0] == 0


@pytest.mark.spec("R-SEC-4", "R-SEC-6")
@pytest.mark.parametrize(
    ("scenario", "kind", "where"),
    [
        ("slot-bug", "ValueError", "main thread"),
        ("task-bug", "KeyError", "a task"),
        ("thread-bug", "ZeroDivisionError", "thread adder"),
        ("callback-bug", "ValueError", "Exception in callback"),
    ],
)
def test_a_bug_anywhere_leaves_a_report_without_secrets_and_tells_the_window(
    tmp_path: Path, scenario: str, kind: str, where: str
) -> None:
    home = tmp_path / "home"
    quit_after(home, scenario, f"reported {kind}")
    (report,) = tiny.reports(home)
    assert report.startswith("Assent ")
    assert where in report
    assert kind in report
    assert ("tiny_app.py" in report) == (scenario != "callback-bug")
    for text in (report, tiny.log(home), "\n".join(tiny.trace(home))):
        assert SECRET not in text
        assert "hunter2" not in text.replace('password = "hunter2', "")
        assert "sk-from-the-environment" not in text


def test_the_same_bug_over_and_over_is_reported_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "many-bugs") as process:
        time.sleep(0.3)
        process.terminate()
        assert tiny.ended(process)[0] == 0
    assert len(tiny.reports(home)) == 1
    assert tiny.trace(home).count("reported ValueError: again and again") == 1


def test_an_error_of_the_world_that_nobody_caught_is_told_and_is_no_crash(tmp_path: Path) -> None:
    home = tmp_path / "home"
    quit_after(home, "known-in-slot", "known The database is damaged.")
    assert tiny.reports(home) == []
    assert "store.corrupt" in tiny.log(home)


def test_a_crash_of_the_interpreter_leaves_where_it_was(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tiny.running(home, "segfault") as process:
        assert tiny.ended(process)[0] == -signal.SIGSEGV
    assert "in segfault" in (home / "logs" / "fault.log").read_text()


@pytest.mark.spec("R-SEC-4")
def test_the_log_is_redacted_private_bounded_and_cannot_be_forged(tmp_path: Path) -> None:
    home = tmp_path / "home"
    quit_after(home, "logs", "started")
    text = tiny.log(home)
    assert "a warning of Qt" in text
    assert SECRET not in text
    assert "[REDACTED]" in text
    assert "\n    2026-01-01 ERROR faked" in text
    assert len(text) < 30_000
    assert "x … cut" in text
    assert "surrogate" in text
    assert (home / "logs" / "assent.log").stat().st_mode & 0o077 == 0
