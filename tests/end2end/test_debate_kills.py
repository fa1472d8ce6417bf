"""A debate's turn with writes that was cut off with kill -9 goes on: no write is lost, and none is done twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def figures(*arguments: str) -> dict:
    """In a process without threads, for it forks."""
    command = [sys.executable, "-m", "tests.end2end.debate_kills", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert (found["lost"], found["doubled"], found["kills"]) == (0, 0, found["kill_points"])
    return found


@pytest.mark.spec("R-JRN-2", "R-JRN-5", "R-SES-18")
def test_killed_in_turns_with_writes_a_debate_does_everything_once(tmp_path: Path) -> None:
    found = figures(str(tmp_path), "13", "4")
    assert found["kill_points"] >= 6
    assert found["asked"] >= 2, "a write was cut off between its beginning and its outcome"


@pytest.mark.soak
def test_killed_at_every_event_a_debate_does_everything_once(tmp_path: Path) -> None:
    assert figures(str(tmp_path), "1", "1")["kill_points"] > 60
