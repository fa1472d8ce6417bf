"""`--check`: each part of the machine in one line, and an exit code."""

import os
import shlex
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.app.commands.check import Health, Probe, activity_log, database_of, run_checks
from desktop.domain.errors import KnownError
from desktop.store import database
from tests.harness.help_pages import samples
from tests.harness.services import KeyringDaemon

PROGRAM, *TYPED = shlex.split(samples("installing", "sh")[0])
"""As the page for users says it."""

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["Qt", "Database", "Activity log", "Keyring", "Confinement", "Model host"]


def fails(error: Exception) -> Callable[[], Health]:
    def run() -> Health:
        raise error

    return run


def test_one_line_for_each_probe_in_order_and_zero_when_none_is_broken() -> None:
    lines: list[str] = []
    probes = [
        Probe("One", lambda: Health("ok", "It works.\nIn two lines.")),
        Probe("Two", lambda: Health("notice", "Only for this session.")),
    ]
    assert run_checks(probes, lines.append) == 0
    assert lines == ["One: ok: It works. In two lines.\n", "Two: notice: Only for this session.\n"]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda: Health("broken", "Gone."), "broken: Gone."),
        (fails(KnownError("It is locked.", next_step="Unlock it.")), "broken: It is locked. Unlock it."),
        (fails(OSError(5, "Input/output error")), "broken: OSError: [Errno 5] Input/output error"),
    ],
)
def test_a_broken_probe_is_told_the_others_still_run_and_the_code_is_one(run: Callable[[], Health], said: str) -> None:
    lines: list[str] = []
    assert run_checks([Probe("Bad", run), Probe("Good", lambda: Health("ok", "Fine."))], lines.append) == 1
    assert lines == [f"Bad: {said}\n", "Good: ok: Fine.\n"]


def test_a_probe_that_hangs_is_broken_after_its_patience() -> None:
    lines: list[str] = []
    release = threading.Event()
    probe = Probe("Slow", lambda: Health("ok", str(release.wait(30))))
    assert run_checks([probe], lines.append, timeout=0.05) == 1
    assert lines == ["Slow: broken: It did not answer within 0.05 seconds.\n"]
    release.set()


def check(home: Path, **environment: str) -> tuple[int, dict[str, str], str]:
    """Exit code, what was said for each name, stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "desktop", "--home", str(home), *TYPED],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )
    pairs = [line.split(": ", 1) for line in done.stdout.splitlines()]
    assert PROGRAM == "assent"
    assert [name for name, _ in pairs] == NAMES, done.stdout + done.stderr
    return done.returncode, dict(pairs), done.stderr


@pytest.mark.spec("R-SEC-2")
def test_a_sound_machine_is_all_well_and_the_home_is_not_touched(tmp_path: Path, keyring_daemon: KeyringDaemon) -> None:
    home = tmp_path / "home"
    code, said, err = check(home, **keyring_daemon.environment)
    assert (code, err) == (0, "")
    assert said["Qt"].startswith("ok: Qt 6.")
    assert "offscreen" in said["Qt"]
    assert said["Database"].startswith("ok: SQLite 3.")
    assert said["Activity log"] == "ok: Nothing is in it yet."
    assert said["Keyring"].startswith("ok: ")
    assert said["Confinement"].split(":")[0] in {"ok", "notice"}
    assert said["Model host"].startswith("ok: ")
    assert not home.exists()


@pytest.mark.spec("R-SEC-2")
def test_what_is_broken_is_named_and_a_missing_keyring_is_only_a_notice(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "assent.db"
    file.write_bytes(b"no database at all, " * 100)
    before = file.read_bytes()
    code, said, err = check(tmp_path, QT_QPA_PLATFORM="xcb", DISPLAY=":4711")
    assert (code, err) == (1, "")
    assert said["Qt"].startswith("broken: The screen cannot be used")
    assert said["Database"].startswith("broken: ")
    assert str(file) in said["Database"]
    assert said["Activity log"].startswith("broken: It cannot be read")
    assert said["Keyring"].startswith("notice: ")
    assert "session only" in said["Keyring"]
    assert said["Model host"].startswith("ok: ")
    assert file.read_bytes() == before


def test_a_database_in_use_is_sound_a_newer_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "assent.db"
    connection = database.open_database(file)
    try:
        assert database_of(tmp_path).state == "ok"
        assert "is sound" in database_of(tmp_path).sentence
    finally:
        connection.close()
    other = sqlite3.connect(file)
    other.execute("PRAGMA user_version = 9999")
    other.close()
    assert database_of(tmp_path).state == "broken"
    assert "newer Assent (format 9999" in database_of(tmp_path).sentence


@pytest.mark.spec("R-PRM-13")
def test_a_log_that_was_changed_is_a_notice_and_one_of_an_older_format_is_not(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "assent.db"
    connection = database.open_database(file)
    assert activity_log(tmp_path).sentence.startswith("Lines: 1, each vouching for all before it, up to ")
    connection.execute("DROP TRIGGER audit_is_never_cut")
    connection.execute("DELETE FROM audit")
    assert activity_log(tmp_path).state == "notice"
    connection.execute("PRAGMA user_version = 2")
    assert activity_log(tmp_path) == ("ok", "It becomes a chain at the next start.")
    connection.close()
