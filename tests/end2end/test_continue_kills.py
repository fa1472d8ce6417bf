"""A chat's run that was cut off with kill -9 goes on, with the agents, skills and code that work for it: each write is
done exactly once, and asked about alone where nobody knows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def figures(*arguments: str) -> dict:
    """In a process without threads, for it forks."""
    command = [sys.executable, "-m", "tests.end2end.continue_kills", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert (found["lost"], found["doubled"], found["kills"]) == (0, 0, found["kill_points"])
    return found


@pytest.mark.spec("R-JRN-2", "R-JRN-5")
def test_killed_at_events_and_in_the_middle_of_writes_the_app_does_everything_once(tmp_path: Path) -> None:
    found = figures(str(tmp_path), "60", "6")
    assert found["kill_points"] >= 5
    assert found["asked"] >= 2, "a write was cut off between its beginning and its outcome"
    assert found["boxes"] == 0, "about calls of others as a whole nobody is asked"
    assert found["shown"] >= 2, "and the Run panel shows who was cut off"


@pytest.mark.soak
def test_killed_at_every_event_and_again_and_again(tmp_path: Path) -> None:
    assert figures(str(tmp_path), "1", "1")["kill_points"] > 150
    (tmp_path / "storm").mkdir()
    assert figures("storm", str(tmp_path / "storm"), "5", "60")["kills"] > 100
