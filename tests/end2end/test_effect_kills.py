"""A run that is killed at any line of its journal goes on, and does to the world what it would have done, once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def figures(folder: Path, *arguments: str) -> dict:
    """In a process without threads, for it forks."""
    command = [sys.executable, "-m", "tests.end2end.effect_kills", arguments[0], str(folder), *arguments[1:]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert {name: found[name] for name in ("lost", "doubled", "unasked", "repeated")} == {
        "lost": 0,
        "doubled": 0,
        "unasked": 0,
        "repeated": 0,
    }
    return found


@pytest.mark.spec("R-JRN-2", "R-JRN-5")
@pytest.mark.parametrize(
    ("step", "points", "asked"), [(4, 25, 8), pytest.param(1, 90, 8, marks=pytest.mark.soak)], ids=["some", "all"]
)
def test_killed_at_every_line_of_its_journal_a_run_does_everything_once(tmp_path, step, points, asked):
    found = figures(tmp_path, "every", str(step))
    assert found["kill_points"] >= points
    assert found["kills"] == found["kill_points"]
    assert found["asked"] >= asked, "each write was cut off once between its beginning and its outcome"


@pytest.mark.spec("R-JRN-2")
def test_killed_again_and_again_it_still_does_everything_once(tmp_path):
    assert figures(tmp_path, "storm", "7", "6")["kills"] > 20


@pytest.mark.soak
def test_killed_thousands_of_times_it_still_does_everything_once(tmp_path):
    assert figures(tmp_path, "storm", "1", "600")["kills"] > 2000
